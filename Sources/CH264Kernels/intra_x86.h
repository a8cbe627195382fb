// SPDX-License-Identifier: Apache-2.0
// Intra prediction samples of whole macroblocks (8.3.3, 8.3.4), and the kernels of those from an
// edge (8.3.1.2, 8.3.2.2), whose bodies are in CVideoKernels. What the x86 sets share.
#ifndef OVT_INTRA_X86_H
#define OVT_INTRA_X86_H

#include "intra_edge_x86.h"
#include "stages.h"

#if OVT_X86

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

// MARK: - Kernels

#define IN_PLACE(SET, SUFFIX, NAME) KERNEL(SET, SUFFIX, void, NAME, (uint8_t *dst, ptrdiff_t stride), dst, stride)
// Bodies that every set compiles for itself: the same instructions, from AVX2 on with three
// operands.
#define BLOCK_KERNELS(SET, SUFFIX) \
  IN_PLACE(SET, SUFFIX, vertical16x16) \
  IN_PLACE(SET, SUFFIX, horizontal16x16) \
  IN_PLACE(SET, SUFFIX, dc16x16) \
  IN_PLACE(SET, SUFFIX, plane16x16) \
  IN_PLACE(SET, SUFFIX, dcLeft16x16) \
  IN_PLACE(SET, SUFFIX, dcTop16x16) \
  IN_PLACE(SET, SUFFIX, dc128_16x16) \
  IN_PLACE(SET, SUFFIX, dcChroma) \
  IN_PLACE(SET, SUFFIX, horizontalChroma) \
  IN_PLACE(SET, SUFFIX, verticalChroma) \
  IN_PLACE(SET, SUFFIX, planeChroma) \
  IN_PLACE(SET, SUFFIX, dcLeftChroma) \
  IN_PLACE(SET, SUFFIX, dcTopChroma) \
  IN_PLACE(SET, SUFFIX, dc128Chroma)

#define FILL_BLOCKS(SUFFIX) \
  const OVTPredictInPlace luma[7] = {vertical16x16##SUFFIX, horizontal16x16##SUFFIX, dc16x16##SUFFIX, \
                                     plane16x16##SUFFIX, dcLeft16x16##SUFFIX, dcTop16x16##SUFFIX, \
                                     dc128_16x16##SUFFIX}; \
  const OVTPredictInPlace chroma[7] = {dcChroma##SUFFIX, horizontalChroma##SUFFIX, verticalChroma##SUFFIX, \
                                       planeChroma##SUFFIX, dcLeftChroma##SUFFIX, dcTopChroma##SUFFIX, \
                                       dc128Chroma##SUFFIX}; \
  memcpy(k->intra16x16, luma, sizeof luma); \
  memcpy(k->intraChroma, chroma, sizeof chroma);

// MARK: - Kernels of predictions from an edge

#define FROM_EDGE(SET, SUFFIX, NAME) \
  KERNEL(SET, SUFFIX, void, NAME##4, (uint8_t *dst, ptrdiff_t stride, const uint8_t *edge), dst, stride, edge) \
  KERNEL(SET, SUFFIX, void, NAME##8, (uint8_t *dst, ptrdiff_t stride, const uint8_t *edge), dst, stride, edge)
// Bodies that every set compiles for itself: the same instructions, from AVX2 on with three
// operands.
#define EDGE_KERNELS(SET, SUFFIX) \
  FROM_EDGE(SET, SUFFIX, vertical) \
  FROM_EDGE(SET, SUFFIX, horizontal) \
  FROM_EDGE(SET, SUFFIX, dc) \
  FROM_EDGE(SET, SUFFIX, diagonalDownLeft) \
  FROM_EDGE(SET, SUFFIX, diagonalDownRight) \
  FROM_EDGE(SET, SUFFIX, verticalRight) \
  FROM_EDGE(SET, SUFFIX, horizontalDown) \
  FROM_EDGE(SET, SUFFIX, verticalLeft) \
  FROM_EDGE(SET, SUFFIX, horizontalUp) \
  FROM_EDGE(SET, SUFFIX, dcLeft) \
  FROM_EDGE(SET, SUFFIX, dcTop) \
  FROM_EDGE(SET, SUFFIX, dc128) \
  KERNEL(SET, SUFFIX, void, filterEdge8x8, (uint8_t *out, const uint8_t *edge, int available), out, edge, available)

#define EDGE_MODES(N, SUFFIX) \
  {vertical##N##SUFFIX, horizontal##N##SUFFIX, dc##N##SUFFIX, diagonalDownLeft##N##SUFFIX, \
   diagonalDownRight##N##SUFFIX, verticalRight##N##SUFFIX, horizontalDown##N##SUFFIX, verticalLeft##N##SUFFIX, \
   horizontalUp##N##SUFFIX, dcLeft##N##SUFFIX, dcTop##N##SUFFIX, dc128##N##SUFFIX}
#define FILL_EDGES(SUFFIX) \
  const OVTPredictFromEdge modes4x4[12] = EDGE_MODES(4, SUFFIX), modes8x8[12] = EDGE_MODES(8, SUFFIX); \
  memcpy(k->intra4x4, modes4x4, sizeof modes4x4); \
  memcpy(k->intra8x8, modes8x8, sizeof modes8x8); \
  k->filterEdge8x8 = filterEdge8x8##SUFFIX;

#endif  // OVT_X86
#endif
