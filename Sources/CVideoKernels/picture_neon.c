// SPDX-License-Identifier: Apache-2.0
// Planes of chroma to pairs and back. NEON.

#include "stages.h"

#if OVT_ARM64

#include <arm_neon.h>

static void interleave8x8Planes(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *u, ptrdiff_t uStride, const uint8_t *v, ptrdiff_t vStride) {
  for (int y = 0; y < 8; y++) {
    const uint8x8x2_t pairs = {{vld1_u8(u + y * uStride), vld1_u8(v + y * vStride)}};
    vst2_u8(dst + dstStride * y, pairs);
  }
}

static void deinterleaveRow(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  int x = 0;
  for (; x + 16 <= n; x += 16) {
    const uint8x16x2_t pairs = vld2q_u8(src + 2 * x);
    vst1q_u8(u + x, pairs.val[0]), vst1q_u8(v + x, pairs.val[1]);
  }
  for (; x < n; x++) u[x] = src[2 * x], v[x] = src[2 * x + 1];
}

void ovt_picture_neon(OVTVideoKernels *k) {
  k->interleave8x8Planes = interleave8x8Planes;
  k->deinterleaveRow = deinterleaveRow;
}

#endif
