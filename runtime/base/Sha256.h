// Incremental SHA-256. One thread at a time.
#ifndef RUNTIME_BASE_SHA256_H
#define RUNTIME_BASE_SHA256_H

#include "absl/types/span.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

struct evp_md_ctx_st;

namespace recipe::rt {

using Sha256Digest = std::array<uint8_t, 32>;

class Sha256 {
public:
  Sha256();
  void update(const void *data, size_t size);
  /// Ends the computation; call once.
  Sha256Digest finish();

  static Sha256Digest of(absl::Span<const uint8_t> bytes);

private:
  struct Free {
    void operator()(evp_md_ctx_st *context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context;
};

/// Lower-case hexadecimal.
std::string toHex(const Sha256Digest &digest);

} // namespace recipe::rt

#endif // RUNTIME_BASE_SHA256_H
