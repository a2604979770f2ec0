// JSON that others wrote, without what would overflow the stack of whoever walks it.
#ifndef RUNTIME_CHECKPOINT_BOUNDEDJSON_H
#define RUNTIME_CHECKPOINT_BOUNDEDJSON_H
#include <nlohmann/json.hpp>
#include <string>

namespace recipe::rt {

inline constexpr int MaxJsonDepth = 64;

/// Discarded (is_discarded()) if the text is not JSON or nests deeper than MaxJsonDepth. Keys keep their order.
inline nlohmann::ordered_json parseBoundedJson(const std::string &text) {
  bool tooDeep = false;
  auto watch = [&](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json &) {
    tooDeep |= depth > MaxJsonDepth;
    return depth <= MaxJsonDepth;
  };
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, watch, /*allow_exceptions=*/false);
  return tooDeep ? nlohmann::ordered_json(nlohmann::ordered_json::value_t::discarded) : json;
}

} // namespace recipe::rt
#endif
