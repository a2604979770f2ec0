// Macros that pass an absl::Status on to the caller.
#ifndef RUNTIME_BASE_STATUS_H
#define RUNTIME_BASE_STATUS_H
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RCP_RETURN_IF_ERROR(expr)                                                                                      \
  do {                                                                                                                 \
    if (absl::Status rcpStatus = (expr); !rcpStatus.ok())                                                              \
      return rcpStatus;                                                                                                \
  } while (false)

#define RCP_CONCAT_INNER(a, b) a##b
#define RCP_CONCAT(a, b) RCP_CONCAT_INNER(a, b)
#define RCP_ASSIGN_OR_RETURN(lhs, expr) RCP_ASSIGN_OR_RETURN_INNER(RCP_CONCAT(rcpResult, __LINE__), lhs, expr)
// `lhs` may be a declaration, so it cannot stand in parentheses.
#define RCP_ASSIGN_OR_RETURN_INNER(result, lhs, expr)                                                                  \
  auto result = (expr); /* NOLINT(bugprone-macro-parentheses) */                                                       \
  if (!(result).ok())                                                                                                  \
    return (result).status();                                                                                          \
  lhs = std::move(result).value() /* NOLINT(bugprone-macro-parentheses) */

#endif
