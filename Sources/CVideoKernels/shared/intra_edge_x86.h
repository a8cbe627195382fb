// SPDX-License-Identifier: Apache-2.0
// Intra_4x4 and Intra_8x8 from an edge (8.3.1.2, 8.3.2.2), and the filter of the latter's reference
// samples. What the x86 sets share.
#ifndef OVT_INTRA_EDGE_X86_H
#define OVT_INTRA_EDGE_X86_H

#include "x86.h"

#if OVT_X86

// MARK: - Intra_4x4 (8.3.1.2) and Intra_8x8 (8.3.2.2)

// The diagonal modes take each row from one line of filtered edge samples (or two that alternate),
// a step further along it: the line goes to memory once and the rows are read from it.

SSE4_INLINE __m128i taps3(__m128i before, __m128i centre, __m128i after) {  // (a + 2b + c + 2) >> 2
  const __m128i odd = _mm_and_si128(_mm_xor_si128(before, after), splat(1));
  return _mm_avg_epu8(centre, _mm_sub_epi8(_mm_avg_epu8(before, after), odd));
}
SSE4_INLINE __m128i taps3At(const uint8_t *e) { return taps3(load16(e - 1), load16(e), load16(e + 1)); }
SSE4_INLINE __m128i taps2At(const uint8_t *e) { return _mm_avg_epu8(load16(e), load16(e + 1)); }

// Rows y of n samples from line[start + step * (y / every)].
#define ROWS(N, FIRST, EVERY, LINE, START, STEP)                                              \
  for (int y = FIRST; y < N; y += EVERY) {                                                    \
    const uint8_t *from = (LINE) + (START) + (STEP) * (y / EVERY);                            \
    if (N == 4) store4(dst + y * stride, load4(from)); else store8(dst + y * stride, load8(from)); \
  }

SSE4_INLINE void fillN(uint8_t *dst, ptrdiff_t stride, int n, __m128i v) {
  for (int y = 0; y < n; y++) {
    if (n == 4) store4(dst + y * stride, v); else store8(dst + y * stride, v);
  }
}

SSE4_INLINE int edgeSum(const uint8_t *e, int n) {
  return _mm_cvtsi128_si32(_mm_sad_epu8(n == 4 ? load4(e) : load8(e), _mm_setzero_si128()));
}

SSE4_INLINE void vertical(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  fillN(dst, stride, n, load8(edge + 1));
}
SSE4_INLINE void horizontal(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  for (int y = 0; y < n; y++, dst += stride) {
    if (n == 4) store4(dst, splat(edge[-1 - y])); else store8(dst, splat(edge[-1 - y]));
  }
}
SSE4_INLINE void dc(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  fillN(dst, stride, n, splat((edgeSum(edge - n, n) + edgeSum(edge + 1, n) + n) >> (n == 4 ? 3 : 4)));
}
SSE4_INLINE void dcLeft(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  fillN(dst, stride, n, splat((edgeSum(edge - n, n) + n / 2) >> (n == 4 ? 2 : 3)));
}
SSE4_INLINE void dcTop(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  fillN(dst, stride, n, splat((edgeSum(edge + 1, n) + n / 2) >> (n == 4 ? 2 : 3)));
}
SSE4_INLINE void dc128(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  (void)edge;
  fillN(dst, stride, n, splat(128));
}

SSE4_INLINE void diagonalDownLeft(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  // The last sample stands for the one after it.
  const __m128i top = load16(edge + 1);
  const __m128i centre = n == 4 ? _mm_setr_epi8(1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)
                                : _mm_setr_epi8(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15);
  const __m128i after = n == 4 ? _mm_setr_epi8(2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)
                               : _mm_setr_epi8(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 15);
  uint8_t line[16];
  store16(line, taps3(top, _mm_shuffle_epi8(top, centre), _mm_shuffle_epi8(top, after)));
  ROWS(n, 0, 1, line, 0, 1)
}

SSE4_INLINE void diagonalDownRight(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  uint8_t line[16];
  store16(line, taps3At(edge + 1 - n));
  ROWS(n, 0, 1, line, n - 1, -1)
}

SSE4_INLINE void verticalRight(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  // Even rows: every second sample filtered from the left column, then averages of the row above.
  // Odd rows: the others, then filtered samples of the row above.
  const __m128i above3 = taps3At(edge), above2 = taps2At(edge);
  uint8_t even[16], odd[16];
  if (n == 4) {
    const __m128i left3 = taps3At(edge - 2);
    const __m128i first = _mm_setr_epi8(0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    store16(even, _mm_or_si128(_mm_slli_si128(above2, 1), _mm_shuffle_epi8(_mm_srli_si128(left3, 1), first)));
    store16(odd, _mm_or_si128(_mm_slli_si128(above3, 1), _mm_shuffle_epi8(left3, first)));
  } else {
    const __m128i left3 = taps3At(edge - 6);
    const __m128i second = _mm_setr_epi8(1, 3, 5, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i first = _mm_setr_epi8(0, 2, 4, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    store16(even, _mm_or_si128(_mm_slli_si128(above2, 3), _mm_shuffle_epi8(left3, second)));
    store16(odd, _mm_or_si128(_mm_slli_si128(above3, 3), _mm_shuffle_epi8(left3, first)));
  }
  ROWS(n, 0, 2, even, n / 2 - 1, -1)
  ROWS(n, 1, 2, odd, n / 2 - 1, -1)
}

SSE4_INLINE void horizontalDown(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  // From the lowest on the left: averages and filtered samples in turn; past the corner filtered
  // ones.
  uint8_t line[32];
  const __m128i turns = _mm_unpacklo_epi8(taps2At(edge - n), taps3At(edge - n + 1)), above3 = taps3At(edge + 1);
  if (n == 4) {
    store16(line, _mm_unpacklo_epi64(turns, above3));
  } else {
    store16(line, turns), store16(line + 16, above3);
  }
  ROWS(n, 0, 1, line, 2 * n - 2, -2)
}

SSE4_INLINE void verticalLeft(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  uint8_t even[16], odd[16];
  store16(even, taps2At(edge + 1)), store16(odd, taps3At(edge + 2));
  ROWS(n, 0, 2, even, 0, 1)
  ROWS(n, 1, 2, odd, 0, 1)
}

SSE4_INLINE void horizontalUp(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int n) {
  // Downwards, the lowest sample standing for all below it.
  const __m128i left = load8(edge - 8);
  const __m128i from0 = n == 4 ? _mm_setr_epi8(7, 6, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4)
                               : _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m128i from1 = n == 4 ? _mm_setr_epi8(6, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4)
                               : _mm_setr_epi8(6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m128i from2 = n == 4 ? _mm_setr_epi8(5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4)
                               : _mm_setr_epi8(5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m128i v0 = _mm_shuffle_epi8(left, from0), v1 = _mm_shuffle_epi8(left, from1);
  const __m128i two = _mm_avg_epu8(v0, v1), three = taps3(v0, v1, _mm_shuffle_epi8(left, from2));
  uint8_t line[32];
  store16(line, _mm_unpacklo_epi8(two, three)), store16(line + 16, _mm_unpackhi_epi8(two, three));
  ROWS(n, 0, 1, line, 0, 2)
}

// MARK: - Reference samples of Intra_8x8 (8.3.2.2.1)

SSE4_INLINE void filterEdge8x8(uint8_t *out, const uint8_t *edge, int available) {
  const int hasLeft = available & 1, hasTop = available & 2, hasCorner = available & 4;
  // A sample that is missing at an end is the last one again.
  const __m128i left = load8(edge - 8), top = load16(edge + 1);
  const __m128i below = _mm_shuffle_epi8(left, _mm_setr_epi8(0, 0, 1, 2, 3, 4, 5, 6, -1, -1, -1, -1, -1, -1, -1, -1));
  __m128i above = _mm_shuffle_epi8(left, _mm_setr_epi8(1, 2, 3, 4, 5, 6, 7, 7, -1, -1, -1, -1, -1, -1, -1, -1));
  __m128i before = _mm_shuffle_epi8(top, _mm_setr_epi8(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14));
  const __m128i after = _mm_shuffle_epi8(top, _mm_setr_epi8(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15));
  if (hasCorner) {
    above = _mm_insert_epi8(above, edge[0], 7);
    before = _mm_insert_epi8(before, edge[0], 0);
    const int a = hasLeft ? edge[-1] : edge[0], b = hasTop ? edge[1] : edge[0];
    out[0] = (uint8_t)((a + 2 * edge[0] + b + 2) >> 2);
  }
  store8(out - 8, taps3(below, left, above));
  store16(out + 1, taps3(before, top, after));
}

// MARK: - Both sizes

#define OF_SIZE(NAME, N) \
  SSE4_INLINE void NAME##N(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge) { NAME(dst, stride, edge, N); }
#define OF_BOTH_SIZES(NAME) OF_SIZE(NAME, 4) OF_SIZE(NAME, 8)
OF_BOTH_SIZES(vertical)
OF_BOTH_SIZES(horizontal)
OF_BOTH_SIZES(dc)
OF_BOTH_SIZES(diagonalDownLeft)
OF_BOTH_SIZES(diagonalDownRight)
OF_BOTH_SIZES(verticalRight)
OF_BOTH_SIZES(horizontalDown)
OF_BOTH_SIZES(verticalLeft)
OF_BOTH_SIZES(horizontalUp)
OF_BOTH_SIZES(dcLeft)
OF_BOTH_SIZES(dcTop)
OF_BOTH_SIZES(dc128)

#endif  // OVT_X86
#endif
