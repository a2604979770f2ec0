// Reference meaning of attention and its gradient.
#include "dialects/train/BF16Products.h"
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
    uint64_t rowNumber = ((shape.firstSample + sample) * shape.heads + head) * shape.positions + i;
    first = rowNumber * attentionDrawStride(shape.positions);
  }
  typename P::F operator()(typename P::F x, int64_t j) const {
    if (!active)
      return x;
    P p;
    Words<P> draw = threefry2x32(p, key, wordsOf<P>(first + (j & ~kKeysOfWord)));
    return applyDropout(p, wordKeeps(p, j & kKeysOfWord ? draw.w1 : draw.w0, threshold), x, scale);
  }

private:
  bool active;
  uint32_t threshold;
  typename P::F scale;
  Words<P> key;
  uint64_t first = 0;
};

// The rows of one head, side by side: [T][E].
template <class P>
std::vector<typename P::F> rowsOf(const AttentionShape &shape, int64_t sample, int64_t head,
                                  const typename P::F *values, bool isKey) {
  std::vector<typename P::F> rows;
  for (int64_t i = 0; i < shape.positions; ++i) {
    const auto *row = values + (isKey ? shape.key(sample, head, i) : shape.query(sample, head, i));
    rows.insert(rows.end(), row, row + shape.size);
  }
  return rows;
}

// Chains over channels or positions, of f32 or of bf16. Of bf16, a pair or block of positions that the diagonal cuts is
// taken whole: its masked weights are +0.0.
template <class P> class Chains {
public:
  using F = typename P::F;
  Chains(const AttentionShape &shape, bool isBF16, bool blocks)
      : positions(shape.positions), isBF16(isBF16), terms{blocks, {}}, together(!isBF16 || P::kLibm ? 1
                                                                                : blocks            ? kTermsOfBlock
                                                                                                    : 2) {}

  // acc [n] continues with the terms k in [begin, end) of left[k * stride] times right [k][n].
  void extend(int64_t n, int64_t begin, int64_t end, const F *left, int64_t stride, const F *right, F *acc) const {
    P p;
    if (isBF16)
      continueBF16Product(p, terms, 1, n, begin, end, left, 0, stride, right, acc);
    else
      continueProduct(p, 1, n, begin, end, left, 0, stride, right, acc);
  }
  F weight(F x) const { // of a product over positions
    P p;
    return isBF16 ? roundToBF16(p, x) : x;
  }
  int64_t endOfKeys(int64_t i) const { return std::min((i / together + 1) * together, positions); }
  int64_t firstQuery(int64_t j) const { return j / together * together; }

private:
  int64_t positions;
  bool isBF16;
  BF16Terms terms;
  int64_t together;
};

// scores[j] = (chain over e of fma(q_e, k_je)) * scale; keys [E][T]
template <class P>
void scoreRow(P p, const AttentionShape &shape, const Chains<P> &chains, const typename P::F *query,
              const std::vector<typename P::F> &keys, std::vector<typename P::F> &scores) {
  scores.assign(shape.positions, p.constant(0.0));
  chains.extend(shape.positions, 0, shape.size, query, 1, keys.data(), scores.data());
  for (auto &score : scores)
    score = p.mul(score, p.constant(shape.scale));
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
    Chains<P> chains(shape, isBF16(getQ()), getBf16Order() == BF16Order::Blocks);
    RowDropout<P> drop(shape);
    std::vector<F> scores;
    for (int64_t sample = 0; sample < shape.samples; ++sample)
      for (int64_t head = 0; head < shape.heads; ++head) {
        std::vector<F> keys = transposed(rowsOf<P>(shape, sample, head, k, true).data(), shape.positions, shape.size);
        std::vector<F> values = rowsOf<P>(shape, sample, head, v, true);
        for (int64_t i = 0; i < shape.positions; ++i) {
          scoreRow(p, shape, chains, q + shape.query(sample, head, i), keys, scores);
          F m = rowMax(p, i + 1, [&](int64_t j) { return scores[j]; });
          for (int64_t j = 0; j <= i; ++j)
            scores[j] = softmaxTerm(p, scores[j], m);
          F l = rowSum(p, i + 1, [&](int64_t j) { return scores[j]; });
          drop.startRow(shape, sample, head, i);
          for (int64_t j = 0; j < shape.positions; ++j)
            scores[j] = j <= i ? chains.weight(drop(scores[j], j)) : p.constant(0.0);
          F *out = o + shape.query(sample, head, i);
          chains.extend(shape.size, 0, chains.endOfKeys(i), scores.data(), 1, values.data(), out);
          F reciprocal = p.div(p.constant(1.0), l);
          for (int64_t e = 0; e < shape.size; ++e)
            out[e] = p.mul(out[e], reciprocal);
          rowMaxima[shape.row(sample, head, i)] = m;
          rowSums[shape.row(sample, head, i)] = l;
        }
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

// ds and w of one head as the products take them: [T][T], zero where masked.
template <class P> struct HeadWeights {
  std::vector<typename P::F> ds, w;
};

template <class P>
HeadWeights<P> headWeights(P p, const AttentionShape &shape, const Chains<P> &chains, const AttentionGradInputs<P> &in,
                           int64_t sample, int64_t head) {
  using F = typename P::F;
  int64_t size = shape.size, positions = shape.positions;
  std::vector<F> keys = transposed(rowsOf<P>(shape, sample, head, in.k, true).data(), positions, size),
                 values = transposed(rowsOf<P>(shape, sample, head, in.v, true).data(), positions, size);
  HeadWeights<P> weights{std::vector<F>(positions * positions), std::vector<F>(positions * positions)};
  RowDropout<P> drop(shape);
  std::vector<F> scores;
  for (int64_t i = 0; i < positions; ++i) {
    int64_t at = shape.query(sample, head, i), row = shape.row(sample, head, i);
    scoreRow(p, shape, chains, in.q + at, keys, scores);
    std::vector<F> dp(positions);
    chains.extend(positions, 0, size, in.dy + at, 1, values.data(), dp.data());
    drop.startRow(shape, sample, head, i);
    F reciprocal = p.div(p.constant(1.0), in.rowSum[row]);
    F delta = rowDot(p, size, [&](int64_t e) { return in.dy[at + e]; }, [&](int64_t e) { return in.o[at + e]; });
    for (int64_t j = 0; j <= i; ++j) {
      F probability = attentionGradProbability(p, scores[j], in.rowMax[row], reciprocal);
      weights.w[i * positions + j] = chains.weight(drop(probability, j));
      weights.ds[i * positions + j] = chains.weight(attentionGradScore(p, probability, drop(dp[j], j), delta));
    }
  }
  return weights;
}

template <class P>
HeadGradients<P> headGradients(P p, const AttentionShape &shape, const Chains<P> &chains,
                               const AttentionGradInputs<P> &in, int64_t sample, int64_t head, typename P::F *dq) {
  using F = typename P::F;
  int64_t size = shape.size, positions = shape.positions;
  HeadWeights<P> weights = headWeights(p, shape, chains, in, sample, head);
  std::vector<F> keys = rowsOf<P>(shape, sample, head, in.k, true),
                 queries = rowsOf<P>(shape, sample, head, in.q, false),
                 outputGradients = rowsOf<P>(shape, sample, head, in.dy, false);
  F scale = p.constant(shape.scale);
  for (int64_t i = 0; i < positions; ++i) {
    F *row = dq + shape.query(sample, head, i);
    chains.extend(size, 0, chains.endOfKeys(i), weights.ds.data() + i * positions, 1, keys.data(), row);
    for (int64_t e = 0; e < size; ++e)
      row[e] = p.mul(row[e], scale);
  }
  HeadGradients<P> sums{std::vector<F>(positions * size), std::vector<F>(positions * size)};
  for (int64_t j = 0; j < positions; ++j) {
    auto overQueries = [&](const std::vector<F> &left, const std::vector<F> &right, std::vector<F> &sum) {
      chains.extend(size, chains.firstQuery(j), positions, left.data() + j, positions, right.data(),
                    sum.data() + j * size);
    };
    overQueries(weights.ds, queries, sums.dk);
    overQueries(weights.w, outputGradients, sums.dv);
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
    Chains<P> chains(shape, isBF16(getQ()), getBf16Order() == BF16Order::Blocks);
    F *dq = allocate<P>(results[0], getDq()), *dk = allocate<P>(results[1], getDk()),
      *dv = allocate<P>(results[2], getDv());
    for (int64_t sample = 0; sample < shape.samples; ++sample)
      for (int64_t kvHead = 0; kvHead < shape.kvHeads; ++kvHead) {
        std::vector<std::vector<F>> dks, dvs;
        for (int64_t head = kvHead * shape.group(); head < (kvHead + 1) * shape.group(); ++head) {
          HeadGradients<P> sums = headGradients(p, shape, chains, in, sample, head, dq);
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
