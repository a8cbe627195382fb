// SPDX-License-Identifier: Apache-2.0
// Quantisation, scaling (8.5.12.1, 8.5.13.1) and scans (8.5.6, 8.5.7) of coefficients. What the x86
// sets share.
#ifndef OVT_QUANT_X86_H
#define OVT_QUANT_X86_H

#include "stages.h"
#include "x86.h"

#if OVT_X86

// MARK: - Quantisation

SSE4_INLINE __m128i quantise(int16_t *coef, __m128i mf, __m128i bias) {
  const __m128i c = load16(coef);
  const __m128i level = _mm_sign_epi16(_mm_mulhi_epu16(_mm_add_epi16(_mm_abs_epi16(c), bias), mf), c);
  store16(coef, level);
  return level;
}

SSE4_INLINE int isNotZero(__m128i v) { return !_mm_testz_si128(v, v); }

SSE4_INLINE int quantDC(int16_t *coef, int n, int mf, int bias) {
  const __m128i m = _mm_set1_epi16((short)mf), b = _mm_set1_epi16((short)bias);
  if (n == 16) return isNotZero(_mm_or_si128(quantise(coef, m, b), quantise(coef + 8, m, b)));
  const __m128i c = load8(coef);
  const __m128i level = _mm_sign_epi16(_mm_mulhi_epu16(_mm_add_epi16(_mm_abs_epi16(c), b), m), c);
  store8(coef, level);
  return isNotZero(level);
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

// MARK: - Kernels

// Bodies that every set compiles for itself: the same instructions, from AVX2 on with three
// operands.
#define SHARED_KERNELS(SET, SUFFIX) \
  KERNEL(SET, SUFFIX, int, quantDC, (int16_t *coef, int n, int mf, int bias), coef, n, mf, bias) \
  KERNEL(SET, SUFFIX, void, scan4x4, (int16_t level[16], const int16_t coef[16]), level, coef) \
  KERNEL(SET, SUFFIX, void, scan8x8, (int16_t level[64], const int16_t coef[64]), level, coef) \
  KERNEL(SET, SUFFIX, void, interleave8x8, (int16_t out[64], const int16_t level[64]), out, level)

#define FILL(SUFFIX)                           \
  k->quant4x4 = quant4x4##SUFFIX;              \
  k->quant4x4x4 = quant4x4x4##SUFFIX;          \
  k->quant8x8 = quant8x8##SUFFIX;              \
  k->quantDC = quantDC##SUFFIX;                \
  k->scale4x4 = scale4x4##SUFFIX;              \
  k->scale4x4x4 = scale4x4x4##SUFFIX;          \
  k->scale8x8 = scale8x8##SUFFIX;              \
  k->scan4x4 = scan4x4##SUFFIX;                \
  k->scan8x8 = scan8x8##SUFFIX;                \
  k->interleave8x8 = interleave8x8##SUFFIX;

#endif  // OVT_X86
#endif
