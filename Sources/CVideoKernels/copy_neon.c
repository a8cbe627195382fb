// SPDX-License-Identifier: Apache-2.0
// Copies and averages of blocks. NEON.

#include "shared/neon.h"
#include "stages.h"

#if OVT_ARM64

static void copy16(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, src += srcStride) vst1q_u8(dst, vld1q_u8(src));
}

static void copy8(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, src += srcStride) vst1_u8(dst, vld1_u8(src));
}

static void copy4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, src += srcStride) store4(dst, load4(src));
}

static void average16(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b, ptrdiff_t srcStride,
                      int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    vst1q_u8(dst, vrhaddq_u8(vld1q_u8(a), vld1q_u8(b)));
}

static void average8(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b, ptrdiff_t srcStride,
                     int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    vst1_u8(dst, vrhadd_u8(vld1_u8(a), vld1_u8(b)));
}

static void average4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b, ptrdiff_t srcStride,
                     int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)
    store4(dst, vrhadd_u8(load4(a), load4(b)));
}

#define WIDE(W)                                                                                                    \
  static void copy##W(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int height) {    \
    for (int y = 0; y < height; y++, dst += dstStride, src += srcStride)                                           \
      for (int x = 0; x < W; x += 16) vst1q_u8(dst + x, vld1q_u8(src + x));                                        \
  }                                                                                                                \
  static void average##W(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,                    \
                         ptrdiff_t srcStride, int height) {                                                        \
    for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)                             \
      for (int x = 0; x < W; x += 16) vst1q_u8(dst + x, vrhaddq_u8(vld1q_u8(a + x), vld1q_u8(b + x)));             \
  }
WIDE(32)
WIDE(64)

void ovt_copy_neon(OVTVideoKernels *k) {
  k->copy[0] = copy16, k->copy[1] = copy8, k->copy[2] = copy4, k->copy[3] = copy32, k->copy[4] = copy64;
  k->average[0] = average16, k->average[1] = average8, k->average[2] = average4, k->average[3] = average32;
  k->average[4] = average64;
}

#endif
