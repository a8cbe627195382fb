// SPDX-License-Identifier: Apache-2.0
// Intra prediction samples (8.3). SSE4, and the same with AVX2's encoding.

#include "x86.h"

#if OVT_X86

SSE4_INLINE __m128i splat(int v) { return _mm_set1_epi8((char)v); }

SSE4_INLINE void fillRows16(uint8_t *dst, ptrdiff_t stride, int height, __m128i v) {
  for (int y = 0; y < height; y++) store16(dst + y * stride, v);
}

// MARK: - Intra_16x16 (8.3.3)

SSE4_INLINE int sumTop(const uint8_t *dst, ptrdiff_t stride) {
  return sum64(_mm_sad_epu8(load16(dst - stride), _mm_setzero_si128()));
}

SSE4_INLINE int sumLeft(const uint8_t *dst, ptrdiff_t stride) {
  int sum = 0;
  for (int y = 0; y < 16; y++) sum += dst[y * stride - 1];
  return sum;
}

SSE4_INLINE void vertical16x16(uint8_t *dst, ptrdiff_t stride) { fillRows16(dst, stride, 16, load16(dst - stride)); }
SSE4_INLINE void horizontal16x16(uint8_t *dst, ptrdiff_t stride) {
  for (int y = 0; y < 16; y++, dst += stride) store16(dst, splat(dst[-1]));
}
SSE4_INLINE void dc16x16(uint8_t *dst, ptrdiff_t stride) {
  fillRows16(dst, stride, 16, splat((sumTop(dst, stride) + sumLeft(dst, stride) + 16) >> 5));
}
SSE4_INLINE void dcLeft16x16(uint8_t *dst, ptrdiff_t stride) {
  fillRows16(dst, stride, 16, splat((sumLeft(dst, stride) + 8) >> 4));
}
SSE4_INLINE void dcTop16x16(uint8_t *dst, ptrdiff_t stride) {
  fillRows16(dst, stride, 16, splat((sumTop(dst, stride) + 8) >> 4));
}
SSE4_INLINE void dc128_16x16(uint8_t *dst, ptrdiff_t stride) { fillRows16(dst, stride, 16, splat(128)); }

SSE4_INLINE void plane16x16(uint8_t *dst, ptrdiff_t stride) {
  const uint8_t *top = dst - stride, *left = dst - 1;
  // From the corner on: -8 ... -1, 0, 1 ... 7, and 8 for the last.
  const __m128i weights = _mm_setr_epi8(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
  const int h = sum32(_mm_madd_epi16(_mm_maddubs_epi16(load16(top - 1), weights), _mm_set1_epi16(1))) + 8 * top[15];
  int v = 0;
  for (int i = 0; i < 8; i++) v += (i + 1) * (left[(8 + i) * stride] - left[(6 - i) * stride]);
  const int a = 16 * (left[15 * stride] + top[15]), b = (5 * h + 32) >> 6, c = (5 * v + 32) >> 6;
  const __m128i step = _mm_set1_epi16((short)c), slope = _mm_set1_epi16((short)b);
  __m128i low = _mm_add_epi16(_mm_mullo_epi16(slope, _mm_setr_epi16(-7, -6, -5, -4, -3, -2, -1, 0)),
                              _mm_set1_epi16((short)(a - 7 * c + 16)));
  __m128i high = _mm_add_epi16(low, _mm_slli_epi16(slope, 3));
  for (int y = 0; y < 16; y++, dst += stride) {
    store16(dst, _mm_packus_epi16(_mm_srai_epi16(low, 5), _mm_srai_epi16(high, 5)));
    low = _mm_add_epi16(low, step), high = _mm_add_epi16(high, step);
  }
}

// MARK: - Chroma, 4:2:0, NV12 (8.3.4)

// The pairs of a column, from row `first` on.
SSE4_INLINE __m128i column8(const uint8_t *dst, ptrdiff_t stride, int first) {
  const uint8_t *p = dst - 2 + first * stride;
  uint16_t pairs[8];
  for (int y = 0; y < 8; y++) memcpy(pairs + y, p + y * stride, 2);
  return _mm_setr_epi16((short)pairs[0], (short)pairs[1], (short)pairs[2], (short)pairs[3], (short)pairs[4],
                        (short)pairs[5], (short)pairs[6], (short)pairs[7]);
}

// Sums of 4 pairs each: Cb and Cr of the first four, Cb and Cr of the last four.
SSE4_INLINE __m128i sums4(__m128i pairs) {
  const __m128i split = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
  return _mm_madd_epi16(_mm_maddubs_epi16(_mm_shuffle_epi8(pairs, split), splat(1)), _mm_set1_epi16(1));
}

// Two DC pairs, in the lanes of sums4, to a row.
SSE4_INLINE __m128i dcRow(__m128i dc) {
  return _mm_shuffle_epi8(dc, _mm_setr_epi8(0, 4, 0, 4, 0, 4, 0, 4, 8, 12, 8, 12, 8, 12, 8, 12));
}

SSE4_INLINE __m128i quarter(__m128i sums) { return _mm_srli_epi32(_mm_add_epi32(sums, _mm_set1_epi32(2)), 2); }

SSE4_INLINE void dcChroma(uint8_t *dst, ptrdiff_t stride) {
  const __m128i top = sums4(load16(dst - stride)), left = sums4(column8(dst, stride, 0));
  const __m128i both = _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(top, left), _mm_set1_epi32(4)), 3);
  fillRows16(dst, stride, 4, dcRow(_mm_blend_epi16(both, quarter(top), 0xf0)));
  fillRows16(dst + 4 * stride, stride, 4, dcRow(_mm_unpackhi_epi64(quarter(left), both)));
}
SSE4_INLINE void dcLeftChroma(uint8_t *dst, ptrdiff_t stride) {
  const __m128i left = quarter(sums4(column8(dst, stride, 0)));
  fillRows16(dst, stride, 4, dcRow(_mm_unpacklo_epi64(left, left)));
  fillRows16(dst + 4 * stride, stride, 4, dcRow(_mm_unpackhi_epi64(left, left)));
}
SSE4_INLINE void dcTopChroma(uint8_t *dst, ptrdiff_t stride) {
  fillRows16(dst, stride, 8, dcRow(quarter(sums4(load16(dst - stride)))));
}
SSE4_INLINE void dc128Chroma(uint8_t *dst, ptrdiff_t stride) { fillRows16(dst, stride, 8, splat(128)); }
SSE4_INLINE void horizontalChroma(uint8_t *dst, ptrdiff_t stride) {
  for (int y = 0; y < 8; y++, dst += stride) {
    uint16_t pair;
    memcpy(&pair, dst - 2, 2);
    store16(dst, _mm_set1_epi16((short)pair));
  }
}
SSE4_INLINE void verticalChroma(uint8_t *dst, ptrdiff_t stride) { fillRows16(dst, stride, 8, load16(dst - stride)); }

// Weighted sums of a line of nine pairs around its middle: Cb in lane 0, Cr in lane 1.
SSE4_INLINE __m128i gradients(__m128i pairs, const uint8_t *last) {
  const __m128i split = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  const __m128i weights = _mm_setr_epi8(-4, -3, -2, -1, 0, 1, 2, 3, -4, -3, -2, -1, 0, 1, 2, 3);
  __m128i v = _mm_madd_epi16(_mm_maddubs_epi16(_mm_shuffle_epi8(pairs, split), weights), _mm_set1_epi16(1));
  v = _mm_hadd_epi32(v, v);
  v = _mm_add_epi32(v, _mm_setr_epi32(4 * last[0], 4 * last[1], 0, 0));
  return _mm_srai_epi32(_mm_add_epi32(_mm_mullo_epi32(v, _mm_set1_epi32(34)), _mm_set1_epi32(32)), 6);
}

SSE4_INLINE void planeChroma(uint8_t *dst, ptrdiff_t stride) {
  const uint8_t *topLast = dst - stride + 14, *leftLast = dst - 2 + 7 * stride;
  const __m128i b = gradients(load16(dst - stride - 2), topLast), c = gradients(column8(dst, stride, -1), leftLast);
  const __m128i corners = _mm_setr_epi32(16 * (topLast[0] + leftLast[0]) + 16, 16 * (topLast[1] + leftLast[1]) + 16, 0, 0);
  const __m128i start = _mm_sub_epi32(corners, _mm_mullo_epi32(c, _mm_set1_epi32(3)));
  // 16-bit lanes in pairs.
  const __m128i pair = _mm_setr_epi8(0, 1, 4, 5, 0, 1, 4, 5, 0, 1, 4, 5, 0, 1, 4, 5);
  const __m128i slope = _mm_shuffle_epi8(b, pair), step = _mm_shuffle_epi8(c, pair);
  __m128i low = _mm_add_epi16(_mm_shuffle_epi8(start, pair),
                              _mm_mullo_epi16(slope, _mm_setr_epi16(-3, -3, -2, -2, -1, -1, 0, 0)));
  __m128i high = _mm_add_epi16(low, _mm_slli_epi16(slope, 2));
  for (int y = 0; y < 8; y++, dst += stride) {
    store16(dst, _mm_packus_epi16(_mm_srai_epi16(low, 5), _mm_srai_epi16(high, 5)));
    low = _mm_add_epi16(low, step), high = _mm_add_epi16(high, step);
  }
}

// MARK: - Intra_4x4 (8.3.1.2) and Intra_8x8 (8.3.2.2)

// The diagonal modes take each row from one line of filtered edge samples (or two that alternate), a step
// further along it: the line goes to memory once and the rows are read from it.

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
  // From the lowest on the left: averages and filtered samples in turn; past the corner filtered ones.
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

// MARK: - The table

#define IN_PLACE(NAME) ON_BOTH_PATHS(void, NAME, (uint8_t *dst, ptrdiff_t stride), dst, stride)
IN_PLACE(vertical16x16)
IN_PLACE(horizontal16x16)
IN_PLACE(dc16x16)
IN_PLACE(plane16x16)
IN_PLACE(dcLeft16x16)
IN_PLACE(dcTop16x16)
IN_PLACE(dc128_16x16)
IN_PLACE(dcChroma)
IN_PLACE(horizontalChroma)
IN_PLACE(verticalChroma)
IN_PLACE(planeChroma)
IN_PLACE(dcLeftChroma)
IN_PLACE(dcTopChroma)
IN_PLACE(dc128Chroma)

#define OF_SIZE(NAME, N)                                                                                         \
  SSE4_INLINE void NAME##N(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge) { NAME(dst, stride, edge, N); } \
  ON_BOTH_PATHS(void, NAME##N, (uint8_t *dst, ptrdiff_t stride, const uint8_t *edge), dst, stride, edge)
#define FROM_EDGE(NAME) OF_SIZE(NAME, 4) OF_SIZE(NAME, 8)
FROM_EDGE(vertical)
FROM_EDGE(horizontal)
FROM_EDGE(dc)
FROM_EDGE(diagonalDownLeft)
FROM_EDGE(diagonalDownRight)
FROM_EDGE(verticalRight)
FROM_EDGE(horizontalDown)
FROM_EDGE(verticalLeft)
FROM_EDGE(horizontalUp)
FROM_EDGE(dcLeft)
FROM_EDGE(dcTop)
FROM_EDGE(dc128)

ON_BOTH_PATHS(void, filterEdge8x8, (uint8_t *out, const uint8_t *edge, int available), out, edge, available)

#define EDGE_MODES(N, PATH)                                                                                  \
  {vertical##N##PATH,          horizontal##N##PATH,    dc##N##PATH,             diagonalDownLeft##N##PATH,   \
   diagonalDownRight##N##PATH, verticalRight##N##PATH, horizontalDown##N##PATH, verticalLeft##N##PATH,       \
   horizontalUp##N##PATH,      dcLeft##N##PATH,        dcTop##N##PATH,          dc128##N##PATH}
#define FILL(PATH)                                                                                            \
  const OVTPredictInPlace luma[7] = {vertical16x16##PATH, horizontal16x16##PATH, dc16x16##PATH,               \
                                     plane16x16##PATH,    dcLeft16x16##PATH,     dcTop16x16##PATH,            \
                                     dc128_16x16##PATH};                                                      \
  const OVTPredictInPlace chroma[7] = {dcChroma##PATH,     horizontalChroma##PATH, verticalChroma##PATH,      \
                                       planeChroma##PATH,  dcLeftChroma##PATH,     dcTopChroma##PATH,         \
                                       dc128Chroma##PATH};                                                    \
  const OVTPredictFromEdge modes4x4[12] = EDGE_MODES(4, PATH), modes8x8[12] = EDGE_MODES(8, PATH);            \
  memcpy(k->intra16x16, luma, sizeof luma);                                                                   \
  memcpy(k->intraChroma, chroma, sizeof chroma);                                                              \
  memcpy(k->intra4x4, modes4x4, sizeof modes4x4);                                                             \
  memcpy(k->intra8x8, modes8x8, sizeof modes8x8);                                                             \
  k->filterEdge8x8 = filterEdge8x8##PATH;

void ovt_intra_sse4(OVTKernels *k) { FILL(Sse4) }
void ovt_intra_avx2(OVTKernels *k) { FILL(Avx2) }

#endif
