// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks: SAD, SATD, SSD, variance. NEON.

#include "larger.h"
#include "stages.h"

#if OVT_ARM64

#include <arm_neon.h>

// MARK: - Rows

OVT_INLINE uint8x8_t load4x2(const uint8_t *p, const uint8_t *q) {
  uint32_t rows[2];
  memcpy(rows, p, 4), memcpy(rows + 1, q, 4);
  return vreinterpret_u8_u32(vld1_u32(rows));
}

// MARK: - SAD

OVT_INLINE uint16x8_t sadRows16(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  uint16x8_t sum = vdupq_n_u16(0);
  for (int y = 0; y < height; y++)
    sum = vpadalq_u8(sum, vabdq_u8(vld1q_u8(src + y * srcStride), vld1q_u8(ref + y * stride)));
  return sum;
}

OVT_INLINE uint16x8_t sadRows8(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  uint16x8_t sum = vdupq_n_u16(0);
  for (int y = 0; y < height; y++) sum = vabal_u8(sum, vld1_u8(src + y * srcStride), vld1_u8(ref + y * stride));
  return sum;
}

OVT_INLINE uint16x8_t sadRows4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  uint16x8_t sum = vdupq_n_u16(0);
  for (int y = 0; y < height; y += 2, src += 2 * srcStride, ref += 2 * stride)
    sum = vabal_u8(sum, load4x2(src, src + srcStride), load4x2(ref, ref + stride));
  return sum;
}

// MARK: - SATD

// Four rows of differences of two blocks side by side. The last butterfly is |a + b| + |a - b| =
// 2 max(|a|, |b|), which is also the halving. A lane of the sum is at most 2 * 2040.
OVT_INLINE uint16x8_t satdRows(int16x8_t r0, int16x8_t r1, int16x8_t r2, int16x8_t r3) {
  const int16x8_t a = vaddq_s16(r0, r1), b = vsubq_s16(r0, r1), c = vaddq_s16(r2, r3), d = vsubq_s16(r2, r3);
  const int16x8_t v0 = vaddq_s16(a, c), v1 = vsubq_s16(a, c), v2 = vaddq_s16(b, d), v3 = vsubq_s16(b, d);
  const int16x8_t e01 = vtrn1q_s16(v0, v1), o01 = vtrn2q_s16(v0, v1);
  const int16x8_t e23 = vtrn1q_s16(v2, v3), o23 = vtrn2q_s16(v2, v3);
  const int32x4_t s01 = vreinterpretq_s32_s16(vaddq_s16(e01, o01)), d01 = vreinterpretq_s32_s16(vsubq_s16(e01, o01));
  const int32x4_t s23 = vreinterpretq_s32_s16(vaddq_s16(e23, o23)), d23 = vreinterpretq_s32_s16(vsubq_s16(e23, o23));
  const int16x8_t sums = vmaxq_s16(vabsq_s16(vreinterpretq_s16_s32(vtrn1q_s32(s01, s23))),
                                   vabsq_s16(vreinterpretq_s16_s32(vtrn2q_s32(s01, s23))));
  const int16x8_t differences = vmaxq_s16(vabsq_s16(vreinterpretq_s16_s32(vtrn1q_s32(d01, d23))),
                                          vabsq_s16(vreinterpretq_s16_s32(vtrn2q_s32(d01, d23))));
  return vreinterpretq_u16_s16(vaddq_s16(sums, differences));
}

OVT_INLINE int16x8_t difference8(uint8x8_t src, uint8x8_t ref) {
  return vreinterpretq_s16_u16(vsubl_u8(src, ref));
}

OVT_INLINE uint16x8_t satdRows8(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  uint16x8_t sum = vdupq_n_u16(0);
  for (int y = 0; y < height; y += 4, src += 4 * srcStride, ref += 4 * stride) {
    int16x8_t r[4];
    for (int i = 0; i < 4; i++) r[i] = difference8(vld1_u8(src + i * srcStride), vld1_u8(ref + i * stride));
    sum = vaddq_u16(sum, satdRows(r[0], r[1], r[2], r[3]));
  }
  return sum;
}

// A lane of the sum is at most 4 * 2 * 4080 = 32640.
OVT_INLINE uint16x8_t satdRows16(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  return vaddq_u16(satdRows8(src, srcStride, ref, stride, height), satdRows8(src + 8, srcStride, ref + 8, stride, height));
}

// Rows of a 4x4 block and of the one below it; where there is none, the source less itself.
OVT_INLINE uint16x8_t satdRows4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  int16x8_t r[4];
  for (int i = 0; i < 4; i++) {
    const uint8_t *s = src + i * srcStride, *p = ref + i * stride;
    r[i] = height == 8 ? difference8(load4x2(s, s + 4 * srcStride), load4x2(p, p + 4 * stride))
                       : difference8(load4x2(s, s), load4x2(p, s));
  }
  return satdRows(r[0], r[1], r[2], r[3]);
}

OVT_INLINE uint16x8_t satdPlane(uint8x8_t s0, uint8x8_t s1, uint8x8_t s2, uint8x8_t s3, uint8x8_t r0, uint8x8_t r1,
                                uint8x8_t r2, uint8x8_t r3) {
  return satdRows(difference8(s0, r0), difference8(s1, r1), difference8(s2, r2), difference8(s3, r3));
}

static int satdNV12(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  uint16x8_t sum = vdupq_n_u16(0);
  for (int y = 0; y < 8; y += 4, src += 4 * srcStride, ref += 4 * stride) {
    uint8x8x2_t s[4], r[4];
    for (int i = 0; i < 4; i++) s[i] = vld2_u8(src + i * srcStride), r[i] = vld2_u8(ref + i * stride);
    for (int c = 0; c < 2; c++)
      sum = vaddq_u16(sum, satdPlane(s[0].val[c], s[1].val[c], s[2].val[c], s[3].val[c], r[0].val[c], r[1].val[c],
                                     r[2].val[c], r[3].val[c]));
  }
  return (int)vaddlvq_u16(sum);
}

// MARK: - SSD and variance

OVT_INLINE uint32x4_t addSquares(uint32x4_t sum, uint8x8_t a, uint8x8_t b) {
  const uint8x8_t d = vabd_u8(a, b);
  return vpadalq_u16(sum, vmull_u8(d, d));
}

OVT_INLINE uint32x4_t ssdRows16(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  uint32x4_t sum = vdupq_n_u32(0);
  for (int y = 0; y < height; y++) {
    const uint8x16_t s = vld1q_u8(src + y * srcStride), r = vld1q_u8(ref + y * stride);
    sum = addSquares(addSquares(sum, vget_low_u8(s), vget_low_u8(r)), vget_high_u8(s), vget_high_u8(r));
  }
  return sum;
}

OVT_INLINE uint32x4_t ssdRows8(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  uint32x4_t sum = vdupq_n_u32(0);
  for (int y = 0; y < height; y++) sum = addSquares(sum, vld1_u8(src + y * srcStride), vld1_u8(ref + y * stride));
  return sum;
}

OVT_INLINE uint32x4_t ssdRows4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  uint32x4_t sum = vdupq_n_u32(0);
  for (int y = 0; y < height; y += 2, src += 2 * srcStride, ref += 2 * stride)
    sum = addSquares(sum, load4x2(src, src + srcStride), load4x2(ref, ref + stride));
  return sum;
}

static void ssdNV12(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int out[2]) {
  uint32x4_t sum[2] = {vdupq_n_u32(0), vdupq_n_u32(0)};
  for (int y = 0; y < 8; y++) {
    const uint8x8x2_t s = vld2_u8(src + y * srcStride), r = vld2_u8(ref + y * stride);
    for (int c = 0; c < 2; c++) sum[c] = addSquares(sum[c], s.val[c], r.val[c]);
  }
  for (int c = 0; c < 2; c++) out[c] = (int)vaddvq_u32(sum[c]);
}

static uint64_t variance16x16(const uint8_t *pixels, ptrdiff_t stride) {
  const uint8x8_t zero = vdup_n_u8(0);
  uint16x8_t sum = vdupq_n_u16(0);
  uint32x4_t squares = vdupq_n_u32(0);
  for (int y = 0; y < 16; y++, pixels += stride) {
    const uint8x16_t row = vld1q_u8(pixels);
    sum = vpadalq_u8(sum, row);
    squares = addSquares(addSquares(squares, vget_low_u8(row), zero), vget_high_u8(row), zero);
  }
  return (uint64_t)vaddvq_u32(squares) << 32 | vaddlvq_u16(sum);
}

static uint64_t ssdRow(const uint8_t *a, const uint8_t *b, int n) {
  uint32x4_t lanes = vdupq_n_u32(0);
  int x = 0;
  for (; x + 8 <= n; x += 8) lanes = addSquares(lanes, vld1_u8(a + x), vld1_u8(b + x));
  uint64_t sum = vaddlvq_u32(lanes);
  for (; x < n; x++) sum += (uint64_t)((a[x] - b[x]) * (a[x] - b[x]));
  return sum;
}

// MARK: - Quarter samples

static int sadOfAverage(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  uint16x8_t sum = vdupq_n_u16(0);
  for (int y = 0; y < 16; y++, a += stride, b += stride)
    sum = vpadalq_u8(sum, vabdq_u8(vld1q_u8(src + y * srcStride), vrhaddq_u8(vld1q_u8(a), vld1q_u8(b))));
  return (int)vaddlvq_u16(sum);
}

static int satdOfAverage(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  uint8_t rows[16 * 16];
  for (int y = 0; y < 16; y++, a += stride, b += stride)
    vst1q_u8(rows + y * 16, vrhaddq_u8(vld1q_u8(a), vld1q_u8(b)));
  return (int)vaddlvq_u16(satdRows16(src, srcStride, rows, 16, 16));
}

// MARK: - The table

#define SHAPE(W, H)                                                                                      \
  static int sad##W##x##H(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {                    \
    return (int)vaddlvq_u16(sadRows##W(src, srcStride, ref, stride, H));                                            \
  }                                                                                                      \
  static void sadX4_##W##x##H(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0, const uint8_t *r1, const uint8_t *r2, \
                              const uint8_t *r3, ptrdiff_t stride, int out[4]) {                         \
    out[0] = (int)vaddlvq_u16(sadRows##W(src, srcStride, r0, stride, H));                                           \
    out[1] = (int)vaddlvq_u16(sadRows##W(src, srcStride, r1, stride, H));                                           \
    out[2] = (int)vaddlvq_u16(sadRows##W(src, srcStride, r2, stride, H));                                           \
    out[3] = (int)vaddlvq_u16(sadRows##W(src, srcStride, r3, stride, H));                                           \
  }                                                                                                      \
  static int satd##W##x##H(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {                   \
    return (int)vaddlvq_u16(satdRows##W(src, srcStride, ref, stride, H));                                           \
  }                                                                                                      \
  static int ssd##W##x##H(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {                    \
    return (int)vaddvq_u32(ssdRows##W(src, srcStride, ref, stride, H));                                             \
  }
SHAPE(16, 16)
SHAPE(16, 8)
SHAPE(8, 16)
SHAPE(8, 8)
SHAPE(8, 4)
SHAPE(4, 8)
SHAPE(4, 4)

LARGER_SHAPES(LARGER_SAD, , )
LARGER_SHAPES(LARGER_SUMS, , )

#define FILL(W, H)                        \
  k->sad[OVT_##W##x##H] = sad##W##x##H;   \
  k->satd[OVT_##W##x##H] = satd##W##x##H; \
  k->ssd[OVT_##W##x##H] = ssd##W##x##H;   \
  k->sadX4[OVT_##W##x##H] = sadX4_##W##x##H;

void ovt_compare_neon(OVTVideoKernels *k) {
  FILL(16, 16)
  FILL(16, 8)
  FILL(8, 16)
  FILL(8, 8)
  FILL(8, 4)
  FILL(4, 8)
  FILL(4, 4)
  FILL(32, 32)
  FILL(32, 16)
  FILL(16, 32)
  FILL(64, 32)
  FILL(32, 64)
  FILL(64, 64)
  k->sadOfAverage = sadOfAverage;
  k->satdOfAverage = satdOfAverage;
  k->ssdNV12 = ssdNV12;
  k->satdNV12 = satdNV12;
  k->variance16x16 = variance16x16;
  k->ssdRow = ssdRow;
}

#endif
