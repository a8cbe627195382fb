// SPDX-License-Identifier: Apache-2.0
// Intra prediction samples of whole macroblocks (8.3.3, 8.3.4). NEON.

#include "stages.h"

#if OVT_ARM64

#include <arm_neon.h>

OVT_INLINE void fillRows16(uint8_t *dst, ptrdiff_t stride, int height, uint8x16_t v) {
  for (int y = 0; y < height; y++) vst1q_u8(dst + y * stride, v);
}

OVT_INLINE uint8x16_t splat(int v) { return vdupq_n_u8((uint8_t)v); }

// MARK: - Intra_16x16 (8.3.3)

OVT_INLINE int sumTop(const uint8_t *dst, ptrdiff_t stride) { return vaddlvq_u8(vld1q_u8(dst - stride)); }

OVT_INLINE int sumLeft(const uint8_t *dst, ptrdiff_t stride) {
  int sum = 0;
  for (int y = 0; y < 16; y++) sum += dst[y * stride - 1];
  return sum;
}

static void vertical16x16(uint8_t *dst, ptrdiff_t stride) { fillRows16(dst, stride, 16, vld1q_u8(dst - stride)); }
static void horizontal16x16(uint8_t *dst, ptrdiff_t stride) {
  for (int y = 0; y < 16; y++, dst += stride) vst1q_u8(dst, vld1q_dup_u8(dst - 1));
}
static void dc16x16(uint8_t *dst, ptrdiff_t stride) {
  fillRows16(dst, stride, 16, splat((sumTop(dst, stride) + sumLeft(dst, stride) + 16) >> 5));
}
static void dcLeft16x16(uint8_t *dst, ptrdiff_t stride) {
  fillRows16(dst, stride, 16, splat((sumLeft(dst, stride) + 8) >> 4));
}
static void dcTop16x16(uint8_t *dst, ptrdiff_t stride) {
  fillRows16(dst, stride, 16, splat((sumTop(dst, stride) + 8) >> 4));
}
static void dc128_16x16(uint8_t *dst, ptrdiff_t stride) { fillRows16(dst, stride, 16, splat(128)); }

static const int16_t ramp[16] = {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8};

static void plane16x16(uint8_t *dst, ptrdiff_t stride) {
  const uint8_t *top = dst - stride, *left = dst - 1;
  // Eight samples right of the middle less those left of it, the nearest first.
  const uint8x8_t before = vrev64_u8(vld1_u8(top - 1)), after = vld1_u8(top + 8);
  const int16x8_t steps = vreinterpretq_s16_u16(vsubl_u8(after, before));
  const int16x8_t weights = vaddq_s16(vld1q_s16(ramp), vdupq_n_s16(8));
  const int h = vaddvq_s32(vmlal_high_s16(vmull_s16(vget_low_s16(steps), vget_low_s16(weights)), steps, weights));
  int v = 0;
  for (int i = 0; i < 8; i++) v += (i + 1) * (left[(8 + i) * stride] - left[(6 - i) * stride]);
  const int a = 16 * (left[15 * stride] + top[15]), b = (5 * h + 32) >> 6, c = (5 * v + 32) >> 6;
  const int16x8_t step = vdupq_n_s16((int16_t)c), start = vdupq_n_s16((int16_t)(a - 7 * c + 16));
  int16x8_t low = vmlaq_n_s16(start, vld1q_s16(ramp), (int16_t)b);
  int16x8_t high = vmlaq_n_s16(start, vld1q_s16(ramp + 8), (int16_t)b);
  for (int y = 0; y < 16; y++, dst += stride) {
    vst1q_u8(dst, vcombine_u8(vqshrun_n_s16(low, 5), vqshrun_n_s16(high, 5)));
    low = vaddq_s16(low, step), high = vaddq_s16(high, step);
  }
}

// MARK: - Chroma, 4:2:0, NV12 (8.3.4)

// The pairs of the column to the left, from row `first` on; Cb and Cr apart.
OVT_INLINE uint8x8x2_t column8(const uint8_t *dst, ptrdiff_t stride, int first) {
  const uint8_t *p = dst - 2 + first * stride;
  uint8_t pairs[16];
  for (int y = 0; y < 8; y++) memcpy(pairs + 2 * y, p + y * stride, 2);
  return vld2_u8(pairs);
}

// Sums of 4 pairs each, in 16 bits: Cb of the first four, of the last four, Cr of the first, of the
// last.
OVT_INLINE uint16x4_t sums4(uint8x8x2_t pairs) {
  const uint16x4_t u = vpaddl_u8(pairs.val[0]), v = vpaddl_u8(pairs.val[1]);
  return vpadd_u16(u, v);
}

// A row of two DC pairs: lanes of `dc` are bytes, those of Cb at 0 and 2, of Cr at 4 and 6.
OVT_INLINE uint8x16_t dcRow(uint16x4_t dc) {
  static const uint8_t order[16] = {0, 4, 0, 4, 0, 4, 0, 4, 2, 6, 2, 6, 2, 6, 2, 6};
  const uint8x8_t bytes = vreinterpret_u8_u16(dc);
  return vqtbl1q_u8(vcombine_u8(bytes, bytes), vld1q_u8(order));
}

// Lanes 0 and 2 of `a`, 1 and 3 of `b`.
OVT_INLINE uint16x4_t firstAndLast(uint16x4_t a, uint16x4_t b) {
  return vbsl_u16(vreinterpret_u16_u32(vdup_n_u32(0xffff)), a, b);
}

static void dcChroma(uint8_t *dst, ptrdiff_t stride) {
  const uint16x4_t top = sums4(vld2_u8(dst - stride)), left = sums4(column8(dst, stride, 0));
  const uint16x4_t both = vrshr_n_u16(vadd_u16(top, left), 3), left4 = vrshr_n_u16(left, 2);
  // Below left: the left column's last four alone, which lie in the last lanes.
  const uint16x4_t leftLast = vtrn2_u16(left4, left4);
  fillRows16(dst, stride, 4, dcRow(firstAndLast(both, vrshr_n_u16(top, 2))));
  fillRows16(dst + 4 * stride, stride, 4, dcRow(firstAndLast(leftLast, both)));
}
static void dcLeftChroma(uint8_t *dst, ptrdiff_t stride) {
  const uint16x4_t left = vrshr_n_u16(sums4(column8(dst, stride, 0)), 2);
  fillRows16(dst, stride, 4, dcRow(vtrn1_u16(left, left)));
  fillRows16(dst + 4 * stride, stride, 4, dcRow(vtrn2_u16(left, left)));
}
static void dcTopChroma(uint8_t *dst, ptrdiff_t stride) {
  fillRows16(dst, stride, 8, dcRow(vrshr_n_u16(sums4(vld2_u8(dst - stride)), 2)));
}
static void dc128Chroma(uint8_t *dst, ptrdiff_t stride) { fillRows16(dst, stride, 8, splat(128)); }
static void verticalChroma(uint8_t *dst, ptrdiff_t stride) { fillRows16(dst, stride, 8, vld1q_u8(dst - stride)); }
static void horizontalChroma(uint8_t *dst, ptrdiff_t stride) {
  for (int y = 0; y < 8; y++, dst += stride) {
    uint16_t pair;
    memcpy(&pair, dst - 2, 2);
    vst1q_u8(dst, vreinterpretq_u8_u16(vdupq_n_u16(pair)));
  }
}

// Weighted sum of a line of nine samples around its middle, of one colour: eight, and the last.
OVT_INLINE int gradient(uint8x8_t line, int last) {
  static const int16_t weights[8] = {-4, -3, -2, -1, 0, 1, 2, 3};
  const int16x8_t products = vmulq_s16(vreinterpretq_s16_u16(vmovl_u8(line)), vld1q_s16(weights));
  return (34 * (vaddvq_s16(products) + 4 * last) + 32) >> 6;
}

static void planeChroma(uint8_t *dst, ptrdiff_t stride) {
  const uint8_t *topLast = dst - stride + 14, *leftLast = dst - 2 + 7 * stride;
  const uint8x8x2_t top = vld2_u8(dst - stride - 2), left = column8(dst, stride, -1);
  int16x8_t row[2], step[2];
  for (int c = 0; c < 2; c++) {
    const int b = gradient(top.val[c], topLast[c]), d = gradient(left.val[c], leftLast[c]);
    const int a = 16 * (leftLast[c] + topLast[c]) + 16 - 3 * d;
    row[c] = vmlaq_n_s16(vdupq_n_s16((int16_t)a), vld1q_s16(ramp + 4), (int16_t)b);
    step[c] = vdupq_n_s16((int16_t)d);
  }
  for (int y = 0; y < 8; y++, dst += stride) {
    const uint8x8x2_t pairs = {{vqshrun_n_s16(row[0], 5), vqshrun_n_s16(row[1], 5)}};
    vst2_u8(dst, pairs);
    for (int c = 0; c < 2; c++) row[c] = vaddq_s16(row[c], step[c]);
  }
}

void ovt_intra_neon(OVTKernels *k) {
  const OVTPredictInPlace luma[7] = {vertical16x16, horizontal16x16, dc16x16,    plane16x16,
                                     dcLeft16x16,   dcTop16x16,      dc128_16x16};
  const OVTPredictInPlace chroma[7] = {dcChroma,     horizontalChroma, verticalChroma, planeChroma,
                                       dcLeftChroma, dcTopChroma,      dc128Chroma};
  memcpy(k->intra16x16, luma, sizeof luma);
  memcpy(k->intraChroma, chroma, sizeof chroma);
  ovt_intra_edge_neon(k);
}

#endif
