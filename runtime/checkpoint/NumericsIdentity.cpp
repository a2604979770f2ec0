#include "runtime/checkpoint/NumericsIdentity.h"
#include "absl/strings/str_cat.h"

using namespace recipe::rt;

NumericsIdentity recipe::rt::numericsOf(const abi::Manifest &step) {
  return {step.numerics_version(), step.bf16_order()};
}

std::string recipe::rt::describeNumerics(const NumericsIdentity &numerics) {
  if (numerics.version == 0)
    return "not recorded, before version 1";
  std::string text = absl::StrCat("version ", numerics.version);
  if (!numerics.bf16Order.empty())
    absl::StrAppend(&text, ", bf16 sums in ", numerics.bf16Order, numerics.bf16Order == "blocks" ? " (AMX)" : "");
  return text;
}

std::string recipe::rt::compareNumerics(const NumericsIdentity &checkpoint, const NumericsIdentity &step) {
  bool known = checkpoint.version != 0 && step.version != 0;
  bool otherOrder =
      known && !checkpoint.bf16Order.empty() && !step.bf16Order.empty() && checkpoint.bf16Order != step.bf16Order;
  if (!otherOrder && checkpoint.version == step.version)
    return "";
  return absl::StrCat("the run ", otherOrder ? "goes on" : "may go on",
                      " with other bits, numerics of the checkpoint: ", describeNumerics(checkpoint),
                      "; of this step: ", describeNumerics(step));
}
