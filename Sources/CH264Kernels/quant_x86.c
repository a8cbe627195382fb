// SPDX-License-Identifier: Apache-2.0
// Quantisation, scaling (8.5.12.1, 8.5.13.1) and scans (8.5.6, 8.5.7) of coefficients. SSE4 and AVX2.

#include "x86.h"

#if OVT_X86

// MARK: - Quantisation

SSE4_INLINE __m128i quantise(int16_t *coef, __m128i mf, __m128i bias) {
  const __m128i c = load16(coef);
  const __m128i level = _mm_sign_epi16(_mm_mulhi_epu16(_mm_add_epi16(_mm_abs_epi16(c), bias), mf), c);
  store16(coef, level);
  return level;
}

SSE4_INLINE __m128i quantise16(int16_t *coef, const uint16_t *mf, const uint16_t *bias) {
  return _mm_or_si128(quantise(coef, load16(mf), load16(bias)), quantise(coef + 8, load16(mf + 8), load16(bias + 8)));
}

SSE4_INLINE int isNotZero(__m128i v) { return !_mm_testz_si128(v, v); }

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

SSE4_INLINE int quantDC(int16_t *coef, int n, int mf, int bias) {
  const __m128i m = _mm_set1_epi16((short)mf), b = _mm_set1_epi16((short)bias);
  if (n == 16) return isNotZero(_mm_or_si128(quantise(coef, m, b), quantise(coef + 8, m, b)));
  const __m128i c = load8(coef);
  const __m128i level = _mm_sign_epi16(_mm_mulhi_epu16(_mm_add_epi16(_mm_abs_epi16(c), b), m), c);
  store8(coef, level);
  return isNotZero(level);
}

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

// A shuffle of int16_t lanes by number; -1 makes a lane zero.
#define LANE(i) (char)((i) < 0 ? -1 : 2 * (i)), (char)((i) < 0 ? -1 : 2 * (i) + 1)
#define PICK(v, a, b, c, d, e, f, g, h) \
  _mm_shuffle_epi8(v, _mm_setr_epi8(LANE(a), LANE(b), LANE(c), LANE(d), LANE(e), LANE(f), LANE(g), LANE(h)))
#define _ -1

SSE4_INLINE void scan4x4(int16_t level[16], const int16_t coef[16]) {
  const __m128i low = load16(coef), high = load16(coef + 8);
  const int fourth = coef[8], thirteenth = coef[7];
  store16(level, _mm_insert_epi16(PICK(low, 0, 1, 4, _, 5, 2, 3, 6), fourth, 3));
  store16(level + 8, _mm_insert_epi16(PICK(high, 1, 4, 5, 2, _, 3, 6, 7), thirteenth, 4));
}

SSE4_INLINE __m128i join3(__m128i a, __m128i b, __m128i c) { return _mm_or_si128(_mm_or_si128(a, b), c); }

// Each eighth of the scan crosses some rows: what it takes from each, joined.
SSE4_INLINE void scan8x8(int16_t level[64], const int16_t coef[64]) {
  const __m128i r0 = load16(coef), r1 = load16(coef + 8), r2 = load16(coef + 16), r3 = load16(coef + 24);
  const __m128i r4 = load16(coef + 32), r5 = load16(coef + 40), r6 = load16(coef + 48), r7 = load16(coef + 56);
  store16(level, join3(PICK(r0, 0, 1, _, _, _, 2, 3, _), PICK(r1, _, _, 0, _, 1, _, _, 2),
                       PICK(r2, _, _, _, 0, _, _, _, _)));
  store16(level + 8, join3(join3(PICK(r0, _, _, _, _, _, _, 4, 5), PICK(r1, _, _, _, _, _, 3, _, _),
                                 PICK(r2, 1, _, _, _, 2, _, _, _)),
                           PICK(r3, _, 0, _, 1, _, _, _, _), PICK(r4, _, _, 0, _, _, _, _, _)));
  store16(level + 16, join3(join3(PICK(r1, 4, _, _, _, _, _, _, _), PICK(r2, _, 3, _, _, _, _, _, _),
                                  PICK(r3, _, _, 2, _, _, _, _, _)),
                            join3(PICK(r4, _, _, _, 1, _, _, _, 2), PICK(r5, _, _, _, _, 0, _, 1, _),
                                  PICK(r6, _, _, _, _, _, 0, _, _)),
                            _mm_setzero_si128()));
  store16(level + 24, join3(join3(PICK(r0, _, _, _, 6, 7, _, _, _), PICK(r1, _, _, 5, _, _, 6, _, _),
                                  PICK(r2, _, 4, _, _, _, _, 5, _)),
                            PICK(r3, 3, _, _, _, _, _, _, 4), _mm_setzero_si128()));
  store16(level + 32, join3(join3(PICK(r4, 3, _, _, _, _, _, _, 4), PICK(r5, _, 2, _, _, _, _, 3, _),
                                  PICK(r6, _, _, 1, _, _, 2, _, _)),
                            PICK(r7, _, _, _, 0, 1, _, _, _), _mm_setzero_si128()));
  store16(level + 40, join3(join3(PICK(r1, _, _, 7, _, _, _, _, _), PICK(r2, _, 6, _, 7, _, _, _, _),
                                  PICK(r3, 5, _, _, _, 6, _, _, _)),
                            join3(PICK(r4, _, _, _, _, _, 5, _, _), PICK(r5, _, _, _, _, _, _, 4, _),
                                  PICK(r6, _, _, _, _, _, _, _, 3)),
                            _mm_setzero_si128()));
  store16(level + 48, join3(join3(PICK(r3, _, _, _, _, _, 7, _, _), PICK(r4, _, _, _, _, 6, _, 7, _),
                                  PICK(r5, _, _, _, 5, _, _, _, 6)),
                            PICK(r6, _, _, 4, _, _, _, _, _), PICK(r7, 2, 3, _, _, _, _, _, _)));
  store16(level + 56, join3(PICK(r5, _, _, _, _, 7, _, _, _), PICK(r6, 5, _, _, 6, _, 7, _, _),
                            PICK(r7, _, 4, 5, _, _, _, 6, 7)));
}
#undef _

SSE4_INLINE void interleave8x8(int16_t out[64], const int16_t level[64]) {
  for (int half = 0; half < 2; half++, level += 32, out += 8) {
    // Two of each list, side by side as 32 bits; then a transposition.
    __m128i r[4];
    for (int i = 0; i < 4; i++) r[i] = PICK(load16(level + 8 * i), 0, 4, 1, 5, 2, 6, 3, 7);
    const __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpackhi_epi32(r[0], r[1]);
    const __m128i c = _mm_unpacklo_epi32(r[2], r[3]), d = _mm_unpackhi_epi32(r[2], r[3]);
    store16(out, _mm_unpacklo_epi64(a, c)), store16(out + 16, _mm_unpackhi_epi64(a, c));
    store16(out + 32, _mm_unpacklo_epi64(b, d)), store16(out + 48, _mm_unpackhi_epi64(b, d));
  }
}

SSE4_INLINE uint32_t nonZeroMask16(const int16_t level[16]) {
  const __m128i bytes = _mm_packs_epi16(load16(level), load16(level + 8));
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) ^ 0xffff;
}

SSE4 static uint64_t nonZeroMask64Sse4(const int16_t level[64]) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; i += 16) mask |= (uint64_t)nonZeroMask16(level + i) << i;
  return mask;
}

AVX2_INLINE uint32_t zeroMask32(const int16_t *level) {
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(load32(level), load32(level + 16)), 0xd8);
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256()));
}

AVX2 static uint64_t nonZeroMask64Avx2(const int16_t level[64]) {
  return ~((uint64_t)zeroMask32(level + 32) << 32 | zeroMask32(level));
}

// MARK: - The table

ON_BOTH_PATHS(int, quantDC, (int16_t *coef, int n, int mf, int bias), coef, n, mf, bias)
ON_BOTH_PATHS(void, scan4x4, (int16_t level[16], const int16_t coef[16]), level, coef)
ON_BOTH_PATHS(void, scan8x8, (int16_t level[64], const int16_t coef[64]), level, coef)
ON_BOTH_PATHS(void, interleave8x8, (int16_t out[64], const int16_t level[64]), out, level)
ON_BOTH_PATHS(uint32_t, nonZeroMask16, (const int16_t level[16]), level)

#define FILL(PATH)                           \
  k->quant4x4 = quant4x4##PATH;              \
  k->quant4x4x4 = quant4x4x4##PATH;          \
  k->quant8x8 = quant8x8##PATH;              \
  k->quantDC = quantDC##PATH;                \
  k->scale4x4 = scale4x4##PATH;              \
  k->scale4x4x4 = scale4x4x4##PATH;          \
  k->scale8x8 = scale8x8##PATH;              \
  k->scan4x4 = scan4x4##PATH;                \
  k->scan8x8 = scan8x8##PATH;                \
  k->interleave8x8 = interleave8x8##PATH;    \
  k->nonZeroMask16 = nonZeroMask16##PATH;    \
  k->nonZeroMask64 = nonZeroMask64##PATH;

void ovt_quant_sse4(OVTKernels *k) { FILL(Sse4) }
void ovt_quant_avx2(OVTKernels *k) { FILL(Avx2) }

#endif
