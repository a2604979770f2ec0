#include "runtime/monitor/MetricsFile.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/File.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace recipe::rt;

absl::StatusOr<int64_t> recipe::rt::keepMetricsUntil(const std::string &path, int64_t step) {
  absl::StatusOr<std::string> text = readFile(path);
  if (absl::IsNotFound(text.status()))
    return 0;
  RCP_RETURN_IF_ERROR(text.status());
  std::string kept;
  size_t number = 0;
  int64_t last = 0;
  for (size_t begin = 0, end; (end = text->find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++number;
    nlohmann::json line = nlohmann::json::parse(text->begin() + std::ptrdiff_t(begin),
                                                text->begin() + std::ptrdiff_t(end), nullptr, false);
    auto found = line.is_object() ? line.find("step") : line.end();
    if (found == line.end() || !found->is_number_integer())
      return absl::DataLossError(
          absl::StrCat(path, ":", number, ": must be an object with a whole number 'step'; mend or remove the file"));
    int64_t updates = found->get<int64_t>();
    if (updates > step)
      continue;
    kept.append(*text, begin, end - begin + 1);
    last = std::max(last, updates);
  }
  if (kept != *text)
    RCP_RETURN_IF_ERROR(writeFileAtomically(path, kept.data(), kept.size()));
  return last;
}
