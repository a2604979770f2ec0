#include "passes/codegen/RowFamilies.h"

namespace recipe::codegen {

llvm::ArrayRef<NamedEmitRule> rowFamilies() {
  static constexpr NamedEmitRule families[] = {
      {"norm", emitNorm},
      {"norm_grad", emitNormGrad},
      {"column_sum", emitColumnSum},
      {"position_sum", emitPositionSum},
      {"rope", emitRope},
      {"embedding", emitEmbedding},
      {"token_index", emitTokenIndex},
      {"embedding_grad", emitEmbeddingGrad},
  };
  return families;
}

} // namespace recipe::codegen
