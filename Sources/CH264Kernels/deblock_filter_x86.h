// SPDX-License-Identifier: Apache-2.0
// Deblocking filter of a line of samples (8.7.2.3, 8.7.2.4). What the x86 sets share.
#ifndef OVT_DEBLOCK_FILTER_X86_H
#define OVT_DEBLOCK_FILTER_X86_H

#include "stages.h"
#include "x86.h"

#if OVT_X86

// One register holds a line of 16 samples along the edge: p3 p2 p1 p0 | q0 q1 q2 q3 lie across it.
// Vertical edges are transposed, filtered and transposed back. Chroma lines hold 8 pairs.

typedef struct {
  __m128i p3, p2, p1, p0, q0, q1, q2, q3;
} Lines;

// MARK: - Conditions

SSE4_INLINE __m128i distance(__m128i a, __m128i b) {
  return _mm_or_si128(_mm_subs_epu8(a, b), _mm_subs_epu8(b, a));
}

// All ones where a >= limit.
SSE4_INLINE __m128i atLeast(__m128i a, __m128i limit) { return _mm_cmpeq_epi8(_mm_max_epu8(a, limit), a); }

// filterSamplesFlag but for bS.
SSE4_INLINE __m128i isFiltered(const Lines *l, int alpha, int beta) {
  const __m128i steps = _mm_max_epu8(distance(l->p1, l->p0), distance(l->q1, l->q0));
  const __m128i isEdge = _mm_or_si128(atLeast(distance(l->p0, l->q0), splat(alpha)), atLeast(steps, splat(beta)));
  return _mm_xor_si128(isEdge, splat(-1));
}

// MARK: - bS < 4

// p0 and q0 by delta, which tC limits; tC = 0 leaves them.
SSE4_INLINE void applyDelta(Lines *l, __m128i tC) {
  const __m128i four = _mm_set1_epi16((short)(4 | -4 * 256)), one = _mm_set1_epi16(1 | -1 * 256);
  const __m128i round = _mm_set1_epi16(4096);  // pmulhrsw: (v + 4) >> 3
  const __m128i low = _mm_add_epi16(_mm_maddubs_epi16(_mm_unpacklo_epi8(l->q0, l->p0), four),
                                    _mm_maddubs_epi16(_mm_unpacklo_epi8(l->p1, l->q1), one));
  const __m128i high = _mm_add_epi16(_mm_maddubs_epi16(_mm_unpackhi_epi8(l->q0, l->p0), four),
                                     _mm_maddubs_epi16(_mm_unpackhi_epi8(l->p1, l->q1), one));
  __m128i delta = _mm_packs_epi16(_mm_mulhrs_epi16(low, round), _mm_mulhrs_epi16(high, round));
  delta = _mm_min_epi8(_mm_max_epi8(delta, _mm_sub_epi8(_mm_setzero_si128(), tC)), tC);
  const __m128i sign = splat(-128);
  l->p0 = _mm_xor_si128(_mm_adds_epi8(_mm_xor_si128(l->p0, sign), delta), sign);
  l->q0 = _mm_xor_si128(_mm_subs_epi8(_mm_xor_si128(l->q0, sign), delta), sign);
}

// p1 (or q1) moved towards (p2 + ((p0 + q0 + 1) >> 1)) >> 1, by tC0 at most.
SSE4_INLINE __m128i second(__m128i p1, __m128i p2, __m128i middle, __m128i tC0) {
  const __m128i odd = _mm_and_si128(_mm_xor_si128(p2, middle), splat(1));
  const __m128i goal = _mm_sub_epi8(_mm_avg_epu8(p2, middle), odd);
  return _mm_min_epu8(_mm_max_epu8(goal, _mm_subs_epu8(p1, tC0)), _mm_adds_epu8(p1, tC0));
}

// Whether any sample is filtered.
SSE4_INLINE int lumaNormal(Lines *l, int alpha, int beta, __m128i t) {
  const __m128i mask = _mm_andnot_si128(_mm_cmpgt_epi8(_mm_setzero_si128(), t), isFiltered(l, alpha, beta));
  if (_mm_testz_si128(mask, mask)) return 0;
  t = _mm_and_si128(t, mask);
  const __m128i pIsFlat = _mm_andnot_si128(atLeast(distance(l->p2, l->p0), splat(beta)), mask);
  const __m128i qIsFlat = _mm_andnot_si128(atLeast(distance(l->q2, l->q0), splat(beta)), mask);
  const __m128i middle = _mm_avg_epu8(l->p0, l->q0), p1 = l->p1, q1 = l->q1;
  applyDelta(l, _mm_sub_epi8(_mm_sub_epi8(t, pIsFlat), qIsFlat));
  l->p1 = second(p1, l->p2, middle, _mm_and_si128(t, pIsFlat));
  l->q1 = second(q1, l->q2, middle, _mm_and_si128(t, qIsFlat));
  return 1;
}

SSE4_INLINE int chromaNormal(Lines *l, int alpha, int beta, __m128i t) {
  const __m128i mask = _mm_andnot_si128(_mm_cmpgt_epi8(_mm_setzero_si128(), t), isFiltered(l, alpha, beta));
  if (_mm_testz_si128(mask, mask)) return 0;
  applyDelta(l, _mm_and_si128(_mm_add_epi8(t, splat(1)), mask));
  return 1;
}

// MARK: - bS = 4

// (2 * p1 + p0 + q1 + 2) >> 2: the average with p1 of the average, rounded down, of p0 and q1.
SSE4_INLINE __m128i weak(__m128i p1, __m128i p0, __m128i q1) {
  const __m128i odd = _mm_and_si128(_mm_xor_si128(p0, q1), splat(1));
  return _mm_avg_epu8(p1, _mm_sub_epi8(_mm_avg_epu8(p0, q1), odd));
}

SSE4_INLINE int chromaStrong(Lines *l, int alpha, int beta) {
  const __m128i mask = isFiltered(l, alpha, beta);
  if (_mm_testz_si128(mask, mask)) return 0;
  const __m128i p0 = weak(l->p1, l->p0, l->q1), q0 = weak(l->q1, l->q0, l->p1);
  l->p0 = _mm_blendv_epi8(l->p0, p0, mask);
  l->q0 = _mm_blendv_epi8(l->q0, q0, mask);
  return 1;
}

typedef uint16_t U16x8 __attribute__((vector_size(16)));

typedef struct {
  __m128i p0, p1, p2;
} Side;

// The strong filter of one side, in 16 bits, for the lower or the upper eight samples.
#define STRONG_HALF(WIDEN)                                                                             \
  do {                                                                                                 \
    const U16x8 P3 = (U16x8)WIDEN(p3), P2 = (U16x8)WIDEN(p2), P1 = (U16x8)WIDEN(p1), P0 = (U16x8)WIDEN(p0); \
    const U16x8 Q0 = (U16x8)WIDEN(q0), Q1 = (U16x8)WIDEN(q1);                                          \
    const U16x8 sum = P1 + P0 + Q0, all = sum + P2;                                                    \
    r0[half] = (__m128i)((sum + all + Q1 + 4) >> 3);                                                   \
    r1[half] = (__m128i)((all + 2) >> 2);                                                              \
    r2[half] = (__m128i)((all + 2 * (P3 + P2) + 4) >> 3);                                              \
    half++;                                                                                            \
  } while (0)
#define WIDEN_LOW(v) _mm_unpacklo_epi8(v, _mm_setzero_si128())
#define WIDEN_HIGH(v) _mm_unpackhi_epi8(v, _mm_setzero_si128())

SSE4_INLINE Side strongSide(__m128i p3, __m128i p2, __m128i p1, __m128i p0, __m128i q0, __m128i q1) {
  __m128i r0[2], r1[2], r2[2];
  int half = 0;
  STRONG_HALF(WIDEN_LOW);
  STRONG_HALF(WIDEN_HIGH);
  const Side side = {_mm_packus_epi16(r0[0], r0[1]), _mm_packus_epi16(r1[0], r1[1]),
                     _mm_packus_epi16(r2[0], r2[1])};
  return side;
}

SSE4_INLINE int lumaStrong(Lines *l, int alpha, int beta) {
  const __m128i mask = isFiltered(l, alpha, beta);
  if (_mm_testz_si128(mask, mask)) return 0;
  const __m128i isSmall = _mm_andnot_si128(atLeast(distance(l->p0, l->q0), splat((alpha >> 2) + 2)), mask);
  const __m128i pIsFlat = _mm_andnot_si128(atLeast(distance(l->p2, l->p0), splat(beta)), isSmall);
  const __m128i qIsFlat = _mm_andnot_si128(atLeast(distance(l->q2, l->q0), splat(beta)), isSmall);
  const Side p = strongSide(l->p3, l->p2, l->p1, l->p0, l->q0, l->q1);
  const Side q = strongSide(l->q3, l->q2, l->q1, l->q0, l->p0, l->p1);
  const __m128i p0 = weak(l->p1, l->p0, l->q1), q0 = weak(l->q1, l->q0, l->p1);
  l->p0 = _mm_blendv_epi8(_mm_blendv_epi8(l->p0, p0, mask), p.p0, pIsFlat);
  l->q0 = _mm_blendv_epi8(_mm_blendv_epi8(l->q0, q0, mask), q.p0, qIsFlat);
  l->p1 = _mm_blendv_epi8(l->p1, p.p1, pIsFlat);
  l->q1 = _mm_blendv_epi8(l->q1, q.p1, qIsFlat);
  l->p2 = _mm_blendv_epi8(l->p2, p.p2, pIsFlat);
  l->q2 = _mm_blendv_epi8(l->q2, q.p2, qIsFlat);
  return 1;
}

#endif  // OVT_X86
#endif
