// SPDX-License-Identifier: Apache-2.0
// Inter prediction samples (8.4.2.2): chroma and half-sample planes. NEON.

#include "neon.h"
#include "stages.h"

#if OVT_ARM64

// 8.4.2.2.2 for four pairs: samples, their right neighbours, the same a row below.
OVT_INLINE uint8x8_t chromaPairs(const uint8_t *src, ptrdiff_t stride, const uint8x8_t weights[4]) {
  uint16x8_t sum = vmull_u8(vld1_u8(src), weights[0]);
  sum = vmlal_u8(sum, vld1_u8(src + 2), weights[1]);
  sum = vmlal_u8(sum, vld1_u8(src + stride), weights[2]);
  sum = vmlal_u8(sum, vld1_u8(src + stride + 2), weights[3]);
  return vrshrn_n_u16(sum, 6);
}

OVT_INLINE void chroma(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int xFrac,
                       int yFrac, int bytes, int height) {
  const uint8x8_t weights[4] = {
      vdup_n_u8((uint8_t)((8 - xFrac) * (8 - yFrac))), vdup_n_u8((uint8_t)(xFrac * (8 - yFrac))),
      vdup_n_u8((uint8_t)((8 - xFrac) * yFrac)), vdup_n_u8((uint8_t)(xFrac * yFrac))};
  for (int y = 0; y < height; y++, dst += dstStride, src += srcStride)
    for (int x = 0; x < bytes; x += 8) vst1_u8(dst + x, chromaPairs(src + x, srcStride, weights));
}

static void chroma8(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int xFrac, int yFrac,
                    int height) {
  chroma(dst, dstStride, src, srcStride, xFrac, yFrac, 16, height);
}

static void chroma4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int xFrac, int yFrac,
                    int height) {
  chroma(dst, dstStride, src, srcStride, xFrac, yFrac, 8, height);
}

// Two pairs of two rows at once; `height` is even. A row of six bytes is read as two that overlap.
static void chroma2(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int xFrac, int yFrac,
                    int height) {
  const uint8x8_t weights[4] = {
      vdup_n_u8((uint8_t)((8 - xFrac) * (8 - yFrac))), vdup_n_u8((uint8_t)(xFrac * (8 - yFrac))),
      vdup_n_u8((uint8_t)((8 - xFrac) * yFrac)), vdup_n_u8((uint8_t)(xFrac * yFrac))};
  for (int y = 0; y < height; y += 2, dst += 2 * dstStride, src += 2 * srcStride) {
    uint32x2_t left[3], right[3];
    for (int i = 0; i < 3; i++) {
      left[i] = vreinterpret_u32_u8(load4(src + i * srcStride));
      right[i] = vreinterpret_u32_u8(load4(src + i * srcStride + 2));
    }
    uint16x8_t sum = vmull_u8(vreinterpret_u8_u32(vzip1_u32(left[0], left[1])), weights[0]);
    sum = vmlal_u8(sum, vreinterpret_u8_u32(vzip1_u32(right[0], right[1])), weights[1]);
    sum = vmlal_u8(sum, vreinterpret_u8_u32(vzip1_u32(left[1], left[2])), weights[2]);
    sum = vmlal_u8(sum, vreinterpret_u8_u32(vzip1_u32(right[1], right[2])), weights[3]);
    const uint8x8_t out = vrshrn_n_u16(sum, 6);
    store4(dst, out), store4(dst + dstStride, vext_u8(out, out, 4));
  }
}

// Six taps (1, -5, 20, 20, -5, 1) over samples `step` apart.
OVT_INLINE int16x8_t sixTaps(const uint8_t *s, ptrdiff_t step) {
  const int16x8_t outer = vreinterpretq_s16_u16(vaddl_u8(vld1_u8(s - 2 * step), vld1_u8(s + 3 * step)));
  const int16x8_t middle = vreinterpretq_s16_u16(vaddl_u8(vld1_u8(s - step), vld1_u8(s + 2 * step)));
  const int16x8_t inner = vreinterpretq_s16_u16(vaddl_u8(vld1_u8(s), vld1_u8(s + step)));
  return vmlaq_n_s16(vmlsq_n_s16(outer, middle, 5), inner, 20);
}

// (a - 5b + 20c + 512) >> 10 in 16 bits, by nested floors: ((((a - b) >> 2) - b + c) >> 2) + c, +
// 32, >> 6. Where the addition of c saturates, the result is beyond 0 or 255 by far.
OVT_INLINE uint8x8_t centre(const int16_t *v) {
  const int16x8_t a = vaddq_s16(vld1q_s16(v - 2), vld1q_s16(v + 3));
  const int16x8_t b = vaddq_s16(vld1q_s16(v - 1), vld1q_s16(v + 2));
  const int16x8_t c = vaddq_s16(vld1q_s16(v), vld1q_s16(v + 1));
  const int16x8_t d = vqaddq_s16(vsubq_s16(vshrq_n_s16(vsubq_s16(a, b), 2), b), c);
  return vqrshrun_n_s16(vaddq_s16(vshrq_n_s16(d, 2), c), 6);
}

static void halfSample(uint8_t *b, uint8_t *h, uint8_t *j, const uint8_t *src, ptrdiff_t stride, int width, int height,
                       int16_t *scratch) {
  for (int y = 0; y < height; y++, src += stride, b += stride, h += stride, j += stride) {
    for (int x = 0; x < width + 5; x += 8) vst1q_s16(scratch + x, sixTaps(src + x - 2, stride));
    for (int x = 0; x < width; x += 8) {
      const int16_t *v = scratch + x + 2;
      vst1_u8(b + x, vqrshrun_n_s16(sixTaps(src + x, 1), 5));
      vst1_u8(h + x, vqrshrun_n_s16(vld1q_s16(v), 5));
      vst1_u8(j + x, centre(v));
    }
  }
}

void ovt_motion_neon(OVTKernels *k) {
  k->chroma[0] = chroma8, k->chroma[1] = chroma4, k->chroma[2] = chroma2;
  k->halfSample = halfSample;
}

#endif
