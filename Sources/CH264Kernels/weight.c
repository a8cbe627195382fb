// SPDX-License-Identifier: Apache-2.0
// Weighted prediction. Pictures that fade are rare: plain C, which the compiler makes SIMD of.

#include "CH264Kernels.h"

static inline uint8_t weighted(int s, int w, int round, int shift, int o) {
  int v = ((s * w + round) >> shift) + o;
  return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

void ovt_weight(uint8_t *p, ptrdiff_t stride, int width, int height, int shift, int w, int o) {
  int round = 1 << (shift - 1);
  for (int y = 0; y < height; y++, p += stride)
    for (int x = 0; x < width; x++) p[x] = weighted(p[x], w, round, shift, o);
}

void ovt_weight_nv12(uint8_t *p, ptrdiff_t stride, int width, int height, int shift, int w0, int o0, int w1, int o1) {
  int round = 1 << (shift - 1);
  for (int y = 0; y < height; y++, p += stride)
    for (int x = 0; x < width; x += 2) {
      p[x] = weighted(p[x], w0, round, shift, o0);
      p[x + 1] = weighted(p[x + 1], w1, round, shift, o1);
    }
}

void ovt_weigh_both(uint8_t *restrict dst, ptrdiff_t dstStride, const uint8_t *restrict a, const uint8_t *restrict b,
                    ptrdiff_t srcStride, int width, int height, int w0, int w1) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    for (int x = 0; x < width; x++) {
      int v = (a[x] * w0 + b[x] * w1 + 32) >> 6;
      dst[x] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

static inline uint8_t weightedPair(int a, int b, OVTPairWeight w, int shift) {
  int v = ((a * w.w0 + b * w.w1 + (1 << shift)) >> (shift + 1)) + w.o;
  return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

void ovt_weigh_pair(uint8_t *restrict dst, ptrdiff_t dstStride, const uint8_t *restrict a, const uint8_t *restrict b,
                    ptrdiff_t srcStride, int width, int height, int shift, OVTPairWeight weight) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    for (int x = 0; x < width; x++) dst[x] = weightedPair(a[x], b[x], weight, shift);
}

void ovt_weigh_pair_nv12(uint8_t *restrict dst, ptrdiff_t dstStride, const uint8_t *restrict a,
                         const uint8_t *restrict b, ptrdiff_t srcStride, int width, int height, int shift,
                         OVTPairWeight cb, OVTPairWeight cr) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    for (int x = 0; x < width; x += 2) {
      dst[x] = weightedPair(a[x], b[x], cb, shift);
      dst[x + 1] = weightedPair(a[x + 1], b[x + 1], cr, shift);
    }
}
