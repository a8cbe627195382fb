// SPDX-License-Identifier: Apache-2.0
// Intra_4x4 (8.3.1.2) and Intra_8x8 (8.3.2.2) from an edge, and the filter of the latter's
// reference samples. NEON.

#ifndef OVT_INTRA_EDGE_NEON_H
#define OVT_INTRA_EDGE_NEON_H

#include "neon.h"

#if OVT_ARM64

// The diagonal modes take each row from one line of filtered edge samples (or two that alternate),
// a step further along it: the line goes to memory once and the rows are read from it.

OVT_INLINE uint8x16_t taps3(uint8x16_t before, uint8x16_t centre, uint8x16_t after) {  // (a + 2b + c + 2) >> 2
  return vrhaddq_u8(centre, vhaddq_u8(before, after));
}
OVT_INLINE uint8x16_t taps3At(const uint8_t *e) { return taps3(vld1q_u8(e - 1), vld1q_u8(e), vld1q_u8(e + 1)); }
OVT_INLINE uint8x16_t taps2At(const uint8_t *e) { return vrhaddq_u8(vld1q_u8(e), vld1q_u8(e + 1)); }

OVT_INLINE uint8x16_t look(uint8x16_t v, const uint8_t at[16]) { return vqtbl1q_u8(v, vld1q_u8(at)); }

OVT_INLINE void storeN(uint8_t *dst, int n, uint8x8_t v) {
  if (n == 8) {
    vst1_u8(dst, v);
  } else {
    const uint32_t row = vget_lane_u32(vreinterpret_u32_u8(v), 0);
    memcpy(dst, &row, 4);
  }
}

// Rows y of n samples from line[start + step * (y / every)]; the line is read up to eight samples
// from there.
OVT_INLINE void rows(uint8_t *dst, ptrdiff_t stride, int n, int first, int every, const uint8_t *line, int start, int step) {
  for (int y = first; y < n; y += every) storeN(dst + y * stride, n, vld1_u8(line + start + step * (y / every)));
}

OVT_INLINE void fillN(uint8_t *dst, ptrdiff_t stride, int n, uint8x8_t v) {
  for (int y = 0; y < n; y++) storeN(dst + y * stride, n, v);
}

OVT_INLINE int edgeSum(const uint8_t *e, int n) {
  if (n == 8) return vaddlv_u8(vld1_u8(e));
  return e[0] + e[1] + e[2] + e[3];
}

OVT_INLINE uint8x8_t splat(int v) { return vdup_n_u8((uint8_t)v); }

OVT_INLINE void vertical(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  fillN(dst, stride, n, vld1_u8(edge + 1));
}
OVT_INLINE void horizontal(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  for (int y = 0; y < n; y++) storeN(dst + y * stride, n, vld1_dup_u8(edge - 1 - y));
}
OVT_INLINE void dc(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  fillN(dst, stride, n, splat((edgeSum(edge - n, n) + edgeSum(edge + 1, n) + n) >> (n == 4 ? 3 : 4)));
}
OVT_INLINE void dcLeft(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  fillN(dst, stride, n, splat((edgeSum(edge - n, n) + n / 2) >> (n == 4 ? 2 : 3)));
}
OVT_INLINE void dcTop(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  fillN(dst, stride, n, splat((edgeSum(edge + 1, n) + n / 2) >> (n == 4 ? 2 : 3)));
}
OVT_INLINE void dc128(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  (void)edge;
  fillN(dst, stride, n, splat(128));
}

OVT_INLINE void diagonalDownLeft(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  // The last sample stands for the one after it.
  static const uint8_t one4[16] = {1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  static const uint8_t two4[16] = {2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  static const uint8_t one8[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15};
  static const uint8_t two8[16] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 15};
  const uint8x16_t top = vld1q_u8(edge + 1);
  uint8_t line[16];
  vst1q_u8(line, taps3(top, look(top, n == 4 ? one4 : one8), look(top, n == 4 ? two4 : two8)));
  rows(dst, stride, n, 0, 1, line, 0, 1);
}

OVT_INLINE void diagonalDownRight(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  uint8_t line[16];
  vst1q_u8(line, taps3At(edge + 1 - n));
  rows(dst, stride, n, 0, 1, line, n - 1, -1);
}

OVT_INLINE void verticalRight(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  // Even rows: every second sample filtered from the left column, then averages of the row above.
  // Odd rows: the others, then filtered samples of the row above.
  const uint8x16_t above3 = taps3At(edge), above2 = taps2At(edge);
  uint8_t even[20], odd[20];
  uint8_t left[16];
  const int m = n / 2 - 1;  // samples from the left column
  vst1q_u8(left, taps3At(edge + 2 - n));
  for (int i = 0; i < m; i++) even[i] = left[2 * i + 1], odd[i] = left[2 * i];
  vst1q_u8(even + m, above2), vst1q_u8(odd + m, above3);
  rows(dst, stride, n, 0, 2, even, m, -1);
  rows(dst, stride, n, 1, 2, odd, m, -1);
}

OVT_INLINE void horizontalDown(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  // From the lowest on the left: averages and filtered samples in turn; past the corner filtered
  // ones.
  uint8_t line[32];
  const uint8x16_t turns = vzip1q_u8(taps2At(edge - n), taps3At(edge - n + 1)), above3 = taps3At(edge + 1);
  vst1q_u8(line, turns), vst1q_u8(line + 2 * n, above3);
  rows(dst, stride, n, 0, 1, line, 2 * n - 2, -2);
}

OVT_INLINE void verticalLeft(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  uint8_t even[16], odd[16];
  vst1q_u8(even, taps2At(edge + 1)), vst1q_u8(odd, taps3At(edge + 2));
  rows(dst, stride, n, 0, 2, even, 0, 1);
  rows(dst, stride, n, 1, 2, odd, 0, 1);
}

OVT_INLINE void horizontalUp(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  // Downwards, the lowest sample standing for all below it.
  static const uint8_t down4[18] = {7, 6, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  static const uint8_t down8[18] = {7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const uint8_t *down = n == 4 ? down4 : down8;
  const uint8x16_t left = vcombine_u8(vld1_u8(edge - 8), vdup_n_u8(0));
  const uint8x16_t v0 = look(left, down), v1 = look(left, down + 1);
  const uint8x16_t two = vrhaddq_u8(v0, v1), three = taps3(v0, v1, look(left, down + 2));
  uint8_t line[32];
  vst1q_u8(line, vzip1q_u8(two, three)), vst1q_u8(line + 16, vzip2q_u8(two, three));
  rows(dst, stride, n, 0, 1, line, 0, 2);
}

// MARK: - Reference samples of Intra_8x8 (8.3.2.2.1)

OVT_INLINE void filterEdge8x8(uint8_t *out, const uint8_t *edge, int available) {
  static const uint8_t belowAt[16] = {0, 0, 1, 2, 3, 4, 5, 6}, aboveAt[16] = {1, 2, 3, 4, 5, 6, 7, 7};
  static const uint8_t beforeAt[16] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  static const uint8_t afterAt[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15};
  const int hasLeft = available & 1, hasTop = available & 2, hasCorner = available & 4;
  // A sample that is missing at an end is the last one again.
  const uint8x16_t left = vcombine_u8(vld1_u8(edge - 8), vdup_n_u8(0)), top = vld1q_u8(edge + 1);
  uint8x16_t above = look(left, aboveAt), before = look(top, beforeAt);
  if (hasCorner) {
    above = vsetq_lane_u8(edge[0], above, 7), before = vsetq_lane_u8(edge[0], before, 0);
    const int a = hasLeft ? edge[-1] : edge[0], b = hasTop ? edge[1] : edge[0];
    out[0] = (uint8_t)((a + 2 * edge[0] + b + 2) >> 2);
  }
  vst1_u8(out - 8, vget_low_u8(taps3(look(left, belowAt), left, above)));
  vst1q_u8(out + 1, taps3(before, top, look(top, afterAt)));
}

#endif  // OVT_ARM64
#endif
