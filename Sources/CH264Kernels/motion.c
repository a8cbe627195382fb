// SPDX-License-Identifier: Apache-2.0
// Inter prediction samples (8.4.2.2): chroma and half-sample planes. Plain C.

#include "stages.h"

// 8.4.2.2.2, for `pairs` sample pairs of Cb and Cr.
OVT_INLINE void chroma(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int xFrac,
                       int yFrac, int pairs, int height) {
  const int wA = (8 - xFrac) * (8 - yFrac), wB = xFrac * (8 - yFrac);
  const int wC = (8 - xFrac) * yFrac, wD = xFrac * yFrac;
  for (int y = 0; y < height; y++, dst += dstStride, src += srcStride) {
    const uint8_t *below = src + srcStride;
    for (int x = 0; x < 2 * pairs; x++)
      dst[x] = (uint8_t)((wA * src[x] + wB * src[x + 2] + wC * below[x] + wD * below[x + 2] + 32) >> 6);
  }
}

#define WIDTH(W)                                                                                        \
  static void chroma##W(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,     \
                        int xFrac, int yFrac, int height) {                                             \
    chroma(dst, dstStride, src, srcStride, xFrac, yFrac, W / 2, height);                                \
  }

WIDTH(16)
WIDTH(8)
WIDTH(4)

OVT_INLINE int sixTaps(int a, int b, int c, int d, int e, int f) { return a - 5 * b + 20 * c + 20 * d - 5 * e + f; }

// 8.4.2.2.1. `scratch` takes the unrounded vertical intermediates of one row, from x = -2 on; j is
// the same from horizontal or from vertical ones.
static void halfSample(uint8_t *b, uint8_t *h, uint8_t *j, const uint8_t *src, ptrdiff_t stride, int width,
                       int height, int16_t *scratch) {
  for (int y = 0; y < height; y++, src += stride, b += stride, h += stride, j += stride) {
    for (int x = -2; x < width + 3; x++)
      scratch[x + 2] = (int16_t)sixTaps(src[x - 2 * stride], src[x - stride], src[x], src[x + stride],
                                        src[x + 2 * stride], src[x + 3 * stride]);
    for (int x = 0; x < width; x++) {
      const int16_t *v = scratch + x + 2;
      b[x] = ovt_clip_u8((sixTaps(src[x - 2], src[x - 1], src[x], src[x + 1], src[x + 2], src[x + 3]) + 16) >> 5);
      h[x] = ovt_clip_u8((v[0] + 16) >> 5);
      j[x] = ovt_clip_u8((sixTaps(v[-2], v[-1], v[0], v[1], v[2], v[3]) + 512) >> 10);
    }
  }
}

void ovt_motion_c(OVTKernels *k) {
  k->chroma[0] = chroma16, k->chroma[1] = chroma8, k->chroma[2] = chroma4;
  k->halfSample = halfSample;
}
