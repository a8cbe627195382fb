// SPDX-License-Identifier: Apache-2.0
// Residual transforms (8.5): forward, and inverse with reconstruction. SSE4 and AVX2.

#include "x86.h"

#if OVT_X86

enum { SRC = 16 };  // row stride of the macroblock cache

// The butterflies are the same for any vector of int16_t; `v` is an array of vectors, one for each row
// (or column) of the blocks that lie side by side in the lanes.

typedef int16_t I16x8 __attribute__((vector_size(16)));
typedef int16_t I16x16 __attribute__((vector_size(32)));

#define FORWARD4(T, v)                                                                 \
  do {                                                                                 \
    const T a = v[0] + v[3], b = v[1] + v[2], c = v[1] - v[2], d = v[0] - v[3];        \
    v[0] = a + b, v[1] = d + d + c, v[2] = a - b, v[3] = d - c - c;                    \
  } while (0)

#define INVERSE4(T, v)                                                                          \
  do {                                                                                          \
    const T e = v[0] + v[2], f = v[0] - v[2], g = (v[1] >> 1) - v[3], h = v[1] + (v[3] >> 1);   \
    v[0] = e + h, v[1] = f + g, v[2] = f - g, v[3] = e - h;                                     \
  } while (0)

#define FORWARD8(T, v)                                                                          \
  do {                                                                                          \
    const T s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];             \
    const T d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];             \
    const T a0 = s0 + s3, a1 = s1 + s2, a2 = s0 - s3, a3 = s1 - s2;                             \
    const T a4 = d1 + d2 + d0 + (d0 >> 1), a5 = d0 - d3 - d2 - (d2 >> 1);                       \
    const T a6 = d0 + d3 - d1 - (d1 >> 1), a7 = d1 - d2 + d3 + (d3 >> 1);                       \
    v[0] = a0 + a1, v[1] = a4 + (a7 >> 2), v[2] = a2 + (a3 >> 1), v[3] = a5 + (a6 >> 2);        \
    v[4] = a0 - a1, v[5] = a6 - (a5 >> 2), v[6] = (a2 >> 1) - a3, v[7] = (a4 >> 2) - a7;        \
  } while (0)

#define INVERSE8(T, v)                                                                              \
  do {                                                                                              \
    const T e0 = v[0] + v[4], e1 = v[5] - v[3] - v[7] - (v[7] >> 1), e2 = v[0] - v[4];              \
    const T e3 = v[1] + v[7] - v[3] - (v[3] >> 1), e4 = (v[2] >> 1) - v[6];                         \
    const T e5 = v[7] - v[1] + v[5] + (v[5] >> 1), e6 = v[2] + (v[6] >> 1);                         \
    const T e7 = v[3] + v[5] + v[1] + (v[1] >> 1);                                                  \
    const T f0 = e0 + e6, f1 = e1 + (e7 >> 2), f2 = e2 + e4, f3 = e3 + (e5 >> 2);                   \
    const T f4 = e2 - e4, f5 = (e3 >> 2) - e5, f6 = e0 - e6, f7 = e7 - (e1 >> 2);                   \
    v[0] = f0 + f7, v[1] = f2 + f5, v[2] = f4 + f3, v[3] = f6 + f1;                                 \
    v[4] = f6 - f1, v[5] = f4 - f3, v[6] = f2 - f5, v[7] = f0 - f7;                                 \
  } while (0)

// MARK: - Transposing

// 4x4 blocks A and B in the halves of each 128-bit lane. `v` = rows to columns; the halves of `pairs`
// are rows 0 and 1 of A, 2 and 3 of A, the same of B.
#define TRANSPOSE4_PAIRS(pairs, v, LO16, HI16, LO32, HI32)                                   \
  do {                                                                                       \
    const __typeof__(v[0]) a01 = LO16(v[0], v[1]), a23 = LO16(v[2], v[3]);                   \
    const __typeof__(v[0]) b01 = HI16(v[0], v[1]), b23 = HI16(v[2], v[3]);                   \
    pairs[0] = LO32(a01, a23), pairs[1] = HI32(a01, a23);                                    \
    pairs[2] = LO32(b01, b23), pairs[3] = HI32(b01, b23);                                    \
  } while (0)
#define UNPAIR4(v, pairs, LO64, HI64)                                                        \
  do {                                                                                       \
    v[0] = LO64(pairs[0], pairs[2]), v[1] = HI64(pairs[0], pairs[2]);                        \
    v[2] = LO64(pairs[1], pairs[3]), v[3] = HI64(pairs[1], pairs[3]);                        \
  } while (0)

SSE4_INLINE I16x8 lo16(I16x8 a, I16x8 b) { return (I16x8)_mm_unpacklo_epi16((__m128i)a, (__m128i)b); }
SSE4_INLINE I16x8 hi16(I16x8 a, I16x8 b) { return (I16x8)_mm_unpackhi_epi16((__m128i)a, (__m128i)b); }
SSE4_INLINE I16x8 lo32(I16x8 a, I16x8 b) { return (I16x8)_mm_unpacklo_epi32((__m128i)a, (__m128i)b); }
SSE4_INLINE I16x8 hi32(I16x8 a, I16x8 b) { return (I16x8)_mm_unpackhi_epi32((__m128i)a, (__m128i)b); }
SSE4_INLINE I16x8 lo64(I16x8 a, I16x8 b) { return (I16x8)_mm_unpacklo_epi64((__m128i)a, (__m128i)b); }
SSE4_INLINE I16x8 hi64(I16x8 a, I16x8 b) { return (I16x8)_mm_unpackhi_epi64((__m128i)a, (__m128i)b); }
AVX2_INLINE I16x16 lo16w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpacklo_epi16((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 hi16w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpackhi_epi16((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 lo32w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpacklo_epi32((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 hi32w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpackhi_epi32((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 lo64w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpacklo_epi64((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 hi64w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpackhi_epi64((__m256i)a, (__m256i)b); }

// 8x8 in each 128-bit lane.
#define TRANSPOSE8(T, v, LO16, HI16, LO32, HI32, LO64, HI64)                                                   \
  do {                                                                                                         \
    const T a0 = LO16(v[0], v[1]), a1 = HI16(v[0], v[1]), a2 = LO16(v[2], v[3]), a3 = HI16(v[2], v[3]);        \
    const T a4 = LO16(v[4], v[5]), a5 = HI16(v[4], v[5]), a6 = LO16(v[6], v[7]), a7 = HI16(v[6], v[7]);        \
    const T b0 = LO32(a0, a2), b1 = HI32(a0, a2), b2 = LO32(a1, a3), b3 = HI32(a1, a3);                        \
    const T b4 = LO32(a4, a6), b5 = HI32(a4, a6), b6 = LO32(a5, a7), b7 = HI32(a5, a7);                        \
    v[0] = LO64(b0, b4), v[1] = HI64(b0, b4), v[2] = LO64(b1, b5), v[3] = HI64(b1, b5);                        \
    v[4] = LO64(b2, b6), v[5] = HI64(b2, b6), v[6] = LO64(b3, b7), v[7] = HI64(b3, b7);                        \
  } while (0)

// MARK: - Forward, SSE4

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

SSE4_INLINE I16x8 difference8(const uint8_t *src, const uint8_t *pred) {
  return (I16x8)_mm_sub_epi16(widen8(src), widen8(pred));
}

SSE4_INLINE void forward4x4(int16_t coef[16], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  // Rows 0 and 1, 2 and 3 in two registers; then columns in the low halves.
  const I16x8 r01 = (I16x8)_mm_sub_epi16(_mm_cvtepu8_epi16(load4x2(src, src + SRC)),
                                         _mm_cvtepu8_epi16(load4x2(pred, pred + stride)));
  src += 2 * SRC, pred += 2 * stride;
  const I16x8 r23 = (I16x8)_mm_sub_epi16(_mm_cvtepu8_epi16(load4x2(src, src + SRC)),
                                         _mm_cvtepu8_epi16(load4x2(pred, pred + stride)));
  I16x8 v[4] = {r01, hi64(r01, r01), r23, hi64(r23, r23)};
  FORWARD4(I16x8, v);
  I16x8 a = lo16(v[0], v[1]), b = lo16(v[2], v[3]);
  v[0] = lo32(a, b), v[2] = hi32(a, b);
  v[1] = hi64(v[0], v[0]), v[3] = hi64(v[2], v[2]);
  FORWARD4(I16x8, v);
  a = lo16(v[0], v[1]), b = lo16(v[2], v[3]);
  store16(coef, (__m128i)lo32(a, b)), store16(coef + 8, (__m128i)hi32(a, b));
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

SSE4_INLINE void forward8x8(int16_t coef[64], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  I16x8 v[8];
  for (int y = 0; y < 8; y++) v[y] = difference8(src + y * SRC, pred + y * stride);
  FORWARD8(I16x8, v);
  TRANSPOSE8(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
  FORWARD8(I16x8, v);
  TRANSPOSE8(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
  for (int y = 0; y < 8; y++) store16(coef + 8 * y, (__m128i)v[y]);
}

SSE4 static void forward8x8x4Sse4(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) {
    const int x = (i & 1) * 8, y = (i >> 1) * 8;
    forward8x8(coef + 64 * i, src + y * SRC + x, pred + y * stride + x, stride);
  }
}

// MARK: - Forward, AVX2

// Four blocks: a and b side by side in the lower halves of v, c and d in the upper ones.
AVX2_INLINE void forwardQuad(I16x16 v[4], int16_t *a, int16_t *b, int16_t *c, int16_t *d) {
  I16x16 pairs[4];
  FORWARD4(I16x16, v);
  TRANSPOSE4_PAIRS(pairs, v, lo16w, hi16w, lo32w, hi32w);
  UNPAIR4(v, pairs, lo64w, hi64w);
  FORWARD4(I16x16, v);
  TRANSPOSE4_PAIRS(pairs, v, lo16w, hi16w, lo32w, hi32w);
  store32(a, _mm256_permute2x128_si256((__m256i)pairs[0], (__m256i)pairs[1], 0x20));
  store32(b, _mm256_permute2x128_si256((__m256i)pairs[2], (__m256i)pairs[3], 0x20));
  store32(c, _mm256_permute2x128_si256((__m256i)pairs[0], (__m256i)pairs[1], 0x31));
  store32(d, _mm256_permute2x128_si256((__m256i)pairs[2], (__m256i)pairs[3], 0x31));
}

AVX2_INLINE I16x16 difference16(const uint8_t *src, const uint8_t *pred) {
  return (I16x16)_mm256_sub_epi16(widen16(src), widen16(pred));
}

AVX2 static void forward4x4x16Avx2(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int strip = 0; strip < 4; strip++) {
    I16x16 v[4];
    for (int y = 0; y < 4; y++, src += SRC, pred += stride) v[y] = difference16(src, pred);
    int16_t *c = coef + (strip >> 1) * 128 + (strip & 1) * 32;
    forwardQuad(v, c, c + 16, c + 64, c + 80);
  }
}

AVX2 static void forwardNV12Avx2(int16_t coef[128], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  const __m128i split = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  for (int half = 0; half < 2; half++, coef += 32) {
    I16x16 v[4];
    for (int y = 0; y < 4; y++, src += SRC, pred += stride)
      v[y] = (I16x16)_mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_shuffle_epi8(load16(src), split)),
                                      _mm256_cvtepu8_epi16(_mm_shuffle_epi8(load16(pred), split)));
    forwardQuad(v, coef, coef + 16, coef + 64, coef + 80);
  }
}

AVX2 static void forward8x8x4Avx2(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int half = 0; half < 2; half++, coef += 128) {
    I16x16 v[8];
    for (int y = 0; y < 8; y++, src += SRC, pred += stride) v[y] = difference16(src, pred);
    FORWARD8(I16x16, v);
    TRANSPOSE8(I16x16, v, lo16w, hi16w, lo32w, hi32w, lo64w, hi64w);
    FORWARD8(I16x16, v);
    TRANSPOSE8(I16x16, v, lo16w, hi16w, lo32w, hi32w, lo64w, hi64w);
    for (int y = 0; y < 8; y += 2) {
      store32(coef + 8 * y, _mm256_permute2x128_si256((__m256i)v[y], (__m256i)v[y + 1], 0x20));
      store32(coef + 64 + 8 * y, _mm256_permute2x128_si256((__m256i)v[y], (__m256i)v[y + 1], 0x31));
    }
  }
}

// MARK: - Whether anything is left

// Row (or column, since mf and bias are symmetric) i of the quantiser for blocks side by side.
SSE4_INLINE __m128i quantiserRow(const uint16_t q[16], int i) {
  const __m128i row = load8(q + 4 * i);
  return _mm_unpacklo_epi64(row, row);
}

SSE4_INLINE __m128i levels8(I16x8 c, __m128i mf, __m128i bias) {
  return _mm_sign_epi16(_mm_mulhi_epu16(_mm_add_epi16(_mm_abs_epi16((__m128i)c), bias), mf), (__m128i)c);
}

AVX2_INLINE __m256i levels16(I16x16 c, __m256i mf, __m256i bias) {
  return _mm256_sign_epi16(_mm256_mulhi_epu16(_mm256_add_epi16(_mm256_abs_epi16((__m256i)c), bias), mf), (__m256i)c);
}

// Rows of residual to coefficients, both dimensions; the block transposed.
#define FORWARD4_TRANSPOSED(T, v, LO16, HI16, LO32, HI32, LO64, HI64) \
  do {                                                                \
    T pairs[4];                                                       \
    FORWARD4(T, v);                                                   \
    TRANSPOSE4_PAIRS(pairs, v, LO16, HI16, LO32, HI32);               \
    UNPAIR4(v, pairs, LO64, HI64);                                    \
    FORWARD4(T, v);                                                   \
  } while (0)

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

AVX2 static int isEmpty16x16Avx2(const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, const uint16_t mf[16],
                                 const uint16_t bias[16]) {
  __m256i m[4], b[4];
  for (int i = 0; i < 4; i++)
    m[i] = _mm256_broadcastsi128_si256(quantiserRow(mf, i)), b[i] = _mm256_broadcastsi128_si256(quantiserRow(bias, i));
  for (int strip = 0; strip < 4; strip++) {
    I16x16 v[4];
    for (int y = 0; y < 4; y++, src += SRC, pred += stride) v[y] = difference16(src, pred);
    FORWARD4_TRANSPOSED(I16x16, v, lo16w, hi16w, lo32w, hi32w, lo64w, hi64w);
    const __m256i any = _mm256_or_si256(
        _mm256_or_si256(levels16(v[0], m[0], b[0]), levels16(v[1], m[1], b[1])),
        _mm256_or_si256(levels16(v[2], m[2], b[2]), levels16(v[3], m[3], b[3])));
    if (!_mm256_testz_si256(any, any)) return 0;
  }
  return 1;
}

// The DC of 2x2 blocks of a colour: those of the upper ones at 0 and 4 of `top`, of the lower ones of `bottom`.
// Their levels, at 0.
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

AVX2 static int isEmptyNV12Avx2(const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, const uint16_t mf[16],
                                const uint16_t bias[16], int mfDC, int biasDC) {
  const __m128i split = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  const __m128i withoutDC = _mm_setr_epi16(0, -1, -1, -1, 0, -1, -1, -1);
  __m256i any = _mm256_setzero_si256();
  I16x16 dc[2];
  for (int half = 0; half < 2; half++) {
    I16x16 v[4];
    for (int y = 0; y < 4; y++, src += SRC, pred += stride)
      v[y] = (I16x16)_mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_shuffle_epi8(load16(src), split)),
                                      _mm256_cvtepu8_epi16(_mm_shuffle_epi8(load16(pred), split)));
    FORWARD4_TRANSPOSED(I16x16, v, lo16w, hi16w, lo32w, hi32w, lo64w, hi64w);
    for (int i = 0; i < 4; i++) {
      __m128i m = quantiserRow(mf, i);
      if (i == 0) m = _mm_and_si128(m, withoutDC);
      any = _mm256_or_si256(any, levels16(v[i], _mm256_broadcastsi128_si256(m),
                                          _mm256_broadcastsi128_si256(quantiserRow(bias, i))));
    }
    dc[half] = v[0];
  }
  if (!_mm256_testz_si256(any, any)) return 0;
  const __m256i m = _mm256_set1_epi16((short)mfDC), b = _mm256_set1_epi16((short)biasDC);
  const I16x16 s = dc[0] + dc[1], d = dc[0] - dc[1];
  const I16x16 s4 = hi64w(s, s), d4 = hi64w(d, d);
  any = _mm256_or_si256(_mm256_or_si256(levels16(s + s4, m, b), levels16(s - s4, m, b)),
                        _mm256_or_si256(levels16(d + d4, m, b), levels16(d - d4, m, b)));
  return (_mm256_extract_epi16(any, 0) | _mm256_extract_epi16(any, 8)) == 0;
}

// MARK: - Inverse, SSE4

SSE4_INLINE __m128i roundResidual(I16x8 v) {  // (v + 32) >> 6
  return _mm_mulhrs_epi16((__m128i)v, _mm_set1_epi16(512));
}

// Rows 0, 1 and 2, 3 of a block to its columns 0, 1 and 2, 3.
#define TRANSPOSE4_ROW_PAIRS(T, r01, r23, LO16, HI16)                   \
  do {                                                                  \
    const T even = LO16(r01, r23), odd = HI16(r01, r23);                \
    r01 = LO16(even, odd), r23 = HI16(even, odd);                       \
  } while (0)

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

SSE4_INLINE void inverse4x4(uint8_t *dst, ptrdiff_t stride, const int16_t coef[16]) {
  I16x8 c01 = (I16x8)load16(coef), c23 = (I16x8)load16(coef + 8);
  TRANSPOSE4_ROW_PAIRS(I16x8, c01, c23, lo16, hi16);
  I16x8 v[4] = {c01, hi64(c01, c01), c23, hi64(c23, c23)};
  INVERSE4(I16x8, v);
  const I16x8 a = lo16(v[0], v[1]), b = lo16(v[2], v[3]);
  v[0] = lo32(a, b), v[2] = hi32(a, b);
  v[1] = hi64(v[0], v[0]), v[3] = hi64(v[2], v[2]);
  INVERSE4(I16x8, v);
  const __m128i top = _mm_add_epi16(roundResidual(lo64(v[0], v[1])), _mm_cvtepu8_epi16(load4x2(dst, dst + stride)));
  const __m128i bottom = _mm_add_epi16(roundResidual(lo64(v[2], v[3])),
                                       _mm_cvtepu8_epi16(load4x2(dst + 2 * stride, dst + 3 * stride)));
  const __m128i out = _mm_packus_epi16(top, bottom);
  store4(dst, out);
  store4(dst + stride, _mm_shuffle_epi32(out, 1));
  store4(dst + 2 * stride, _mm_unpackhi_epi64(out, out));
  store4(dst + 3 * stride, _mm_shuffle_epi32(out, 3));
}

SSE4_INLINE void inverse4x4DC(uint8_t *dst, ptrdiff_t stride, int dc) {
  const __m128i d = _mm_set1_epi16((short)((dc + 32) >> 6));
  const __m128i plus = _mm_packus_epi16(d, d), minus = _mm_sub_epi16(_mm_setzero_si128(), d);
  __m128i v = _mm_unpacklo_epi64(load4x2(dst, dst + stride), load4x2(dst + 2 * stride, dst + 3 * stride));
  v = _mm_subs_epu8(_mm_adds_epu8(v, plus), _mm_packus_epi16(minus, minus));
  store4(dst, v);
  store4(dst + stride, _mm_shuffle_epi32(v, 1));
  store4(dst + 2 * stride, _mm_unpackhi_epi64(v, v));
  store4(dst + 3 * stride, _mm_shuffle_epi32(v, 3));
}

// Adds residuals to two rows of 8 samples.
SSE4_INLINE void addRows8(uint8_t *dst, ptrdiff_t stride, I16x8 r0, I16x8 r1) {
  const __m128i out = _mm_packus_epi16(_mm_add_epi16(roundResidual(r0), widen8(dst)),
                                       _mm_add_epi16(roundResidual(r1), widen8(dst + stride)));
  store8(dst, out);
  store8(dst + stride, _mm_unpackhi_epi64(out, out));
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

SSE4_INLINE void inverse8x8(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]) {
  I16x8 v[8];
  for (int y = 0; y < 8; y++) v[y] = (I16x8)load16(coef + 8 * y);
  TRANSPOSE8(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
  INVERSE8(I16x8, v);
  TRANSPOSE8(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
  INVERSE8(I16x8, v);
  for (int y = 0; y < 8; y += 2) addRows8(dst + y * stride, stride, v[y], v[y + 1]);
}

// MARK: - Inverse, AVX2

AVX2_INLINE __m256i roundResidual256(I16x16 v) {
  return _mm256_mulhrs_epi16((__m256i)v, _mm256_set1_epi16(512));
}

// Four blocks to residuals: a and b side by side in the lower halves of v, c and d in the upper ones.
AVX2_INLINE void inverseQuad(I16x16 v[4], const int16_t *a, const int16_t *b, const int16_t *c, const int16_t *d) {
  I16x16 pairs[4] = {(I16x16)load16x2(a, c), (I16x16)load16x2(a + 8, c + 8), (I16x16)load16x2(b, d),
                     (I16x16)load16x2(b + 8, d + 8)};
  TRANSPOSE4_ROW_PAIRS(I16x16, pairs[0], pairs[1], lo16w, hi16w);
  TRANSPOSE4_ROW_PAIRS(I16x16, pairs[2], pairs[3], lo16w, hi16w);
  UNPAIR4(v, pairs, lo64w, hi64w);
  INVERSE4(I16x16, v);
  TRANSPOSE4_PAIRS(pairs, v, lo16w, hi16w, lo32w, hi32w);
  UNPAIR4(v, pairs, lo64w, hi64w);
  INVERSE4(I16x16, v);
}

AVX2 static void inverse4x4x4Avx2(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]) {
  I16x16 v[4];
  inverseQuad(v, coef, coef + 16, coef + 32, coef + 48);
  for (int y = 0; y < 4; y += 2, dst += 2 * stride) {
    uint8_t *below = dst + 4 * stride;
    const __m256i r0 = _mm256_cvtepu8_epi16(load8x2(dst, below));
    const __m256i r1 = _mm256_cvtepu8_epi16(load8x2(dst + stride, below + stride));
    const __m256i out = _mm256_packus_epi16(_mm256_add_epi16(roundResidual256(v[y]), r0),
                                            _mm256_add_epi16(roundResidual256(v[y + 1]), r1));
    const __m128i upper = _mm256_castsi256_si128(out), lower = _mm256_extracti128_si256(out, 1);
    store8(dst, upper);
    store8(dst + stride, _mm_unpackhi_epi64(upper, upper));
    store8(below, lower);
    store8(below + stride, _mm_unpackhi_epi64(lower, lower));
  }
}

// Adds residuals to two rows of 16 samples.
AVX2_INLINE void addRows16(uint8_t *dst, ptrdiff_t stride, __m256i r0, __m256i r1) {
  const __m256i out = _mm256_permute4x64_epi64(
      _mm256_packus_epi16(_mm256_add_epi16(r0, widen16(dst)), _mm256_add_epi16(r1, widen16(dst + stride))), 0xd8);
  store16(dst, _mm256_castsi256_si128(out));
  store16(dst + stride, _mm256_extracti128_si256(out, 1));
}

AVX2 static void inverse4x4x16Avx2(uint8_t *dst, ptrdiff_t stride, const int16_t coef[256]) {
  for (int strip = 0; strip < 4; strip++, dst += 4 * stride) {
    const int16_t *c = coef + (strip >> 1) * 128 + (strip & 1) * 32;
    I16x16 v[4];
    inverseQuad(v, c, c + 16, c + 64, c + 80);
    addRows16(dst, stride, roundResidual256(v[0]), roundResidual256(v[1]));
    addRows16(dst + 2 * stride, stride, roundResidual256(v[2]), roundResidual256(v[3]));
  }
}

// Cb in the lower half, Cr in the upper one: to pairs in order.
AVX2_INLINE __m256i interleaveHalves(__m256i v) {
  const __m256i zip =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(v, 0xd8), zip);
}

AVX2 static void inverseNV12Avx2(uint8_t *dst, ptrdiff_t stride, const int16_t coef[128]) {
  for (int half = 0; half < 2; half++, coef += 32, dst += 4 * stride) {
    I16x16 v[4];
    inverseQuad(v, coef, coef + 16, coef + 64, coef + 80);
    addRows16(dst, stride, interleaveHalves(roundResidual256(v[0])), interleaveHalves(roundResidual256(v[1])));
    addRows16(dst + 2 * stride, stride, interleaveHalves(roundResidual256(v[2])),
              interleaveHalves(roundResidual256(v[3])));
  }
}

// MARK: - Hadamard

// One dimension, rows 0 and 1 in `*r01`, 2 and 3 in `*r23`, except its last butterfly: the halves of p + q
// are rows 0 and 1, those of p - q rows 3 and 2.
#define HADAMARD_PARTS(p, q, r01, r23)                                  \
  const I16x8 sum = r01 + r23, difference = r01 - r23;                  \
  const I16x8 p = lo64(sum, difference), q = hi64(sum, difference)

SSE4_INLINE void hadamardDimension(I16x8 *r01, I16x8 *r23) {
  HADAMARD_PARTS(p, q, *r01, *r23);
  const I16x8 minus = p - q;
  *r01 = p + q;
  *r23 = (I16x8)_mm_shuffle_epi32((__m128i)minus, 0x4e);
}

SSE4_INLINE void hadamard4x4Inverse(int16_t dc[16]) {
  I16x8 r01 = (I16x8)load16(dc), r23 = (I16x8)load16(dc + 8);
  hadamardDimension(&r01, &r23);
  TRANSPOSE4_ROW_PAIRS(I16x8, r01, r23, lo16, hi16);
  hadamardDimension(&r01, &r23);
  TRANSPOSE4_ROW_PAIRS(I16x8, r01, r23, lo16, hi16);
  store16(dc, (__m128i)r01), store16(dc + 8, (__m128i)r23);
}

// (a + b + 1) >> 1 of int16_t without overflow.
SSE4_INLINE I16x8 averageSigned(I16x8 a, I16x8 b) {
  const __m128i bias = _mm_set1_epi16(INT16_MIN);
  return (I16x8)_mm_xor_si128(
      _mm_avg_epu16(_mm_xor_si128((__m128i)a, bias), _mm_xor_si128((__m128i)b, bias)), bias);
}

SSE4_INLINE void hadamard4x4Forward(int16_t dc[16]) {
  I16x8 r01 = (I16x8)load16(dc), r23 = (I16x8)load16(dc + 8);
  hadamardDimension(&r01, &r23);
  TRANSPOSE4_ROW_PAIRS(I16x8, r01, r23, lo16, hi16);
  HADAMARD_PARTS(p, q, r01, r23);
  r01 = averageSigned(p, q);
  r23 = (I16x8)_mm_shuffle_epi32((__m128i)averageSigned(p, -q), 0x4e);
  TRANSPOSE4_ROW_PAIRS(I16x8, r01, r23, lo16, hi16);
  store16(dc, (__m128i)r01), store16(dc + 8, (__m128i)r23);
}

// MARK: - The table

ON_BOTH_PATHS(void, forward4x4, (int16_t coef[16], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride), coef, src, pred, stride)
ON_BOTH_PATHS(void, forward8x8, (int16_t coef[64], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride), coef, src, pred, stride)
ON_BOTH_PATHS(void, inverse4x4, (uint8_t *dst, ptrdiff_t stride, const int16_t coef[16]), dst, stride, coef)
ON_BOTH_PATHS(void, inverse4x4DC, (uint8_t *dst, ptrdiff_t stride, int dc), dst, stride, dc)
ON_BOTH_PATHS(void, inverse8x8, (uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]), dst, stride, coef)
ON_BOTH_PATHS(void, hadamard4x4Forward, (int16_t dc[16]), dc)
ON_BOTH_PATHS(void, hadamard4x4Inverse, (int16_t dc[16]), dc)

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

void ovt_transform_avx2(OVTKernels *k) {
  k->isEmpty16x16 = isEmpty16x16Avx2;
  k->isEmptyNV12 = isEmptyNV12Avx2;
  k->forward4x4 = forward4x4Avx2;
  k->forward8x8 = forward8x8Avx2;
  k->inverse4x4 = inverse4x4Avx2;
  k->inverse4x4DC = inverse4x4DCAvx2;
  k->inverse8x8 = inverse8x8Avx2;
  k->hadamard4x4Forward = hadamard4x4ForwardAvx2;
  k->hadamard4x4Inverse = hadamard4x4InverseAvx2;
  k->forward4x4x16 = forward4x4x16Avx2;
  k->forward8x8x4 = forward8x8x4Avx2;
  k->forwardNV12 = forwardNV12Avx2;
  k->inverse4x4x4 = inverse4x4x4Avx2;
  k->inverse4x4x16 = inverse4x4x16Avx2;
  k->inverseNV12 = inverseNV12Avx2;
}

#endif
