// SPDX-License-Identifier: Apache-2.0
// Deblocking (8.7.2.5). Plain C, for the depth that is included before. `across` steps over the
// edge (p1 p0 | q0 q1), `along` follows it.

// Four lines: the decisions of 8.7.2.5.3 and 8.7.2.5.6, the filters of 8.7.2.5.7.
OVT_INLINE void deblockLuma4(Sample *s, ptrdiff_t across, ptrdiff_t along, int beta, int tc) {
#define P(i, k) s[-(1 + (i)) * across + (k) * along]
#define Q(i, k) s[(i) * across + (k) * along]
  if (tc == 0) return;
  const int dp0 = ovt_abs(P(2, 0) - 2 * P(1, 0) + P(0, 0)), dp3 = ovt_abs(P(2, 3) - 2 * P(1, 3) + P(0, 3));
  const int dq0 = ovt_abs(Q(2, 0) - 2 * Q(1, 0) + Q(0, 0)), dq3 = ovt_abs(Q(2, 3) - 2 * Q(1, 3) + Q(0, 3));
  if (dp0 + dq0 + dp3 + dq3 >= beta) return;
  int isStrong = 1;
  for (int k = 0; k < 4; k += 3)
    isStrong &= 2 * (k ? dp3 + dq3 : dp0 + dq0) < beta >> 2 &&
                ovt_abs(P(3, k) - P(0, k)) + ovt_abs(Q(0, k) - Q(3, k)) < beta >> 3 &&
                ovt_abs(P(0, k) - Q(0, k)) < (5 * tc + 1) >> 1;
  const int sides = (beta + (beta >> 1)) >> 3, changesP1 = dp0 + dp3 < sides, changesQ1 = dq0 + dq3 < sides;
  for (int k = 0; k < 4; k++) {
    const int p0 = P(0, k), p1 = P(1, k), p2 = P(2, k), p3 = P(3, k);
    const int q0 = Q(0, k), q1 = Q(1, k), q2 = Q(2, k), q3 = Q(3, k);
    if (isStrong) {
      P(0, k) = (Sample)ovt_clip3(p0 - 2 * tc, p0 + 2 * tc, (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3);
      P(1, k) = (Sample)ovt_clip3(p1 - 2 * tc, p1 + 2 * tc, (p2 + p1 + p0 + q0 + 2) >> 2);
      P(2, k) = (Sample)ovt_clip3(p2 - 2 * tc, p2 + 2 * tc, (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3);
      Q(0, k) = (Sample)ovt_clip3(q0 - 2 * tc, q0 + 2 * tc, (p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3);
      Q(1, k) = (Sample)ovt_clip3(q1 - 2 * tc, q1 + 2 * tc, (p0 + q0 + q1 + q2 + 2) >> 2);
      Q(2, k) = (Sample)ovt_clip3(q2 - 2 * tc, q2 + 2 * tc, (p0 + q0 + q1 + 3 * q2 + 2 * q3 + 4) >> 3);
      continue;
    }
    const int whole = (9 * (q0 - p0) - 3 * (q1 - p1) + 8) >> 4;
    if (ovt_abs(whole) >= 10 * tc) continue;
    const int delta = ovt_clip3(-tc, tc, whole);
    P(0, k) = clipSample(p0 + delta), Q(0, k) = clipSample(q0 - delta);
    if (changesP1) P(1, k) = clipSample(p1 + ovt_clip3(-(tc >> 1), tc >> 1, (((p2 + p0 + 1) >> 1) - p1 + delta) >> 1));
    if (changesQ1) Q(1, k) = clipSample(q1 + ovt_clip3(-(tc >> 1), tc >> 1, (((q2 + q0 + 1) >> 1) - q1 - delta) >> 1));
  }
}

// 8.7.2.5.8, two lines.
OVT_INLINE void deblockChroma2(Sample *s, ptrdiff_t across, ptrdiff_t along, int tc) {
  for (int k = 0; k < 2; k++) {
    const int delta = ovt_clip3(-tc, tc, (((Q(0, k) - P(0, k)) * 4) + P(1, k) - Q(1, k) + 4) >> 3);
    P(0, k) = clipSample(P(0, k) + delta), Q(0, k) = clipSample(Q(0, k) - delta);
  }
}
#undef P
#undef Q

static void deblockLumaVertical(Sample *pixels, ptrdiff_t stride, int beta, const int16_t tc[2]) {
  for (int i = 0; i < 2; i++) deblockLuma4(pixels + 4 * i * stride, 1, stride, beta, tc[i]);
}
static void deblockLumaHorizontal(Sample *pixels, ptrdiff_t stride, int beta, const int16_t tc[2]) {
  for (int i = 0; i < 2; i++) deblockLuma4(pixels + 4 * i, stride, 1, beta, tc[i]);
}
static void deblockChromaVertical(Sample *pixels, ptrdiff_t stride, const int16_t tc[2]) {
  for (int i = 0; i < 2; i++) deblockChroma2(pixels + 2 * i * stride, 1, stride, tc[i]);
}
static void deblockChromaHorizontal(Sample *pixels, ptrdiff_t stride, const int16_t tc[2]) {
  for (int i = 0; i < 2; i++) deblockChroma2(pixels + 2 * i, stride, 1, tc[i]);
}

static void fillDeblock(Kernels *k) {
  k->deblockLumaVertical = deblockLumaVertical, k->deblockLumaHorizontal = deblockLumaHorizontal;
  k->deblockChromaVertical = deblockChromaVertical, k->deblockChromaHorizontal = deblockChromaHorizontal;
}
