// SPDX-License-Identifier: Apache-2.0
// Scans (8.5.6, 8.5.7) of coefficients. AVX-512.

#include "stages.h"
#include "x86.h"

#if OVT_X86

static const _Alignas(64) uint16_t zigzag8x8[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
static const _Alignas(64) uint16_t everyFourth[64] = {
    0, 4, 8,  12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 1, 5, 9,  13, 17, 21, 25, 29, 33, 37, 41, 45, 49, 53, 57, 61,
    2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50, 54, 58, 62, 3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47, 51, 55, 59, 63};

// 64 levels from where `order` says.
AVX512_INLINE void reorder(int16_t *out, const int16_t *in, const uint16_t order[64]) {
  const __m512i a = load64(in), b = load64(in + 32);
  store64(out, _mm512_permutex2var_epi16(a, load64(order), b));
  store64(out + 32, _mm512_permutex2var_epi16(a, load64(order + 32), b));
}

AVX512 static void scan8x8Avx512(int16_t level[64], const int16_t coef[64]) { reorder(level, coef, zigzag8x8); }
AVX512 static void interleave8x8Avx512(int16_t out[64], const int16_t level[64]) { reorder(out, level, everyFourth); }

void ovt_quant_avx512(OVTKernels *k) {
  k->scan8x8 = scan8x8Avx512, k->interleave8x8 = interleave8x8Avx512;
}

#endif
