// SPDX-License-Identifier: Apache-2.0
// Copies and averages of blocks. SSE4.

#include "stages.h"
#include "shared/x86.h"

#if OVT_X86

SSE4 static void copy16Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,
                            int height) {
  for (int y = 0; y < height; y++, dst += dstStride, src += srcStride) store16(dst, load16(src));
}

SSE4 static void average16Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,
                               ptrdiff_t srcStride, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    store16(dst, _mm_avg_epu8(load16(a), load16(b)));
}

SSE4 static void average8Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,
                              ptrdiff_t srcStride, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    store8(dst, _mm_avg_epu8(load8(a), load8(b)));
}

SSE4 static void average4Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,
                              ptrdiff_t srcStride, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    store4(dst, _mm_avg_epu8(load4(a), load4(b)));
}

#define WIDE(W)                                                                                                    \
  SSE4 static void copy##W##Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,       \
                                 int height) {                                                                     \
    for (int y = 0; y < height; y++, dst += dstStride, src += srcStride)                                           \
      for (int x = 0; x < W; x += 16) store16(dst + x, load16(src + x));                                           \
  }                                                                                                                \
  SSE4 static void average##W##Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,         \
                                    ptrdiff_t srcStride, int height) {                                             \
    for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)                             \
      for (int x = 0; x < W; x += 16) store16(dst + x, _mm_avg_epu8(load16(a + x), load16(b + x)));                \
  }
WIDE(32)
WIDE(64)

void ovt_copy_sse4(OVTVideoKernels *k) {
  k->copy[0] = copy16Sse4, k->copy[3] = copy32Sse4, k->copy[4] = copy64Sse4;
  k->average[0] = average16Sse4, k->average[1] = average8Sse4, k->average[2] = average4Sse4;
  k->average[3] = average32Sse4, k->average[4] = average64Sse4;
}

#endif
