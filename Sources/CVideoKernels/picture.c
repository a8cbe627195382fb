// SPDX-License-Identifier: Apache-2.0
// Planes of chroma to pairs and back. Plain C.

#include "stages.h"

static void interleave8x8Planes(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *u, ptrdiff_t uStride, const uint8_t *v, ptrdiff_t vStride) {
  for (int y = 0; y < 8; y++, dst += dstStride, u += uStride, v += vStride)
    for (int x = 0; x < 8; x++) dst[2 * x] = u[x], dst[2 * x + 1] = v[x];
}

static void deinterleaveRow(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  for (int x = 0; x < n; x++) u[x] = src[2 * x], v[x] = src[2 * x + 1];
}

void ovt_picture_c(OVTVideoKernels *k) {
  k->interleave8x8Planes = interleave8x8Planes;
  k->deinterleaveRow = deinterleaveRow;
}
