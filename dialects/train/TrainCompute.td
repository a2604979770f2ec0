//===- TrainCompute.td - forward and backward ops ----------------*- tablegen -*-===//
//
// Shapes: B samples, T positions, C channels, H query heads, K kv heads, E head size, V vocabulary.
// Attributes shared by ops that reduce over tokens: `batch_nodes` = p, the number of equal batch segments in this
// micro-batch, each chained by itself and combined by the tree; an accumulator operand (chain continues from it) is legal only for
// p = 1.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECTS_TRAIN_TRAINCOMPUTE_TD
#define DIALECTS_TRAIN_TRAINCOMPUTE_TD
include "dialects/train/TrainBase.td"

def Train_EmbeddingOp : Train_Op<"embedding", [Pure]> {
  let summary = "ids [B,T] x table [V,C] -> [B,T,C]: row look-up";
  let arguments = (ins Train_I32:$ids, Train_F32:$table);
  let results = (outs Train_F32:$result);
}
def Train_EmbeddingGradOp : Train_Op<"embedding_grad", [Pure]> {
  let summary = "dy [B,T,C], ids [B,T] (, accumulator [V,C]) -> [V,C]: rows of dy summed by id in token order";
  let arguments = (ins Train_F32:$dy, Train_I32:$ids, Optional<Train_F32>:$accumulator, I64Attr:$batch_nodes);
  let results = (outs Train_F32:$result);
}

def Train_AddOp : Train_Op<"add", [Pure, Commutative]> {
  let summary = "lhs + rhs, same shapes";
  let arguments = (ins Train_F32:$lhs, Train_F32:$rhs);
  let results = (outs Train_F32:$result);
}
def Train_BiasAddOp : Train_Op<"bias_add", [Pure]> {
  let summary = "x [B,T,C] + bias [C]";
  let arguments = (ins Train_F32:$x, Train_F32:$bias);
  let results = (outs Train_F32:$result);
}
def Train_BiasGradOp : Train_Op<"bias_grad", [Pure]> {
  let summary = "dy [B,T,C] (, accumulator [8,C]) -> [8,C]: sums over tokens by position segment";
  let arguments = (ins Train_F32:$dy, Optional<Train_F32>:$accumulator, I64Attr:$batch_nodes);
  let results = (outs Train_F32:$result);
}

def Train_CastOp : Train_Op<"cast", [Pure]> {
  let summary = "f32 to bf16, rounded to nearest even, denormals to zero; or bf16 to f32, exact";
  let arguments = (ins Train_Float:$x);
  let results = (outs Train_Float:$result);
}

def Train_ContractOp : Train_Op<"contract", [Pure, AttrSizedOperandSegments]> {
  let summary = "Sum of matrix products with a canonical reduction order";
  let description = [{
    For pairs (lhs_i, rhs_i), all of one form: nn: lhs [.., M, K_i] x rhs [K_i, N]; nt: lhs [.., M, K_i] x rhs [N, K_i];
    tn: lhs [tokens.., M] x rhs [tokens.., N] contracting all leading dimensions. Leading dimensions are flattened, row-major.
    `segments` lists for each segment and each pair the half-open range [begin, end) of K, flattened
    [segment][pair][2]; ranges of a pair are ascending, disjoint and cover 0..K_i (where tokens are split over ranks: a rank's part, the
    same on each). Each segment is one fma chain that starts at +0.0 and runs through its pairs in order, k ascending; the segments are
    combined by the balanced tree of adjacent pairs. With an accumulator (form tn, one segment) the chain starts there. One segment = one chain over all of K.
    `out_segments` ([segment][2], a partition of N) states the segments of the result's last dimension for the contraction that
    the gradient of lhs runs over it; absent: one segment.
    Operands are all f32 or all bf16; accumulator and result are f32. bf16 ranges begin at even numbers (form tn: so does each sample, that is, positions
    are even). `bf16_order`, which follows from the target, says how a chain takes their terms. pairs (also when absent): (k, k + 1), the odd term
    first, as the instruction vdpbf16ps does; a range of odd length ends with a pair whose second term is +0.0 x +0.0. blocks: of 32 terms from the
    start of the range (form tn: of each sample), as tdpbf16ps does; a short one is filled up with +0.0 x +0.0.
    `f32_products` says how products of f32 operands are computed: fma (also when absent), or bf16x6: each operand is three bf16 parts, and blocks of
    32 terms, cut as above, are six blocks of products of parts, each of two chains of 16 terms next to each other. Ranges may begin anywhere.
  }];
  let arguments = (ins Variadic<Train_Float>:$lhs, Variadic<Train_Float>:$rhs, Optional<Train_F32>:$accumulator,
    Train_ContractFormAttr:$form, DenseI64ArrayAttr:$segments, OptionalAttr<DenseI64ArrayAttr>:$out_segments,
    OptionalAttr<Train_BF16OrderAttr>:$bf16_order, OptionalAttr<Train_F32ProductsAttr>:$f32_products);
  let results = (outs Train_F32:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::ValueRange":$lhs, "::mlir::ValueRange":$rhs,
      "::mlir::Value":$accumulator, "::recipe::train::ContractForm":$form, "::mlir::DenseI64ArrayAttr":$segments,
      "::mlir::DenseI64ArrayAttr":$out_segments), [{
    build($_builder, $_state, result, lhs, rhs, accumulator, form, segments, out_segments, BF16OrderAttr(), F32ProductsAttr());
  }]>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();
    // Terms after which a block of terms ends early: those of a sample in form tn, else none.
    ::std::optional<int64_t> getTermsPerSample();
  }];
}

def Train_LayerNormOp : Train_Op<"layer_norm", [Pure]> {
  let summary = "x [B,T,C], gain [C], bias [C] -> y, mean [B,T], rstd [B,T]";
  let arguments = (ins Train_F32:$x, Train_F32:$gain, Train_F32:$bias, F64Attr:$eps);
  let results = (outs Train_F32:$result, Train_F32:$mean, Train_F32:$rstd);
}
def Train_LayerNormGradOp : Train_Op<"layer_norm_grad", [Pure, AttrSizedOperandSegments]> {
  let summary = "-> dx [B,T,C], dgain [8,C], dbias [8,C] by position segment";
  let arguments = (ins Train_F32:$dy, Train_F32:$x, Train_F32:$gain, Train_F32:$mean, Train_F32:$rstd,
    Optional<Train_F32>:$gain_accumulator, Optional<Train_F32>:$bias_accumulator, I64Attr:$batch_nodes);
  let results = (outs Train_F32:$dx, Train_F32:$dgain, Train_F32:$dbias);
}
def Train_RmsNormOp : Train_Op<"rms_norm", [Pure]> {
  let summary = "x [B,T,C], gain [C] -> y, rstd [B,T]";
  let arguments = (ins Train_F32:$x, Train_F32:$gain, F64Attr:$eps);
  let results = (outs Train_F32:$result, Train_F32:$rstd);
}
def Train_RmsNormGradOp : Train_Op<"rms_norm_grad", [Pure]> {
  let summary = "-> dx [B,T,C], dgain [8,C] by position segment";
  let arguments = (ins Train_F32:$dy, Train_F32:$x, Train_F32:$gain, Train_F32:$rstd,
    Optional<Train_F32>:$gain_accumulator, I64Attr:$batch_nodes);
  let results = (outs Train_F32:$dx, Train_F32:$dgain);
}

def Train_RopeTableOp : Train_Op<"rope_table", [Pure]> {
  let summary = "-> cos [P, E/2], sin [P, E/2] for positions 0..P-1; a compile-time constant computed in fp64";
  let description = "Angle of position p and pair i is p * inv_freq[i]; both tables are multiplied by `attention_factor`.";
  let arguments = (ins DenseF64ArrayAttr:$inv_freq, F64Attr:$attention_factor);
  let results = (outs Train_F32:$cosine, Train_F32:$sine);
}
def Train_RopeOp : Train_Op<"rope", [Pure]> {
  let summary = "x [B,T,heads*E], cos, sin [P,E/2], positions [B,T] -> rotated x; pairs are (i, i + E/2)";
  let arguments = (ins Train_F32:$x, Train_F32:$cosine, Train_F32:$sine, Train_I32:$positions,
    I64Attr:$heads, BoolAttr:$inverse);
  let results = (outs Train_F32:$result);
}

def Train_AttentionOp : Train_Op<"attention", [Pure]> {
  let summary = "Causal grouped-query attention: q [B,T,H*E], k, v [B,T,K*E] -> o [B,T,H*E], row max [B,H,T], row sum [B,H,T]";
  let description = [{
    Query head h uses kv head h / (H/K). `dropout` is the probability on attention weights, drawn with `dropout_id`
    (0 when dropout is 0).
    q, k and v are all f32 or all bf16; then T and E are even, scores and softmax stay f32, weights are rounded to bf16, and products take their
    terms as `bf16_order` says (of a contraction: there).
  }];
  let arguments = (ins Train_Float:$q, Train_Float:$k, Train_Float:$v, I64Attr:$heads, I64Attr:$kv_heads, F64Attr:$scale,
    F64Attr:$dropout, I64Attr:$dropout_id, OptionalAttr<Train_BF16OrderAttr>:$bf16_order);
  let results = (outs Train_F32:$result, Train_F32:$row_max, Train_F32:$row_sum);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Type":$row_max, "::mlir::Type":$row_sum, "::mlir::Value":$q,
      "::mlir::Value":$k, "::mlir::Value":$v, "::mlir::IntegerAttr":$heads, "::mlir::IntegerAttr":$kv_heads, "::mlir::FloatAttr":$scale,
      "::mlir::FloatAttr":$dropout, "::mlir::IntegerAttr":$dropout_id), [{
    build($_builder, $_state, result, row_max, row_sum, q, k, v, heads, kv_heads, scale, dropout, dropout_id, BF16OrderAttr());
  }]>];
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();";
}
def Train_AttentionGradOp : Train_Op<"attention_grad", [Pure]> {
  let summary = "-> dq [B,T,H*E], dk, dv [B,T,K*E]";
  let description = "dy, q, k, v and the result are all f32 or all bf16, as in `train.attention`; ds, too, is rounded to bf16 then.";
  let arguments = (ins Train_Float:$dy, Train_Float:$q, Train_Float:$k, Train_Float:$v, Train_Float:$result, Train_F32:$row_max,
    Train_F32:$row_sum, I64Attr:$heads, I64Attr:$kv_heads, F64Attr:$scale, F64Attr:$dropout, I64Attr:$dropout_id,
    OptionalAttr<Train_BF16OrderAttr>:$bf16_order);
  let results = (outs Train_F32:$dq, Train_F32:$dk, Train_F32:$dv);
  let builders = [OpBuilder<(ins "::mlir::Type":$dq, "::mlir::Type":$dk, "::mlir::Type":$dv, "::mlir::Value":$dy, "::mlir::Value":$q,
      "::mlir::Value":$k, "::mlir::Value":$v, "::mlir::Value":$result, "::mlir::Value":$row_max, "::mlir::Value":$row_sum,
      "::mlir::IntegerAttr":$heads, "::mlir::IntegerAttr":$kv_heads, "::mlir::FloatAttr":$scale, "::mlir::FloatAttr":$dropout,
      "::mlir::IntegerAttr":$dropout_id), [{
    build($_builder, $_state, dq, dk, dv, dy, q, k, v, result, row_max, row_sum, heads, kv_heads, scale, dropout, dropout_id, BF16OrderAttr());
  }]>];
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();";
}

def Train_GeluOp : Train_Op<"gelu", [Pure]> {
  let summary = "Hugging Face's gelu_new, written as x * sigmoid(2u)";
  let arguments = (ins Train_Float:$x);
  let results = (outs Train_F32:$result);
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();";
}
def Train_GeluGradOp : Train_Op<"gelu_grad", [Pure]> {
  let summary = "dy * gelu'(x)";
  let arguments = (ins Train_F32:$dy, Train_Float:$x);
  let results = (outs Train_F32:$dx);
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();";
}
def Train_SwigluOp : Train_Op<"swiglu", [Pure]> {
  let summary = "silu(gate) * up";
  let arguments = (ins Train_Float:$gate, Train_Float:$up);
  let results = (outs Train_F32:$result);
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();";
}
def Train_SwigluGradOp : Train_Op<"swiglu_grad", [Pure]> {
  let summary = "-> dgate, dup";
  let arguments = (ins Train_F32:$dy, Train_Float:$gate, Train_Float:$up);
  let results = (outs Train_F32:$dgate, Train_F32:$dup);
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();";
}
def Train_DropoutOp : Train_Op<"dropout", [Pure]> {
  let summary = "x [B,T,C] -> x / (1 - p) where the counter-based draw keeps the element, else +0.0; its own adjoint";
  let arguments = (ins Train_F32:$x, F64Attr:$p, I64Attr:$dropout_id);
  let results = (outs Train_F32:$result);
}

def Train_LinearCrossEntropyOp : Train_Op<"linear_cross_entropy", [Pure]> {
  let summary = "x [B,T,C], weight [V,C], labels [B,T] -> loss sums [8], counts of valid labels [8] (f32), by position segment";
  let description = [{
    logits = x weight^T are never whole; a label < 0 does not count. x and weight are both f32 or both bf16; `bf16_order` and
    `f32_products` are those of train.contract. Logits and all that follows from them are f32. Evaluation takes loss and
    count of each token, [B,T], instead of sums.
  }];
  let arguments = (ins Train_Float:$x, Train_Float:$weight, Train_I32:$labels, I64Attr:$vocab_segments, I64Attr:$batch_nodes,
    OptionalAttr<Train_BF16OrderAttr>:$bf16_order, OptionalAttr<Train_F32ProductsAttr>:$f32_products);
  let results = (outs Train_F32:$loss, Train_F32:$count);
  let builders = [OpBuilder<(ins "::mlir::Type":$loss, "::mlir::Type":$count, "::mlir::Value":$x, "::mlir::Value":$weight,
      "::mlir::Value":$labels, "int64_t":$vocab_segments, "int64_t":$batch_nodes), [{
    build($_builder, $_state, loss, count, x, weight, labels, vocab_segments, batch_nodes, BF16OrderAttr(), F32ProductsAttr());
  }]>, OpBuilder<(ins "::mlir::Type":$loss, "::mlir::Type":$count, "::mlir::Value":$x, "::mlir::Value":$weight,
      "::mlir::Value":$labels, "::mlir::IntegerAttr":$vocab_segments, "::mlir::IntegerAttr":$batch_nodes), [{
    build($_builder, $_state, loss, count, x, weight, labels, vocab_segments, batch_nodes, BF16OrderAttr(), F32ProductsAttr());
  }]>];
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();";
}
def Train_LinearCrossEntropyGradOp : Train_Op<"linear_cross_entropy_grad", [Pure, AttrSizedOperandSegments]> {
  let summary = "Loss and both gradients in one op: -> loss [8], count [8], dx [B,T,C], dweight [V,C], for the loss *sum*";
  let description = [{
    With x and weight in bf16 the gradients of logits are rounded to bf16 before both products that they enter.
  }];
  let arguments = (ins Train_Float:$x, Train_Float:$weight, Train_I32:$labels, Optional<Train_F32>:$loss_accumulator,
    Optional<Train_F32>:$count_accumulator, Optional<Train_F32>:$weight_accumulator, I64Attr:$vocab_segments, I64Attr:$batch_nodes,
    OptionalAttr<Train_BF16OrderAttr>:$bf16_order, OptionalAttr<Train_F32ProductsAttr>:$f32_products);
  let results = (outs Train_F32:$loss, Train_F32:$count, Train_F32:$dx, Train_F32:$dweight);
  let builders = [OpBuilder<(ins "::mlir::Type":$loss, "::mlir::Type":$count, "::mlir::Type":$dx, "::mlir::Type":$dweight,
      "::mlir::Value":$x, "::mlir::Value":$weight, "::mlir::Value":$labels, "::mlir::Value":$loss_accumulator,
      "::mlir::Value":$count_accumulator, "::mlir::Value":$weight_accumulator, "int64_t":$vocab_segments, "int64_t":$batch_nodes), [{
    build($_builder, $_state, loss, count, dx, dweight, x, weight, labels, loss_accumulator, count_accumulator, weight_accumulator,
          vocab_segments, batch_nodes, BF16OrderAttr(), F32ProductsAttr());
  }]>, OpBuilder<(ins "::mlir::Type":$loss, "::mlir::Type":$count, "::mlir::Type":$dx, "::mlir::Type":$dweight,
      "::mlir::Value":$x, "::mlir::Value":$weight, "::mlir::Value":$labels, "::mlir::Value":$loss_accumulator,
      "::mlir::Value":$count_accumulator, "::mlir::Value":$weight_accumulator, "::mlir::IntegerAttr":$vocab_segments,
      "::mlir::IntegerAttr":$batch_nodes), [{
    build($_builder, $_state, loss, count, dx, dweight, x, weight, labels, loss_accumulator, count_accumulator, weight_accumulator,
          vocab_segments, batch_nodes, BF16OrderAttr(), F32ProductsAttr());
  }]>];
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::OpOperand *> getBF16Operands();";
}

#endif
