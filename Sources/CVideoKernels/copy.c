// SPDX-License-Identifier: Apache-2.0
// Copies and averages of blocks. Plain C.

#include "stages.h"

OVT_INLINE void copy(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int width,
                     int height) {
  for (int y = 0; y < height; y++, dst += dstStride, src += srcStride) memcpy(dst, src, (size_t)width);
}

OVT_INLINE void average(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,
                        ptrdiff_t srcStride, int width, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    for (int x = 0; x < width; x++) dst[x] = (uint8_t)((a[x] + b[x] + 1) >> 1);
}

#define WIDTH(W)                                                                                        \
  static void copy##W(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,       \
                      int height) {                                                                     \
    copy(dst, dstStride, src, srcStride, W, height);                                                    \
  }                                                                                                     \
  static void average##W(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,         \
                         ptrdiff_t srcStride, int height) {                                             \
    average(dst, dstStride, a, b, srcStride, W, height);                                                \
  }

WIDTH(64)
WIDTH(32)
WIDTH(16)
WIDTH(8)
WIDTH(4)

void ovt_copy_c(OVTVideoKernels *k) {
  k->copy[0] = copy16, k->copy[1] = copy8, k->copy[2] = copy4, k->copy[3] = copy32, k->copy[4] = copy64;
  k->average[0] = average16, k->average[1] = average8, k->average[2] = average4, k->average[3] = average32;
  k->average[4] = average64;
}
