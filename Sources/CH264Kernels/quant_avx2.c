// SPDX-License-Identifier: Apache-2.0
// Quantisation, scaling (8.5.12.1, 8.5.13.1) and scans (8.5.6, 8.5.7) of coefficients. AVX2.

#include "quant_x86.h"

#if OVT_X86

// MARK: - Quantisation

AVX2_INLINE __m256i quantise256(int16_t *coef, __m256i mf, __m256i bias) {
  const __m256i c = load32(coef);
  const __m256i level = _mm256_sign_epi16(_mm256_mulhi_epu16(_mm256_add_epi16(_mm256_abs_epi16(c), bias), mf), c);
  store32(coef, level);
  return level;
}

AVX2_INLINE int isNotZero256(__m256i v) { return !_mm256_testz_si256(v, v); }

AVX2 static int quant4x4Avx2(int16_t coef[16], const uint16_t mf[16], const uint16_t bias[16]) {
  return isNotZero256(quantise256(coef, load32(mf), load32(bias)));
}

AVX2 static int quant4x4x4Avx2(int16_t coef[64], const uint16_t mf[16], const uint16_t bias[16]) {
  const __m256i m = load32(mf), b = load32(bias);
  const __m256i l0 = quantise256(coef, m, b), l1 = quantise256(coef + 16, m, b);
  const __m256i l2 = quantise256(coef + 32, m, b), l3 = quantise256(coef + 48, m, b);
  return isNotZero256(l0) | isNotZero256(l1) << 1 | isNotZero256(l2) << 2 | isNotZero256(l3) << 3;
}

AVX2 static int quant8x8Avx2(int16_t coef[64], const uint16_t mf[64], const uint16_t bias[64]) {
  __m256i any = _mm256_setzero_si256();
  for (int i = 0; i < 64; i += 16) any = _mm256_or_si256(any, quantise256(coef + i, load32(mf + i), load32(bias + i)));
  return isNotZero256(any);
}

// MARK: - Scaling

AVX2 static void scale4x4Avx2(int16_t coef[16], const int16_t scale[16]) {
  store32(coef, _mm256_mullo_epi16(load32(coef), load32(scale)));
}

AVX2 static void scale4x4x4Avx2(int16_t coef[64], const int16_t scale[16]) {
  const __m256i s = load32(scale);
  for (int i = 0; i < 64; i += 16) store32(coef + i, _mm256_mullo_epi16(load32(coef + i), s));
}

AVX2 static void scale8x8Avx2(int16_t coef[64], const int16_t scale[64], int shift) {
  const __m256i rounding = _mm256_set1_epi16((short)(shift > 0 ? 1 << (shift - 1) : 0));
  const __m256i one = _mm256_set1_epi16(1);
  const __m128i count = _mm_cvtsi32_si128(shift);
  for (int i = 0; i < 64; i += 16) {
    const __m256i c = load32(coef + i), s = load32(scale + i);
    const __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(c, one), _mm256_unpacklo_epi16(s, rounding));
    const __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(c, one), _mm256_unpackhi_epi16(s, rounding));
    store32(coef + i, _mm256_packs_epi32(_mm256_sra_epi32(low, count), _mm256_sra_epi32(high, count)));
  }
}

// MARK: - Scans

// MARK: - The table

SHARED_KERNELS(AVX2, Avx2)

void ovt_quant_avx2(OVTKernels *k) { FILL(Avx2) }

#endif
