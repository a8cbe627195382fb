// SPDX-License-Identifier: Apache-2.0
// Residual transforms (8.5): forward, and inverse with reconstruction. NEON.
// 4x4 blocks go in pairs side by side: a vector holds a row of both.

#include "stages.h"

#if OVT_ARM64

#include <arm_neon.h>

enum { SRC = 16 };  // row stride of the macroblock cache

OVT_INLINE int16x8_t difference(uint8x8_t src, uint8x8_t pred) {
  return vreinterpretq_s16_u16(vsubl_u8(src, pred));
}

// MARK: - 4x4

OVT_INLINE void transpose4x4Pair(int16x8_t v[4]) {
  const int32x4_t a = vreinterpretq_s32_s16(vtrn1q_s16(v[0], v[1])), b = vreinterpretq_s32_s16(vtrn2q_s16(v[0], v[1]));
  const int32x4_t c = vreinterpretq_s32_s16(vtrn1q_s16(v[2], v[3])), d = vreinterpretq_s32_s16(vtrn2q_s16(v[2], v[3]));
  v[0] = vreinterpretq_s16_s32(vtrn1q_s32(a, c)), v[2] = vreinterpretq_s16_s32(vtrn2q_s32(a, c));
  v[1] = vreinterpretq_s16_s32(vtrn1q_s32(b, d)), v[3] = vreinterpretq_s16_s32(vtrn2q_s32(b, d));
}

OVT_INLINE void forward4(int16x8_t v[4]) {
  const int16x8_t a = vaddq_s16(v[0], v[3]), b = vaddq_s16(v[1], v[2]);
  const int16x8_t c = vsubq_s16(v[1], v[2]), d = vsubq_s16(v[0], v[3]);
  v[0] = vaddq_s16(a, b), v[1] = vaddq_s16(vaddq_s16(d, d), c);
  v[2] = vsubq_s16(a, b), v[3] = vsubq_s16(d, vaddq_s16(c, c));
}

OVT_INLINE void inverse4(int16x8_t v[4]) {
  const int16x8_t e = vaddq_s16(v[0], v[2]), f = vsubq_s16(v[0], v[2]);
  const int16x8_t g = vsubq_s16(vshrq_n_s16(v[1], 1), v[3]), h = vsraq_n_s16(v[1], v[3], 1);
  v[0] = vaddq_s16(e, h), v[1] = vaddq_s16(f, g), v[2] = vsubq_s16(f, g), v[3] = vsubq_s16(e, h);
}

// Leaves the two blocks transposed (columns in the place of rows).
OVT_INLINE void forwardColumns(int16x8_t v[4]) { forward4(v), transpose4x4Pair(v), forward4(v); }

OVT_INLINE void storePair(int16_t *coef, int16x8_t v[4]) {
  forwardColumns(v), transpose4x4Pair(v);
  vst1q_s16(coef, vcombine_s16(vget_low_s16(v[0]), vget_low_s16(v[1])));
  vst1q_s16(coef + 8, vcombine_s16(vget_low_s16(v[2]), vget_low_s16(v[3])));
  vst1q_s16(coef + 16, vcombine_s16(vget_high_s16(v[0]), vget_high_s16(v[1])));
  vst1q_s16(coef + 24, vcombine_s16(vget_high_s16(v[2]), vget_high_s16(v[3])));
}

OVT_INLINE void loadPair(int16x8_t v[4], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) v[i] = difference(vld1_u8(src + i * SRC), vld1_u8(pred + i * stride));
}

OVT_INLINE uint8x8_t load4(const uint8_t *p) {
  uint32_t row;
  memcpy(&row, p, 4);
  return vreinterpret_u8_u32(vdup_n_u32(row));
}

static void forward4x4(int16_t coef[16], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  int16x8_t v[4];
  for (int i = 0; i < 4; i++) v[i] = difference(load4(src + i * SRC), load4(pred + i * stride));
  forwardColumns(v), transpose4x4Pair(v);
  vst1q_s16(coef, vcombine_s16(vget_low_s16(v[0]), vget_low_s16(v[1])));
  vst1q_s16(coef + 8, vcombine_s16(vget_low_s16(v[2]), vget_low_s16(v[3])));
}

static void forward4x4x16(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 8; i++) {  // pairs in luma4x4BlkIdx order
    const int x = (i >> 1 & 1) * 8, y = (i >> 2) * 8 + (i & 1) * 4;
    int16x8_t v[4];
    loadPair(v, src + y * SRC + x, pred + y * stride + x, stride);
    storePair(coef + 32 * i, v);
  }
}

OVT_INLINE void loadNV12(int16x8_t cb[4], int16x8_t cr[4], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) {
    const uint8x8x2_t s = vld2_u8(src + i * SRC), p = vld2_u8(pred + i * stride);
    cb[i] = difference(s.val[0], p.val[0]), cr[i] = difference(s.val[1], p.val[1]);
  }
}

static void forwardNV12(int16_t coef[128], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 2; i++) {
    int16x8_t cb[4], cr[4];
    loadNV12(cb, cr, src + 4 * i * SRC, pred + 4 * i * stride, stride);
    storePair(coef + 32 * i, cb), storePair(coef + 64 + 32 * i, cr);
  }
}

// The residual of two blocks that follow one another, by rows of both.
OVT_INLINE void residualPair(int16x8_t v[4], const int16_t *coef) {
  const int16x8_t a = vld1q_s16(coef), b = vld1q_s16(coef + 8), c = vld1q_s16(coef + 16), d = vld1q_s16(coef + 24);
  v[0] = vcombine_s16(vget_low_s16(a), vget_low_s16(c)), v[1] = vcombine_s16(vget_high_s16(a), vget_high_s16(c));
  v[2] = vcombine_s16(vget_low_s16(b), vget_low_s16(d)), v[3] = vcombine_s16(vget_high_s16(b), vget_high_s16(d));
  transpose4x4Pair(v), inverse4(v), transpose4x4Pair(v), inverse4(v);
}

OVT_INLINE uint8x8_t add(uint8x8_t samples, int16x8_t residual) {
  return vqmovun_s16(vreinterpretq_s16_u16(vaddw_u8(vreinterpretq_u16_s16(vrshrq_n_s16(residual, 6)), samples)));
}

OVT_INLINE void store4(uint8_t *p, uint8x8_t v) {
  const uint32_t row = vget_lane_u32(vreinterpret_u32_u8(v), 0);
  memcpy(p, &row, 4);
}

static void inverse4x4(uint8_t *dst, ptrdiff_t stride, const int16_t coef[16]) {
  const int16x8_t a = vld1q_s16(coef), b = vld1q_s16(coef + 8);
  int16x8_t v[4] = {a, vextq_s16(a, a, 4), b, vextq_s16(b, b, 4)};
  transpose4x4Pair(v), inverse4(v), transpose4x4Pair(v), inverse4(v);
  for (int i = 0; i < 4; i++, dst += stride) store4(dst, add(load4(dst), v[i]));
}

static void inverse4x4DC(uint8_t *dst, ptrdiff_t stride, int dc) {
  const uint16x8_t d = vdupq_n_u16((uint16_t)((dc + 32) >> 6));
  for (int i = 0; i < 4; i++, dst += stride) store4(dst, vqmovun_s16(vreinterpretq_s16_u16(vaddw_u8(d, load4(dst)))));
}

static void inverse4x4x4(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]) {
  for (int i = 0; i < 2; i++) {
    int16x8_t v[4];
    residualPair(v, coef + 32 * i);
    for (int y = 0; y < 4; y++, dst += stride) vst1_u8(dst, add(vld1_u8(dst), v[y]));
  }
}

static void inverse4x4x16(uint8_t *dst, ptrdiff_t stride, const int16_t coef[256]) {
  for (int i = 0; i < 4; i++) inverse4x4x4(dst + (i >> 1) * 8 * stride + (i & 1) * 8, stride, coef + 64 * i);
}

static void inverseNV12(uint8_t *dst, ptrdiff_t stride, const int16_t coef[128]) {
  for (int i = 0; i < 2; i++) {
    int16x8_t cb[4], cr[4];
    residualPair(cb, coef + 32 * i), residualPair(cr, coef + 64 + 32 * i);
    for (int y = 0; y < 4; y++, dst += stride) {
      uint8x8x2_t row = vld2_u8(dst);
      row.val[0] = add(row.val[0], cb[y]), row.val[1] = add(row.val[1], cr[y]);
      vst2_u8(dst, row);
    }
  }
}

// MARK: - 8x8

OVT_INLINE void transpose8x8(int16x8_t v[8]) {
  int32x4_t t[8];
  for (int i = 0; i < 4; i++) {
    t[2 * i] = vreinterpretq_s32_s16(vtrn1q_s16(v[2 * i], v[2 * i + 1]));
    t[2 * i + 1] = vreinterpretq_s32_s16(vtrn2q_s16(v[2 * i], v[2 * i + 1]));
  }
  for (int i = 0; i < 2; i++) {
    const int64x2_t a = vreinterpretq_s64_s32(vtrn1q_s32(t[i], t[i + 2])), b = vreinterpretq_s64_s32(vtrn2q_s32(t[i], t[i + 2]));
    const int64x2_t c = vreinterpretq_s64_s32(vtrn1q_s32(t[i + 4], t[i + 6]));
    const int64x2_t d = vreinterpretq_s64_s32(vtrn2q_s32(t[i + 4], t[i + 6]));
    v[i] = vreinterpretq_s16_s64(vtrn1q_s64(a, c)), v[i + 4] = vreinterpretq_s16_s64(vtrn2q_s64(a, c));
    v[i + 2] = vreinterpretq_s16_s64(vtrn1q_s64(b, d)), v[i + 6] = vreinterpretq_s16_s64(vtrn2q_s64(b, d));
  }
}

#define ADD vaddq_s16
#define SUB vsubq_s16

OVT_INLINE void forward8(int16x8_t v[8]) {
  const int16x8_t s0 = ADD(v[0], v[7]), s1 = ADD(v[1], v[6]), s2 = ADD(v[2], v[5]), s3 = ADD(v[3], v[4]);
  const int16x8_t d0 = SUB(v[0], v[7]), d1 = SUB(v[1], v[6]), d2 = SUB(v[2], v[5]), d3 = SUB(v[3], v[4]);
  const int16x8_t a0 = ADD(s0, s3), a1 = ADD(s1, s2), a2 = SUB(s0, s3), a3 = SUB(s1, s2);
  const int16x8_t a4 = ADD(ADD(d1, d2), vsraq_n_s16(d0, d0, 1)), a5 = SUB(SUB(d0, d3), vsraq_n_s16(d2, d2, 1));
  const int16x8_t a6 = SUB(ADD(d0, d3), vsraq_n_s16(d1, d1, 1)), a7 = ADD(SUB(d1, d2), vsraq_n_s16(d3, d3, 1));
  v[0] = ADD(a0, a1), v[1] = vsraq_n_s16(a4, a7, 2), v[2] = vsraq_n_s16(a2, a3, 1), v[3] = vsraq_n_s16(a5, a6, 2);
  v[4] = SUB(a0, a1), v[5] = SUB(a6, vshrq_n_s16(a5, 2)), v[6] = SUB(vshrq_n_s16(a2, 1), a3);
  v[7] = SUB(vshrq_n_s16(a4, 2), a7);
}

OVT_INLINE void inverse8(int16x8_t d[8]) {
  const int16x8_t e0 = ADD(d[0], d[4]), e1 = SUB(SUB(d[5], d[3]), vsraq_n_s16(d[7], d[7], 1)), e2 = SUB(d[0], d[4]);
  const int16x8_t e3 = SUB(ADD(d[1], d[7]), vsraq_n_s16(d[3], d[3], 1)), e4 = SUB(vshrq_n_s16(d[2], 1), d[6]);
  const int16x8_t e5 = ADD(SUB(d[7], d[1]), vsraq_n_s16(d[5], d[5], 1)), e6 = vsraq_n_s16(d[2], d[6], 1);
  const int16x8_t e7 = ADD(ADD(d[3], d[5]), vsraq_n_s16(d[1], d[1], 1));
  const int16x8_t f0 = ADD(e0, e6), f1 = vsraq_n_s16(e1, e7, 2), f2 = ADD(e2, e4), f3 = vsraq_n_s16(e3, e5, 2);
  const int16x8_t f4 = SUB(e2, e4), f5 = SUB(vshrq_n_s16(e3, 2), e5), f6 = SUB(e0, e6), f7 = SUB(e7, vshrq_n_s16(e1, 2));
  d[0] = ADD(f0, f7), d[1] = ADD(f2, f5), d[2] = ADD(f4, f3), d[3] = ADD(f6, f1);
  d[4] = SUB(f6, f1), d[5] = SUB(f4, f3), d[6] = SUB(f2, f5), d[7] = SUB(f0, f7);
}

// Columns first, then rows.
static void forward8x8(int16_t coef[64], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  int16x8_t v[8];
  for (int i = 0; i < 8; i++) v[i] = difference(vld1_u8(src + i * SRC), vld1_u8(pred + i * stride));
  forward8(v), transpose8x8(v), forward8(v), transpose8x8(v);
  for (int i = 0; i < 8; i++) vst1q_s16(coef + 8 * i, v[i]);
}

static void forward8x8x4(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) {
    const int x = (i & 1) * 8, y = (i >> 1) * 8;
    forward8x8(coef + 64 * i, src + y * SRC + x, pred + y * stride + x, stride);
  }
}

static void inverse8x8(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]) {
  int16x8_t v[8];
  for (int i = 0; i < 8; i++) v[i] = vld1q_s16(coef + 8 * i);
  transpose8x8(v), inverse8(v), transpose8x8(v), inverse8(v);
  for (int i = 0; i < 8; i++, dst += stride) vst1_u8(dst, add(vld1_u8(dst), v[i]));
}

// MARK: - Whether nothing is left

// Lanes that are not zero where a level is not: |c| + bias times mf reaches 2^16. `mf` and `bias`
// are symmetric, so transposed coefficients do; a row of them twice, for both blocks.
OVT_INLINE uint16x8_t levels(int16x8_t c, uint16x8_t mf, uint16x8_t bias) {
  const uint16x8_t sum = vaddq_u16(vreinterpretq_u16_s16(vabsq_s16(c)), bias);
  const uint32x4_t low = vmull_u16(vget_low_u16(sum), vget_low_u16(mf)), high = vmull_high_u16(sum, mf);
  return vandq_u16(vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)), vtstq_s16(c, c));
}

OVT_INLINE void loadRows(uint16x8_t rows[4], const uint16_t *p) {
  for (int i = 0; i < 4; i++) rows[i] = vcombine_u16(vld1_u16(p + 4 * i), vld1_u16(p + 4 * i));
}

static int isEmpty16x16(const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, const uint16_t mf[16],
                        const uint16_t bias[16]) {
  uint16x8_t m[4], b[4];
  loadRows(m, mf), loadRows(b, bias);
  for (int y = 0; y < 16; y += 4) {
    uint16x8_t any = vdupq_n_u16(0);
    for (int x = 0; x < 16; x += 8) {
      int16x8_t v[4];
      loadPair(v, src + y * SRC + x, pred + y * stride + x, stride);
      forwardColumns(v);
      for (int i = 0; i < 4; i++) any = vorrq_u16(any, levels(v[i], m[i], b[i]));
    }
    if (vmaxvq_u16(any) != 0) return 0;
  }
  return 1;
}

static int isEmptyNV12(const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, const uint16_t mf[16],
                       const uint16_t bias[16], int mfDC, int biasDC) {
  uint16x8_t m[4], b[4], any = vdupq_n_u16(0);
  int16x8_t dc[2];  // Cb and Cr of the first of two blocks in lanes 0 and 1, of the second one in 4 and 5
  loadRows(m, mf), loadRows(b, bias);
  m[0] = vreinterpretq_u16_u64(vandq_u64(vreinterpretq_u64_u16(m[0]), vdupq_n_u64(~0xffffull)));  // not the DC
  for (int half = 0; half < 2; half++, src += 4 * SRC, pred += 4 * stride) {
    int16x8_t cb[4], cr[4];
    loadNV12(cb, cr, src, pred, stride);
    forwardColumns(cb), forwardColumns(cr);
    for (int i = 0; i < 4; i++) any = vorrq_u16(any, vorrq_u16(levels(cb[i], m[i], b[i]), levels(cr[i], m[i], b[i])));
    dc[half] = vtrn1q_s16(cb[0], cr[0]);
  }
  if (vmaxvq_u16(any) != 0) return 0;
  const uint16x8_t mDC = vdupq_n_u16((uint16_t)mfDC), bDC = vdupq_n_u16((uint16_t)biasDC);
  const int16x8_t s = vaddq_s16(dc[0], dc[1]), d = vsubq_s16(dc[0], dc[1]);
  const int16x8_t s4 = vextq_s16(s, s, 4), d4 = vextq_s16(d, d, 4);
  any = vorrq_u16(vorrq_u16(levels(vaddq_s16(s, s4), mDC, bDC), levels(vsubq_s16(s, s4), mDC, bDC)),
                  vorrq_u16(levels(vaddq_s16(d, d4), mDC, bDC), levels(vsubq_s16(d, d4), mDC, bDC)));
  return vgetq_lane_u32(vreinterpretq_u32_u16(any), 0) == 0;
}

// MARK: - Hadamard

OVT_INLINE void transpose4(int16x4_t v[4]) {
  const int32x2_t a = vreinterpret_s32_s16(vtrn1_s16(v[0], v[1])), b = vreinterpret_s32_s16(vtrn2_s16(v[0], v[1]));
  const int32x2_t c = vreinterpret_s32_s16(vtrn1_s16(v[2], v[3])), d = vreinterpret_s32_s16(vtrn2_s16(v[2], v[3]));
  v[0] = vreinterpret_s16_s32(vtrn1_s32(a, c)), v[2] = vreinterpret_s16_s32(vtrn2_s32(a, c));
  v[1] = vreinterpret_s16_s32(vtrn1_s32(b, d)), v[3] = vreinterpret_s16_s32(vtrn2_s32(b, d));
}

// One dimension; the second one of the forward transform halves, rounded.
OVT_INLINE void hadamard4(int16x4_t v[4], int halves) {
  const int16x4_t a = vadd_s16(v[0], v[1]), b = vsub_s16(v[0], v[1]), c = vadd_s16(v[2], v[3]), d = vsub_s16(v[2], v[3]);
  v[0] = halves ? vrhadd_s16(a, c) : vadd_s16(a, c), v[1] = halves ? vrhadd_s16(a, vneg_s16(c)) : vsub_s16(a, c);
  v[2] = halves ? vrhadd_s16(b, vneg_s16(d)) : vsub_s16(b, d), v[3] = halves ? vrhadd_s16(b, d) : vadd_s16(b, d);
}

OVT_INLINE void hadamard4x4(int16_t dc[16], int halves) {
  int16x4_t v[4];
  for (int i = 0; i < 4; i++) v[i] = vld1_s16(dc + 4 * i);
  hadamard4(v, 0), transpose4(v), hadamard4(v, halves), transpose4(v);
  for (int i = 0; i < 4; i++) vst1_s16(dc + 4 * i, v[i]);
}

static void hadamard4x4Forward(int16_t dc[16]) { hadamard4x4(dc, 1); }
static void hadamard4x4Inverse(int16_t dc[16]) { hadamard4x4(dc, 0); }

void ovt_transform_neon(OVTKernels *k) {
  k->isEmpty16x16 = isEmpty16x16;
  k->isEmptyNV12 = isEmptyNV12;
  k->hadamard4x4Forward = hadamard4x4Forward;
  k->hadamard4x4Inverse = hadamard4x4Inverse;
  k->forward4x4 = forward4x4;
  k->forward4x4x16 = forward4x4x16;
  k->forward8x8 = forward8x8;
  k->forward8x8x4 = forward8x8x4;
  k->forwardNV12 = forwardNV12;
  k->inverse4x4 = inverse4x4;
  k->inverse4x4DC = inverse4x4DC;
  k->inverse4x4x4 = inverse4x4x4;
  k->inverse4x4x16 = inverse4x4x16;
  k->inverse8x8 = inverse8x8;
  k->inverseNV12 = inverseNV12;
}

#endif
