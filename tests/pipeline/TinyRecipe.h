// Recipes that compile in a moment, and a compilation of one in this process.
#ifndef TESTS_PIPELINE_TINYRECIPE_H
#define TESTS_PIPELINE_TINYRECIPE_H

#include "compiler/Pipeline.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>

namespace recipe::test {

// Two layers, grouped queries, sizes that divide nothing; 16 samples an update in micro-batches of one: each of the 8
// batch segments chains two micro-batches.
inline const char *const kTinyLlama = R"(
model:
  type: llama
  config: {model_type: llama, vocab_size: 67, hidden_size: 24, intermediate_size: 44, num_hidden_layers: 2,
           num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 32, rms_norm_eps: 1e-5,
           tie_word_embeddings: false}
data: {path: none.tok, seq_length: 13, batch_size: 1}
optim: {lr: 1e-3, grad_accum_steps: 16, max_steps: 10}
)";

inline const char *const kTinyGpt2 = R"(
model:
  type: gpt2
  config: {model_type: gpt2, vocab_size: 67, n_embd: 24, n_layer: 2, n_head: 4, n_positions: 32, n_ctx: 32,
           activation_function: gelu_new, resid_pdrop: 0.1, embd_pdrop: 0.1, attn_pdrop: 0.1}
data: {path: none.tok, seq_length: 13, batch_size: 2}
optim: {lr: 1e-3, grad_accum_steps: 4, max_steps: 10}
)";

// Everything that a compilation refers to, in one place.
struct Compiled {
  frontend::ResolvedRecipe recipe;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<Compilation> compilation;
  Outcome outcome = Outcome::Bug;
  std::string messages; // joined
};

std::unique_ptr<Compiled> compileText(const std::string &text, const std::string &stopAfter = "",
                                      const std::vector<std::string> &sets = {}, unsigned threads = 1);

} // namespace recipe::test
#endif
