// SPDX-License-Identifier: Apache-2.0
// Quantisation, scaling (8.5.12.1, 8.5.13.1) and scans (8.5.6, 8.5.7) of coefficients. SSE4.

#include "quant_x86.h"

#if OVT_X86

// MARK: - Quantisation

SSE4_INLINE __m128i quantise16(int16_t *coef, const uint16_t *mf, const uint16_t *bias) {
  return _mm_or_si128(quantise(coef, load16(mf), load16(bias)), quantise(coef + 8, load16(mf + 8), load16(bias + 8)));
}

SSE4 static int quant4x4Sse4(int16_t coef[16], const uint16_t mf[16], const uint16_t bias[16]) {
  return isNotZero(quantise16(coef, mf, bias));
}

SSE4 static int quant4x4x4Sse4(int16_t coef[64], const uint16_t mf[16], const uint16_t bias[16]) {
  int blocks = 0;
  for (int i = 0; i < 4; i++) blocks |= isNotZero(quantise16(coef + 16 * i, mf, bias)) << i;
  return blocks;
}

SSE4 static int quant8x8Sse4(int16_t coef[64], const uint16_t mf[64], const uint16_t bias[64]) {
  __m128i any = _mm_setzero_si128();
  for (int i = 0; i < 64; i += 16) any = _mm_or_si128(any, quantise16(coef + i, mf + i, bias + i));
  return isNotZero(any);
}

// MARK: - Scaling

SSE4 static void scale4x4Sse4(int16_t coef[16], const int16_t scale[16]) {
  for (int i = 0; i < 16; i += 8) store16(coef + i, _mm_mullo_epi16(load16(coef + i), load16(scale + i)));
}

SSE4 static void scale4x4x4Sse4(int16_t coef[64], const int16_t scale[16]) {
  const __m128i low = load16(scale), high = load16(scale + 8);
  for (int i = 0; i < 64; i += 16) {
    store16(coef + i, _mm_mullo_epi16(load16(coef + i), low));
    store16(coef + i + 8, _mm_mullo_epi16(load16(coef + i + 8), high));
  }
}

// c * scale + 1 * rounding in 32 bits.
SSE4 static void scale8x8Sse4(int16_t coef[64], const int16_t scale[64], int shift) {
  const __m128i rounding = _mm_set1_epi16((short)(shift > 0 ? 1 << (shift - 1) : 0)), one = _mm_set1_epi16(1);
  const __m128i count = _mm_cvtsi32_si128(shift);
  for (int i = 0; i < 64; i += 8) {
    const __m128i c = load16(coef + i), s = load16(scale + i);
    const __m128i low = _mm_madd_epi16(_mm_unpacklo_epi16(c, one), _mm_unpacklo_epi16(s, rounding));
    const __m128i high = _mm_madd_epi16(_mm_unpackhi_epi16(c, one), _mm_unpackhi_epi16(s, rounding));
    store16(coef + i, _mm_packs_epi32(_mm_sra_epi32(low, count), _mm_sra_epi32(high, count)));
  }
}

// MARK: - The table

SHARED_KERNELS(SSE4, Sse4)

void ovt_quant_sse4(OVTKernels *k) { FILL(Sse4) }

#endif
