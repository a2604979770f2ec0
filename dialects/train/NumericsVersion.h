// Which rules of docs/numerics.md this compiler follows. A step carries the version, its checkpoints record it, and a
// run that goes on from a checkpoint of other rules says so.
#ifndef DIALECTS_TRAIN_NUMERICSVERSION_H
#define DIALECTS_TRAIN_NUMERICSVERSION_H
#include <cstdint>

namespace recipe::train {

/// One more whenever a recipe may train with other bits than before on the same instruction set; the table of versions
/// in docs/numerics.md then has a line more. NumericsVersionTest fails where that is due.
inline constexpr uint32_t NumericsVersion = 1;

} // namespace recipe::train
#endif
