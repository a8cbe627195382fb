// SPDX-License-Identifier: Apache-2.0
// Residual transforms (8.5): forward, and inverse with reconstruction. What the x86 sets share.
#ifndef OVT_TRANSFORM_X86_H
#define OVT_TRANSFORM_X86_H

#include "stages.h"
#include "x86.h"

#if OVT_X86

enum { SRC = 16 };  // row stride of the macroblock cache

// The butterflies are the same for any vector of int16_t; `v` is an array of vectors, one for each
// row (or column) of the blocks that lie side by side in the lanes.

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

// 4x4 blocks A and B in the halves of each 128-bit lane. `v` = rows to columns; the halves of
// `pairs` are rows 0 and 1 of A, 2 and 3 of A, the same of B.
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

// MARK: - Forward

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

SSE4_INLINE void forward8x8(int16_t coef[64], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  I16x8 v[8];
  for (int y = 0; y < 8; y++) v[y] = difference8(src + y * SRC, pred + y * stride);
  FORWARD8(I16x8, v);
  TRANSPOSE8(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
  FORWARD8(I16x8, v);
  TRANSPOSE8(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
  for (int y = 0; y < 8; y++) store16(coef + 8 * y, (__m128i)v[y]);
}

// MARK: - Whether anything is left

// Row (or column, since mf and bias are symmetric) i of the quantiser for blocks side by side.
SSE4_INLINE __m128i quantiserRow(const uint16_t q[16], int i) {
  const __m128i row = load8(q + 4 * i);
  return _mm_unpacklo_epi64(row, row);
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

// MARK: - Inverse

SSE4_INLINE __m128i roundResidual(I16x8 v) {  // (v + 32) >> 6
  return _mm_mulhrs_epi16((__m128i)v, _mm_set1_epi16(512));
}

// Rows 0, 1 and 2, 3 of a block to its columns 0, 1 and 2, 3.
#define TRANSPOSE4_ROW_PAIRS(T, r01, r23, LO16, HI16)                   \
  do {                                                                  \
    const T even = LO16(r01, r23), odd = HI16(r01, r23);                \
    r01 = LO16(even, odd), r23 = HI16(even, odd);                       \
  } while (0)

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

SSE4_INLINE void inverse8x8(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]) {
  I16x8 v[8];
  for (int y = 0; y < 8; y++) v[y] = (I16x8)load16(coef + 8 * y);
  TRANSPOSE8(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
  INVERSE8(I16x8, v);
  TRANSPOSE8(I16x8, v, lo16, hi16, lo32, hi32, lo64, hi64);
  INVERSE8(I16x8, v);
  for (int y = 0; y < 8; y += 2) addRows8(dst + y * stride, stride, v[y], v[y + 1]);
}

// MARK: - Hadamard

// One dimension, rows 0 and 1 in `*r01`, 2 and 3 in `*r23`, except its last butterfly: the halves
// of p + q are rows 0 and 1, those of p - q rows 3 and 2.
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

// MARK: - Kernels

// Bodies that every set compiles for itself: the same instructions, from AVX2 on with three
// operands.
#define SHARED_KERNELS(SET, SUFFIX) \
  KERNEL(SET, SUFFIX, void, forward4x4, (int16_t coef[16], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride), coef, src, pred, stride) \
  KERNEL(SET, SUFFIX, void, forward8x8, (int16_t coef[16], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride), coef, src, pred, stride) \
  KERNEL(SET, SUFFIX, void, inverse4x4, (uint8_t *dst, ptrdiff_t stride, const int16_t coef[16]), dst, stride, coef) \
  KERNEL(SET, SUFFIX, void, inverse4x4DC, (uint8_t *dst, ptrdiff_t stride, int dc), dst, stride, dc) \
  KERNEL(SET, SUFFIX, void, inverse8x8, (uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]), dst, stride, coef) \
  KERNEL(SET, SUFFIX, void, hadamard4x4Forward, (int16_t dc[16]), dc) \
  KERNEL(SET, SUFFIX, void, hadamard4x4Inverse, (int16_t dc[16]), dc)

#endif  // OVT_X86
#endif
