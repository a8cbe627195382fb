// SPDX-License-Identifier: Apache-2.0
// Deblocking (8.7.2.5) in vectors of eight lanes, which are included before: a lane for each line.

// The samples of eight lines across a luma edge: p3, p2, p1, p0, q0, q1, q2, q3.
typedef struct {
  V p3, p2, p1, p0, q0, q1, q2, q3;
} Lines;

SIMD_INLINE V vclip(V low, V high, V v) { return vmax(low, vmin(high, v)); }
SIMD_INLINE V less(V a, V b) { return vgreater(b, a); }
// A sample that may change by up to `most`.
SIMD_INLINE V near(V old, V most, V new) { return vclip(vsub(old, most), vadd(old, most), new); }

// Filters p2 to q2 in place. Returns 0 if nothing can change.
SIMD_INLINE int filterLuma(Lines *s, int beta, const int16_t tc[2]) {
  const int16_t each[8] = {tc[0], tc[0], tc[0], tc[0], tc[1], tc[1], tc[1], tc[1]};
  const V t = vload(each), betas = vset(beta);
  const V p3 = s->p3, p2 = s->p2, p1 = s->p1, p0 = s->p0, q0 = s->q0, q1 = s->q1, q2 = s->q2, q3 = s->q3;

  // 8.7.2.5.3: decided by the first and the last line of four.
  const V dp = vabs(vadd(vsub(p2, vadd(p1, p1)), p0)), dq = vabs(vadd(vsub(q2, vadd(q1, q1)), q0));
  const V d = vadd(dp, dq);
  const V isOn = vand(less(vadd(vfirsts(d), vlasts(d)), betas), vgreater(t, vzero()));
  if (!vany(isOn)) return 0;
  V flat = less(vadd(d, d), vset(beta >> 2));
  flat = vand(flat, less(vadd(vabs(vsub(p3, p0)), vabs(vsub(q0, q3))), vset(beta >> 3)));
  const V limit = vsra(vadd(vadd(vsll(t, 2), t), vset(1)), 1);
  flat = vand(flat, less(vabs(vsub(p0, q0)), limit));
  const V isStrong = vand(vand(vfirsts(flat), vlasts(flat)), isOn);
  const V side = vset((beta + (beta >> 1)) >> 3);
  const V changesP1 = less(vadd(vfirsts(dp), vlasts(dp)), side), changesQ1 = less(vadd(vfirsts(dq), vlasts(dq)), side);

  // 8.7.2.5.7, the weak filter.
  const V across = vsub(q0, p0), beyond = vsub(q1, p1);
  const V nine = vadd(vsll(across, 3), across), three = vadd(vadd(beyond, beyond), beyond);
  const V whole = vsra(vadd(vsub(nine, three), vset(8)), 4);
  const V ten = vadd(vsll(t, 3), vadd(t, t));
  const V isWeak = vwithout(isStrong, vand(isOn, less(vabs(whole), ten)));
  const V delta = vclip(vsub(vzero(), t), t, whole), half = vsra(t, 1), minusHalf = vsub(vzero(), half);
  const V one = vset(1);
  const V towardsP = vsra(vadd(vsub(vsra(vadd(vadd(p2, p0), one), 1), p1), delta), 1);
  const V towardsQ = vsra(vsub(vsub(vsra(vadd(vadd(q2, q0), one), 1), q1), delta), 1);
  s->p0 = vselect(isWeak, clipLanes(vadd(p0, delta)), p0), s->q0 = vselect(isWeak, clipLanes(vsub(q0, delta)), q0);
  s->p1 = vselect(vand(isWeak, changesP1), clipLanes(vadd(p1, vclip(minusHalf, half, towardsP))), p1);
  s->q1 = vselect(vand(isWeak, changesQ1), clipLanes(vadd(q1, vclip(minusHalf, half, towardsQ))), q1);
  if (!vany(isStrong)) return 1;

  // The strong filter.
  const V most = vadd(t, t), two = vset(2), four = vset(4);
  const V inner = vadd(p0, q0), middleP = vadd(inner, p1), middleQ = vadd(inner, q1);
  const V sumP = vadd(middleP, p2), sumQ = vadd(middleQ, q2);
  s->p0 = vselect(isStrong, near(p0, most, vsra(vadd(vadd(vadd(middleP, middleP), vadd(p2, q1)), four), 3)), s->p0);
  s->q0 = vselect(isStrong, near(q0, most, vsra(vadd(vadd(vadd(middleQ, middleQ), vadd(q2, p1)), four), 3)), s->q0);
  s->p1 = vselect(isStrong, near(p1, most, vsra(vadd(sumP, two), 2)), s->p1);
  s->q1 = vselect(isStrong, near(q1, most, vsra(vadd(sumQ, two), 2)), s->q1);
  const V outerP = vadd(vadd(p3, p2), vadd(p3, p2)), outerQ = vadd(vadd(q3, q2), vadd(q3, q2));
  s->p2 = vselect(isStrong, near(p2, most, vsra(vadd(vadd(sumP, outerP), four), 3)), p2);
  s->q2 = vselect(isStrong, near(q2, most, vsra(vadd(vadd(sumQ, outerQ), four), 3)), q2);
  return 1;
}

SIMD void deblockLumaHorizontal(Sample *pixels, ptrdiff_t stride, int beta, const int16_t tc[2]) {
  Sample *const p = pixels - 4 * stride;
  Lines s = {sampleLoad(p),          sampleLoad(p + stride),     sampleLoad(p + 2 * stride), sampleLoad(p + 3 * stride),
             sampleLoad(pixels),     sampleLoad(pixels + stride), sampleLoad(pixels + 2 * stride),
             sampleLoad(pixels + 3 * stride)};
  if (!filterLuma(&s, beta, tc)) return;
  sampleStore(p + stride, s.p2, 8), sampleStore(p + 2 * stride, s.p1, 8), sampleStore(p + 3 * stride, s.p0, 8);
  sampleStore(pixels, s.q0, 8), sampleStore(pixels + stride, s.q1, 8), sampleStore(pixels + 2 * stride, s.q2, 8);
}

SIMD void deblockLumaVertical(Sample *pixels, ptrdiff_t stride, int beta, const int16_t tc[2]) {
  V v[8];
  for (int i = 0; i < 8; i++) v[i] = sampleLoad(pixels - 4 + i * stride);
  transpose8(v);
  Lines s = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
  if (!filterLuma(&s, beta, tc)) return;
  v[1] = s.p2, v[2] = s.p1, v[3] = s.p0, v[4] = s.q0, v[5] = s.q1, v[6] = s.q2;
  transpose8(v);
  for (int i = 0; i < 8; i++) sampleStore(pixels - 4 + i * stride, v[i], 8);
}

// 8.7.2.5.8: four lines in the lower lanes.
SIMD_INLINE V chromaDelta(V p1, V p0, V q0, V q1, const int16_t tc[2]) {
  const int16_t each[8] = {tc[0], tc[0], tc[1], tc[1]};
  const V t = vload(each), sum = vadd(vadd(vsll(vsub(q0, p0), 2), vsub(p1, q1)), vset(4));
  return vclip(vsub(vzero(), t), t, vsra(sum, 3));
}

SIMD void deblockChromaHorizontal(Sample *pixels, ptrdiff_t stride, const int16_t tc[2]) {
  const V p1 = sampleLoadPart(pixels - 2 * stride, 4), p0 = sampleLoadPart(pixels - stride, 4);
  const V q0 = sampleLoadPart(pixels, 4), q1 = sampleLoadPart(pixels + stride, 4);
  const V delta = chromaDelta(p1, p0, q0, q1, tc);
  sampleStore(pixels - stride, vadd(p0, delta), 4), sampleStore(pixels, vsub(q0, delta), 4);
}

SIMD void deblockChromaVertical(Sample *pixels, ptrdiff_t stride, const int16_t tc[2]) {
  Sample *const p = pixels - 2;
  const V even = vzip(sampleLoadPart(p, 4), sampleLoadPart(p + 2 * stride, 4)).lo;
  const V odd = vzip(sampleLoadPart(p + stride, 4), sampleLoadPart(p + 3 * stride, 4)).lo;
  const Zip columns = vzip(even, odd);  // p1 and p0, q0 and q1
  const V p0 = vswap(columns.lo), q0 = columns.hi;
  const V delta = chromaDelta(columns.lo, p0, q0, vswap(q0), tc);
  Sample changed[16];
  const Zip pairs = vzip(vadd(p0, delta), vsub(q0, delta));
  sampleStore(changed, pairs.lo, 8);
  for (int i = 0; i < 4; i++) pixels[i * stride - 1] = changed[2 * i], pixels[i * stride] = changed[2 * i + 1];
}

#define FILL_DEBLOCK                                                                                          \
  k->deblockLumaVertical = deblockLumaVertical, k->deblockLumaHorizontal = deblockLumaHorizontal;             \
  k->deblockChromaVertical = deblockChromaVertical, k->deblockChromaHorizontal = deblockChromaHorizontal;
