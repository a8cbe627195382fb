// SPDX-License-Identifier: Apache-2.0
// Residual transforms (8.5): forward, and inverse with reconstruction. SSE4.

#include "transform_x86.h"

#if OVT_X86

// MARK: - Forward

// Two blocks side by side, rows in v: coefficients of the first to a, of the second to b.
SSE4_INLINE void forwardPair(I16x8 v[4], int16_t *a, int16_t *b) {
  I16x8 pairs[4];
  FORWARD4(I16x8, v);
  TRANSPOSE4_PAIRS(pairs, v, lo16, hi16, lo32, hi32);
  UNPAIR4(v, pairs, lo64, hi64);
  FORWARD4(I16x8, v);
  TRANSPOSE4_PAIRS(pairs, v, lo16, hi16, lo32, hi32);
  store16(a, (__m128i)pairs[0]), store16(a + 8, (__m128i)pairs[1]);
  store16(b, (__m128i)pairs[2]), store16(b + 8, (__m128i)pairs[3]);
}

SSE4_INLINE void forwardPairAt(int16_t *coef, const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  I16x8 v[4];
  for (int y = 0; y < 4; y++) v[y] = difference8(src + y * SRC, pred + y * stride);
  forwardPair(v, coef, coef + 16);
}

SSE4 static void forward4x4x4Sse4(int16_t coef[64], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  forwardPairAt(coef, src, pred, stride);
  forwardPairAt(coef + 32, src + 4 * SRC, pred + 4 * stride, stride);
}

SSE4 static void forward4x4x16Sse4(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) {
    const int x = (i & 1) * 8, y = (i >> 1) * 8;
    forward4x4x4Sse4(coef + 64 * i, src + y * SRC + x, pred + y * stride + x, stride);
  }
}

SSE4 static void forwardNV12Sse4(int16_t coef[128], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  const __m128i low = _mm_set1_epi16(255);
  for (int half = 0; half < 2; half++, coef += 32) {
    I16x8 u[4], v[4];
    for (int y = 0; y < 4; y++, src += SRC, pred += stride) {
      const __m128i s = load16(src), p = load16(pred);
      u[y] = (I16x8)_mm_sub_epi16(_mm_and_si128(s, low), _mm_and_si128(p, low));
      v[y] = (I16x8)_mm_sub_epi16(_mm_srli_epi16(s, 8), _mm_srli_epi16(p, 8));
    }
    forwardPair(u, coef, coef + 16);
    forwardPair(v, coef + 64, coef + 80);
  }
}

SSE4 static void forward8x8x4Sse4(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) {
    const int x = (i & 1) * 8, y = (i >> 1) * 8;
    forward8x8(coef + 64 * i, src + y * SRC + x, pred + y * stride + x, stride);
  }
}

// MARK: - Whether anything is left

SSE4_INLINE __m128i levels8(I16x8 c, __m128i mf, __m128i bias) {
  return _mm_sign_epi16(_mm_mulhi_epu16(_mm_add_epi16(_mm_abs_epi16((__m128i)c), bias), mf), (__m128i)c);
}

SSE4 static int isEmpty16x16Sse4(const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, const uint16_t mf[16],
                                 const uint16_t bias[16]) {
  __m128i m[4], b[4];
  for (int i = 0; i < 4; i++) m[i] = quantiserRow(mf, i), b[i] = quantiserRow(bias, i);
  for (int strip = 0; strip < 4; strip++, src += 4 * SRC, pred += 4 * stride) {
    __m128i any = _mm_setzero_si128();
    for (int x = 0; x < 16; x += 8) {
      I16x8 v[4];
      for (int y = 0; y < 4; y++) v[y] = difference8(src + y * SRC + x, pred + y * stride + x);
      FORWARD4_TRANSPOSED(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
      for (int i = 0; i < 4; i++) any = _mm_or_si128(any, levels8(v[i], m[i], b[i]));
    }
    if (!_mm_testz_si128(any, any)) return 0;
  }
  return 1;
}

// The DC of 2x2 blocks of a colour: those of the upper ones at 0 and 4 of `top`, of the lower ones
// of `bottom`. Their levels, at 0.
SSE4_INLINE __m128i levelsDC(I16x8 top, I16x8 bottom, int mf, int bias) {
  const __m128i m = _mm_set1_epi16((short)mf), b = _mm_set1_epi16((short)bias);
  const I16x8 s = top + bottom, d = top - bottom;
  const I16x8 s4 = hi64(s, s), d4 = hi64(d, d);
  return _mm_or_si128(_mm_or_si128(levels8(s + s4, m, b), levels8(s - s4, m, b)),
                      _mm_or_si128(levels8(d + d4, m, b), levels8(d - d4, m, b)));
}

SSE4 static int isEmptyNV12Sse4(const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, const uint16_t mf[16],
                                const uint16_t bias[16], int mfDC, int biasDC) {
  const __m128i low = _mm_set1_epi16(255);
  const __m128i withoutDC = _mm_setr_epi16(0, -1, -1, -1, 0, -1, -1, -1);
  __m128i any = _mm_setzero_si128();
  I16x8 dc[2][2];
  for (int half = 0; half < 2; half++) {
    I16x8 u[4], v[4];
    for (int y = 0; y < 4; y++, src += SRC, pred += stride) {
      const __m128i s = load16(src), p = load16(pred);
      u[y] = (I16x8)_mm_sub_epi16(_mm_and_si128(s, low), _mm_and_si128(p, low));
      v[y] = (I16x8)_mm_sub_epi16(_mm_srli_epi16(s, 8), _mm_srli_epi16(p, 8));
    }
    FORWARD4_TRANSPOSED(I16x8, u, lo16, hi16, lo32, hi32, lo64, hi64);
    FORWARD4_TRANSPOSED(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
    for (int i = 0; i < 4; i++) {
      __m128i m = quantiserRow(mf, i);
      const __m128i b = quantiserRow(bias, i);
      if (i == 0) m = _mm_and_si128(m, withoutDC);
      any = _mm_or_si128(any, _mm_or_si128(levels8(u[i], m, b), levels8(v[i], m, b)));
    }
    dc[0][half] = u[0], dc[1][half] = v[0];
  }
  if (!_mm_testz_si128(any, any)) return 0;
  any = _mm_or_si128(levelsDC(dc[0][0], dc[0][1], mfDC, biasDC), levelsDC(dc[1][0], dc[1][1], mfDC, biasDC));
  return _mm_extract_epi16(any, 0) == 0;
}

// MARK: - Inverse

// Two blocks to residuals, a row of both in each of v.
SSE4_INLINE void inversePair(I16x8 v[4], const int16_t *a, const int16_t *b) {
  I16x8 pairs[4] = {(I16x8)load16(a), (I16x8)load16(a + 8), (I16x8)load16(b), (I16x8)load16(b + 8)};
  TRANSPOSE4_ROW_PAIRS(I16x8, pairs[0], pairs[1], lo16, hi16);
  TRANSPOSE4_ROW_PAIRS(I16x8, pairs[2], pairs[3], lo16, hi16);
  UNPAIR4(v, pairs, lo64, hi64);
  INVERSE4(I16x8, v);
  TRANSPOSE4_PAIRS(pairs, v, lo16, hi16, lo32, hi32);
  UNPAIR4(v, pairs, lo64, hi64);
  INVERSE4(I16x8, v);
}

SSE4 static void inverse4x4x4Sse4(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]) {
  for (int half = 0; half < 2; half++, coef += 32, dst += 4 * stride) {
    I16x8 v[4];
    inversePair(v, coef, coef + 16);
    addRows8(dst, stride, v[0], v[1]);
    addRows8(dst + 2 * stride, stride, v[2], v[3]);
  }
}

SSE4 static void inverse4x4x16Sse4(uint8_t *dst, ptrdiff_t stride, const int16_t coef[256]) {
  for (int i = 0; i < 4; i++) inverse4x4x4Sse4(dst + (i >> 1) * 8 * stride + (i & 1) * 8, stride, coef + 64 * i);
}

SSE4 static void inverseNV12Sse4(uint8_t *dst, ptrdiff_t stride, const int16_t coef[128]) {
  const __m128i low = _mm_set1_epi16(255);
  for (int half = 0; half < 2; half++, coef += 32) {
    I16x8 u[4], v[4];
    inversePair(u, coef, coef + 16);
    inversePair(v, coef + 64, coef + 80);
    for (int y = 0; y < 4; y++, dst += stride) {
      const __m128i pixels = load16(dst);
      __m128i cb = _mm_add_epi16(roundResidual(u[y]), _mm_and_si128(pixels, low));
      __m128i cr = _mm_add_epi16(roundResidual(v[y]), _mm_srli_epi16(pixels, 8));
      cb = _mm_packus_epi16(cb, cb), cr = _mm_packus_epi16(cr, cr);
      store16(dst, _mm_unpacklo_epi8(cb, cr));
    }
  }
}

// MARK: - The table

SHARED_KERNELS(SSE4, Sse4)

void ovt_transform_sse4(OVTKernels *k) {
  k->isEmpty16x16 = isEmpty16x16Sse4;
  k->isEmptyNV12 = isEmptyNV12Sse4;
  k->forward4x4 = forward4x4Sse4;
  k->forward4x4x16 = forward4x4x16Sse4;
  k->forward8x8 = forward8x8Sse4;
  k->forward8x8x4 = forward8x8x4Sse4;
  k->forwardNV12 = forwardNV12Sse4;
  k->inverse4x4 = inverse4x4Sse4;
  k->inverse4x4DC = inverse4x4DCSse4;
  k->inverse4x4x4 = inverse4x4x4Sse4;
  k->inverse4x4x16 = inverse4x4x16Sse4;
  k->inverse8x8 = inverse8x8Sse4;
  k->inverseNV12 = inverseNV12Sse4;
  k->hadamard4x4Forward = hadamard4x4ForwardSse4;
  k->hadamard4x4Inverse = hadamard4x4InverseSse4;
}

#endif
