// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011), on
// the integer words of a policy (Formulas.h). A counter-based generator: f(key, counter) -> two words, no state.
#ifndef DIALECTS_TRAIN_THREEFRY_H
#define DIALECTS_TRAIN_THREEFRY_H

namespace recipe::train {

// A key, a counter or a result; as a 64-bit number w0 is the low half.
template <class P> struct Words {
  typename P::I w0, w1;
};

template <class P> Words<P> threefry2x32(P &p, Words<P> key, Words<P> counter) {
  using I = typename P::I;
  constexpr unsigned rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  I keys[3] = {key.w0, key.w1, p.xorInt(p.xorInt(key.w0, key.w1), p.constantInt(0x1bd11bdau))};
  I a = p.addInt(counter.w0, keys[0]);
  I b = p.addInt(counter.w1, keys[1]);
  for (unsigned group = 0; group < 5; ++group) { // four rounds, then a key injection
    for (unsigned round = 0; round < 4; ++round) {
      unsigned by = rotations[(group % 2) * 4 + round];
      a = p.addInt(a, b);
      b = p.xorInt(p.orInt(p.shl(b, by), p.lshr(b, 32 - by)), a);
    }
    a = p.addInt(a, keys[(group + 1) % 3]);
    b = p.addInt(b, p.addInt(keys[(group + 2) % 3], p.constantInt(group + 1)));
  }
  return {a, b};
}

} // namespace recipe::train
#endif
