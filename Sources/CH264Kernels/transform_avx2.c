// SPDX-License-Identifier: Apache-2.0
// Residual transforms (8.5): forward, and inverse with reconstruction. AVX2.

#include "transform_x86.h"

#if OVT_X86

// MARK: - Transposing

AVX2_INLINE I16x16 lo16w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpacklo_epi16((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 hi16w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpackhi_epi16((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 lo32w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpacklo_epi32((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 hi32w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpackhi_epi32((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 lo64w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpacklo_epi64((__m256i)a, (__m256i)b); }
AVX2_INLINE I16x16 hi64w(I16x16 a, I16x16 b) { return (I16x16)_mm256_unpackhi_epi64((__m256i)a, (__m256i)b); }

// MARK: - Forward

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

AVX2_INLINE __m256i levels16(I16x16 c, __m256i mf, __m256i bias) {
  return _mm256_sign_epi16(_mm256_mulhi_epu16(_mm256_add_epi16(_mm256_abs_epi16((__m256i)c), bias), mf), (__m256i)c);
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

// MARK: - Inverse

AVX2_INLINE __m256i roundResidual256(I16x16 v) {
  return _mm256_mulhrs_epi16((__m256i)v, _mm256_set1_epi16(512));
}

// Four blocks to residuals: a and b side by side in the lower halves of v, c and d in the upper
// ones.
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

// MARK: - The table

SHARED_KERNELS(AVX2, Avx2)

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
