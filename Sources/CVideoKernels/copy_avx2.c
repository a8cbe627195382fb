// SPDX-License-Identifier: Apache-2.0
// Copies and averages of blocks of 32 and 64 samples in width. AVX2.

#include "stages.h"
#include "shared/x86.h"

#if OVT_X86

#define WIDE(W)                                                                                                    \
  AVX2 static void copy##W##Avx2(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,       \
                                 int height) {                                                                     \
    for (int y = 0; y < height; y++, dst += dstStride, src += srcStride)                                           \
      for (int x = 0; x < W; x += 32) store32(dst + x, load32(src + x));                                           \
  }                                                                                                                \
  AVX2 static void average##W##Avx2(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,         \
                                    ptrdiff_t srcStride, int height) {                                             \
    for (int y = 0; y < height; y++, dst += dstStride, a += srcStride, b += srcStride)                             \
      for (int x = 0; x < W; x += 32) store32(dst + x, _mm256_avg_epu8(load32(a + x), load32(b + x)));                \
  }
WIDE(32)
WIDE(64)

void ovt_copy_avx2(OVTVideoKernels *k) {
  k->copy[3] = copy32Avx2, k->copy[4] = copy64Avx2;
  k->average[3] = average32Avx2, k->average[4] = average64Avx2;
}

#endif
