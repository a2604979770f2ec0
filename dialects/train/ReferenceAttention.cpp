// Reference meaning of attention and its gradient.
#include "dialects/train/ReferenceTensors.h"

using namespace mlir;
using namespace recipe::train;

namespace {

// What the two ops have in common: shapes, head pairing and the dropout draws.
struct AttentionShape {
  int64_t samples, positions, heads, kvHeads, size; // size: E
  uint64_t firstSample = 0, seed = 0, step = 0;
  uint32_t dropoutId = 0;
  double dropout, scale;

  template <class Op>
  AttentionShape(Op op, const ReferenceContext &context)
      : samples(shapeOf(op.getQ())[0]), positions(shapeOf(op.getQ())[1]), heads(op.getHeads()),
        kvHeads(op.getKvHeads()), size(shapeOf(op.getQ())[2] / op.getHeads()), dropoutId(uint32_t(op.getDropoutId())),
        dropout(op.getDropout().convertToDouble()), scale(op.getScale().convertToDouble()) {
    if (!context.params)
      return;
    firstSample = context.params->first_sample;
    seed = context.params->seed;
    step = context.params->step;
  }
  int64_t group() const { return heads / kvHeads; }
  // Offsets of a head's row in [B, T, heads * E] and of a row statistic in [B, H, T].
  int64_t query(int64_t sample, int64_t head, int64_t i) const {
    return ((sample * positions + i) * heads + head) * size;
  }
  int64_t key(int64_t sample, int64_t head, int64_t j) const {
    return ((sample * positions + j) * kvHeads + head / group()) * size;
  }
  int64_t row(int64_t sample, int64_t head, int64_t i) const { return (sample * heads + head) * positions + i; }
};

// Whether the weights of one row survive dropout.
template <class P> class RowDropout {
public:
  explicit RowDropout(const AttentionShape &shape)
      : active(shape.dropout > 0), threshold(dropoutThreshold(shape.dropout)),
        scale(P::constant(dropoutScale(shape.dropout))) {
    P p;
    key = dropoutKey(p, wordsOf<P>(shape.seed), shape.dropoutId, uint32_t(shape.step));
  }
  void startRow(const AttentionShape &shape, int64_t sample, int64_t head, int64_t i) {
    first = (((shape.firstSample + sample) * shape.heads + head) * shape.positions + i) * shape.positions;
  }
  typename P::F operator()(typename P::F x, int64_t j) const {
    P p;
    return active ? applyDropout(p, dropoutKeep(p, key, wordsOf<P>(first + j), threshold), x, scale) : x;
  }

private:
  bool active;
  uint32_t threshold;
  typename P::F scale;
  Words<P> key;
  uint64_t first = 0;
};

// scores[j] = (chain over e of fma(q_e, k_je)) * scale for j <= i
template <class P>
void scoreRow(P p, const AttentionShape &shape, int64_t sample, int64_t head, int64_t i, const typename P::F *q,
              const typename P::F *k, typename P::F *scores) {
  const auto *query = q + shape.query(sample, head, i);
  auto scale = p.constant(shape.scale);
  for (int64_t j = 0; j <= i; ++j) {
    const auto *keyRow = k + shape.key(sample, head, j);
    auto acc = p.constant(0.0);
    for (int64_t e = 0; e < shape.size; ++e)
      acc = p.fma(query[e], keyRow[e], acc);
    scores[j] = p.mul(acc, scale);
  }
}

} // namespace

LogicalResult AttentionOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (getDropout().convertToDouble() > 0 && failed(expectParams(*this, context)))
    return failure();
  AttentionShape shape(*this, context);
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    using F = typename P::F;
    const F *q = valuesOf<P>(operands[0]), *k = valuesOf<P>(operands[1]), *v = valuesOf<P>(operands[2]);
    F *o = allocate<P>(results[0], getResult());
    F *rowMaxima = allocate<P>(results[1], getRowMax()), *rowSums = allocate<P>(results[2], getRowSum());
    RowDropout<P> drop(shape);
    std::vector<F> scores(shape.positions);
    for (int64_t sample = 0; sample < shape.samples; ++sample)
      for (int64_t head = 0; head < shape.heads; ++head)
        for (int64_t i = 0; i < shape.positions; ++i) {
          scoreRow(p, shape, sample, head, i, q, k, scores.data());
          F m = rowMax(p, i + 1, [&](int64_t j) { return scores[j]; });
          for (int64_t j = 0; j <= i; ++j)
            scores[j] = softmaxTerm(p, scores[j], m);
          F l = rowSum(p, i + 1, [&](int64_t j) { return scores[j]; });
          drop.startRow(shape, sample, head, i);
          F *out = o + shape.query(sample, head, i);
          for (int64_t j = 0; j <= i; ++j) {
            F w = drop(scores[j], j);
            const F *value = v + shape.key(sample, head, j);
            for (int64_t e = 0; e < shape.size; ++e)
              out[e] = p.fma(w, value[e], out[e]);
          }
          F reciprocal = p.div(p.constant(1.0), l);
          for (int64_t e = 0; e < shape.size; ++e)
            out[e] = p.mul(out[e], reciprocal);
          rowMaxima[shape.row(sample, head, i)] = m;
          rowSums[shape.row(sample, head, i)] = l;
        }
  });
}

namespace {

// dk and dv of one query head: T rows of E, chained over queries.
template <class P> struct HeadGradients {
  std::vector<typename P::F> dk, dv;
};

template <class P> struct AttentionGradInputs {
  const typename P::F *dy, *q, *k, *v, *o, *rowMax, *rowSum;
};

template <class P>
HeadGradients<P> headGradients(P p, const AttentionShape &shape, const AttentionGradInputs<P> &in, int64_t sample,
                               int64_t head, typename P::F *dq) {
  using F = typename P::F;
  int64_t size = shape.size;
  HeadGradients<P> sums{std::vector<F>(shape.positions * size), std::vector<F>(shape.positions * size)};
  RowDropout<P> drop(shape);
  F scale = p.constant(shape.scale);
  std::vector<F> scores(shape.positions);
  for (int64_t i = 0; i < shape.positions; ++i) {
    scoreRow(p, shape, sample, head, i, in.q, in.k, scores.data());
    drop.startRow(shape, sample, head, i);
    int64_t at = shape.query(sample, head, i), row = shape.row(sample, head, i);
    const F *dy = in.dy + at, *query = in.q + at, *o = in.o + at;
    F reciprocal = p.div(p.constant(1.0), in.rowSum[row]);
    F delta = rowDot(p, size, [&](int64_t e) { return dy[e]; }, [&](int64_t e) { return o[e]; });
    for (int64_t j = 0; j <= i; ++j) {
      const F *key = in.k + shape.key(sample, head, j), *value = in.v + shape.key(sample, head, j);
      F probability = attentionGradProbability(p, scores[j], in.rowMax[row], reciprocal);
      F w = drop(probability, j);
      F dp = p.constant(0.0);
      for (int64_t e = 0; e < size; ++e)
        dp = p.fma(dy[e], value[e], dp);
      F ds = attentionGradScore(p, probability, drop(dp, j), delta);
      F *dk = sums.dk.data() + j * size, *dv = sums.dv.data() + j * size;
      for (int64_t e = 0; e < size; ++e) {
        dq[at + e] = p.fma(ds, key[e], dq[at + e]);
        dk[e] = p.fma(ds, query[e], dk[e]);
        dv[e] = p.fma(w, dy[e], dv[e]);
      }
    }
    for (int64_t e = 0; e < size; ++e)
      dq[at + e] = p.mul(dq[at + e], scale);
  }
  for (F &x : sums.dk)
    x = p.mul(x, scale);
  return sums;
}

} // namespace

LogicalResult AttentionGradOp::evaluate(ReferenceContext &context, Operands operands, Results results) {
  if (getDropout().convertToDouble() > 0 && failed(expectParams(*this, context)))
    return failure();
  AttentionShape shape(*this, context);
  return inMode(context, [&](auto p) {
    using P = decltype(p);
    using F = typename P::F;
    AttentionGradInputs<P> in{valuesOf<P>(operands[0]), valuesOf<P>(operands[1]), valuesOf<P>(operands[2]),
                              valuesOf<P>(operands[3]), valuesOf<P>(operands[4]), valuesOf<P>(operands[5]),
                              valuesOf<P>(operands[6])};
    F *dq = allocate<P>(results[0], getDq()), *dk = allocate<P>(results[1], getDk()),
      *dv = allocate<P>(results[2], getDv());
    for (int64_t sample = 0; sample < shape.samples; ++sample)
      for (int64_t kvHead = 0; kvHead < shape.kvHeads; ++kvHead) {
        std::vector<std::vector<F>> dks, dvs;
        for (int64_t head = kvHead * shape.group(); head < (kvHead + 1) * shape.group(); ++head) {
          HeadGradients<P> sums = headGradients(p, shape, in, sample, head, dq);
          dks.push_back(std::move(sums.dk));
          dvs.push_back(std::move(sums.dv));
        }
        std::vector<F> dkSum = treeSum(p, std::move(dks)), dvSum = treeSum(p, std::move(dvs));
        for (int64_t j = 0; j < shape.positions; ++j) {
          int64_t at = shape.key(sample, kvHead * shape.group(), j);
          std::copy_n(dkSum.begin() + j * shape.size, shape.size, dk + at);
          std::copy_n(dvSum.begin() + j * shape.size, shape.size, dv + at);
        }
      }
  });
}
