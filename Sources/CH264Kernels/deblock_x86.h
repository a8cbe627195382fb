// SPDX-License-Identifier: Apache-2.0
// Deblocking of a macroblock's edges (8.7): lines from memory and back. What the x86 sets share.
#ifndef OVT_DEBLOCK_X86_H
#define OVT_DEBLOCK_X86_H

#include "deblock_filter_x86.h"

#if OVT_X86

// MARK: - Horizontal edges

SSE4_INLINE void lumaHorizontalStrong(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta) {
  Lines l = {load16(pixels - 4 * stride), load16(pixels - 3 * stride), load16(pixels - 2 * stride),
             load16(pixels - stride),     load16(pixels),              load16(pixels + stride),
             load16(pixels + 2 * stride), load16(pixels + 3 * stride)};
  if (!lumaStrong(&l, alpha, beta)) return;
  store16(pixels - 3 * stride, l.p2), store16(pixels - 2 * stride, l.p1), store16(pixels - stride, l.p0);
  store16(pixels, l.q0), store16(pixels + stride, l.q1), store16(pixels + 2 * stride, l.q2);
}

SSE4_INLINE Lines loadChroma(const uint8_t *pixels, ptrdiff_t stride) {
  const Lines l = {.p1 = load16(pixels - 2 * stride), .p0 = load16(pixels - stride), .q0 = load16(pixels),
                   .q1 = load16(pixels + stride)};
  return l;
}

// MARK: - Vertical edges

// 16 rows of 8 samples (from pixels - 4) to 8 lines.
SSE4_INLINE Lines loadColumns(const uint8_t *pixels, ptrdiff_t stride) {
  __m128i a[8], b[8];
  pixels -= 4;
  for (int i = 0; i < 8; i++)  // rows i and i + 8, byte by byte
    a[i] = _mm_unpacklo_epi8(load8(pixels + i * stride), load8(pixels + (i + 8) * stride));
  for (int i = 0; i < 4; i++) {  // rows i, i + 4, i + 8, i + 12
    b[i] = _mm_unpacklo_epi8(a[i], a[i + 4]);
    b[i + 4] = _mm_unpackhi_epi8(a[i], a[i + 4]);
  }
  for (int i = 0; i < 2; i++) {  // even and odd rows of two columns each
    a[i] = _mm_unpacklo_epi8(b[i], b[i + 2]);
    a[i + 2] = _mm_unpackhi_epi8(b[i], b[i + 2]);
    a[i + 4] = _mm_unpacklo_epi8(b[i + 4], b[i + 6]);
    a[i + 6] = _mm_unpackhi_epi8(b[i + 4], b[i + 6]);
  }
  const Lines l = {_mm_unpacklo_epi8(a[0], a[1]), _mm_unpackhi_epi8(a[0], a[1]), _mm_unpacklo_epi8(a[2], a[3]),
                   _mm_unpackhi_epi8(a[2], a[3]), _mm_unpacklo_epi8(a[4], a[5]), _mm_unpackhi_epi8(a[4], a[5]),
                   _mm_unpacklo_epi8(a[6], a[7]), _mm_unpackhi_epi8(a[6], a[7])};
  return l;
}

// Four rows of 4 bytes.
SSE4_INLINE void storeRows4(uint8_t *pixels, ptrdiff_t stride, __m128i rows) {
  store4(pixels, rows);
  store4(pixels + stride, _mm_shuffle_epi32(rows, 1));
  store4(pixels + 2 * stride, _mm_unpackhi_epi64(rows, rows));
  store4(pixels + 3 * stride, _mm_shuffle_epi32(rows, 3));
}

// Lines of 16 samples, four of them, to 16 rows of 4 bytes.
SSE4_INLINE void storeColumns4(uint8_t *pixels, ptrdiff_t stride, __m128i c0, __m128i c1, __m128i c2, __m128i c3) {
  const __m128i low01 = _mm_unpacklo_epi8(c0, c1), high01 = _mm_unpackhi_epi8(c0, c1);
  const __m128i low23 = _mm_unpacklo_epi8(c2, c3), high23 = _mm_unpackhi_epi8(c2, c3);
  storeRows4(pixels, stride, _mm_unpacklo_epi16(low01, low23));
  storeRows4(pixels + 4 * stride, stride, _mm_unpackhi_epi16(low01, low23));
  storeRows4(pixels + 8 * stride, stride, _mm_unpacklo_epi16(high01, high23));
  storeRows4(pixels + 12 * stride, stride, _mm_unpackhi_epi16(high01, high23));
}

// All 8 lines to 16 rows of 8 bytes.
SSE4_INLINE void storeColumns8(uint8_t *pixels, ptrdiff_t stride, const Lines *l) {
  __m128i left[4], right[4];
  const __m128i a0 = _mm_unpacklo_epi8(l->p3, l->p2), a1 = _mm_unpackhi_epi8(l->p3, l->p2);
  const __m128i b0 = _mm_unpacklo_epi8(l->p1, l->p0), b1 = _mm_unpackhi_epi8(l->p1, l->p0);
  const __m128i c0 = _mm_unpacklo_epi8(l->q0, l->q1), c1 = _mm_unpackhi_epi8(l->q0, l->q1);
  const __m128i d0 = _mm_unpacklo_epi8(l->q2, l->q3), d1 = _mm_unpackhi_epi8(l->q2, l->q3);
  left[0] = _mm_unpacklo_epi16(a0, b0), left[1] = _mm_unpackhi_epi16(a0, b0);
  left[2] = _mm_unpacklo_epi16(a1, b1), left[3] = _mm_unpackhi_epi16(a1, b1);
  right[0] = _mm_unpacklo_epi16(c0, d0), right[1] = _mm_unpackhi_epi16(c0, d0);
  right[2] = _mm_unpacklo_epi16(c1, d1), right[3] = _mm_unpackhi_epi16(c1, d1);
  pixels -= 4;
  for (int i = 0; i < 4; i++, pixels += 4 * stride) {
    const __m128i r01 = _mm_unpacklo_epi32(left[i], right[i]), r23 = _mm_unpackhi_epi32(left[i], right[i]);
    store8(pixels, r01), store8(pixels + stride, _mm_unpackhi_epi64(r01, r01));
    store8(pixels + 2 * stride, r23), store8(pixels + 3 * stride, _mm_unpackhi_epi64(r23, r23));
  }
}

// 8 rows of 4 pairs (from pixels - 4) to 4 lines.
SSE4_INLINE Lines loadChromaColumns(const uint8_t *pixels, ptrdiff_t stride) {
  __m128i a[4];
  pixels -= 4;
  for (int i = 0; i < 4; i++)  // rows i and i + 4, pair by pair
    a[i] = _mm_unpacklo_epi16(load8(pixels + i * stride), load8(pixels + (i + 4) * stride));
  const __m128i b0 = _mm_unpacklo_epi16(a[0], a[2]), b1 = _mm_unpackhi_epi16(a[0], a[2]);
  const __m128i b2 = _mm_unpacklo_epi16(a[1], a[3]), b3 = _mm_unpackhi_epi16(a[1], a[3]);
  const Lines l = {.p1 = _mm_unpacklo_epi16(b0, b2), .p0 = _mm_unpackhi_epi16(b0, b2),
                   .q0 = _mm_unpacklo_epi16(b1, b3), .q1 = _mm_unpackhi_epi16(b1, b3)};
  return l;
}

SSE4_INLINE void storeChromaColumns(uint8_t *pixels, ptrdiff_t stride, const Lines *l) {
  storeRows4(pixels - 2, stride, _mm_unpacklo_epi16(l->p0, l->q0));
  storeRows4(pixels - 2 + 4 * stride, stride, _mm_unpackhi_epi16(l->p0, l->q0));
}

// MARK: - All edges of a macroblock

SSE4_INLINE int isActive(const OVTEdges *edges, int e) {
  const int inside = e > 0;
  return edges->bS[e] != 0 && edges->alpha[inside] != 0 && edges->beta[inside] != 0;
}

SSE4_INLINE int isStrong(const OVTEdges *edges, int e) { return (edges->bS[e] & 255) == 4; }

// tC0 along an edge, looked up by bS; -1 for bS = 0.
SSE4_INLINE __m128i lookUp(const OVTEdges *edges, int e) {
  const __m128i bS = _mm_shuffle_epi8(_mm_cvtsi32_si128((int)edges->bS[e]),
                                      _mm_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
  return _mm_shuffle_epi8(_mm_insert_epi8(load4(edges->tC0[e > 0]), -1, 0), bS);
}

SSE4_INLINE int lumaEdge(Lines *l, const OVTEdges *edges, int e) {
  const int inside = e > 0, alpha = edges->alpha[inside], beta = edges->beta[inside];
  return isStrong(edges, e) ? lumaStrong(l, alpha, beta) : lumaNormal(l, alpha, beta, lookUp(edges, e));
}

SSE4_INLINE int chromaEdge(Lines *l, const OVTEdges *edges, int e) {
  const int inside = e > 0, alpha = edges->alpha[inside], beta = edges->beta[inside];
  return isStrong(edges, e) ? chromaStrong(l, alpha, beta) : chromaNormal(l, alpha, beta, lookUp(edges, e));
}

SSE4_INLINE void lumaHorizontalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  for (int e = 0; e < 4; e++, pixels += 4 * stride) {
    if (!isActive(edges, e)) continue;
    const int inside = e > 0, alpha = edges->alpha[inside], beta = edges->beta[inside];
    if (isStrong(edges, e)) {
      lumaHorizontalStrong(pixels, stride, alpha, beta);
      continue;
    }
    Lines l = {.p2 = load16(pixels - 3 * stride), .p1 = load16(pixels - 2 * stride), .p0 = load16(pixels - stride),
               .q0 = load16(pixels), .q1 = load16(pixels + stride), .q2 = load16(pixels + 2 * stride)};
    if (!lumaNormal(&l, alpha, beta, lookUp(edges, e))) continue;
    store16(pixels - 2 * stride, l.p1), store16(pixels - stride, l.p0);
    store16(pixels, l.q0), store16(pixels + stride, l.q1);
  }
}

SSE4_INLINE void chromaHorizontalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  for (int e = 0; e < 4; e += 2, pixels += 4 * stride) {
    if (!isActive(edges, e)) continue;
    Lines l = loadChroma(pixels, stride);
    if (chromaEdge(&l, edges, e)) store16(pixels - stride, l.p0), store16(pixels, l.q0);
  }
}

// Chroma: at most two edges, whose samples do not overlap.
SSE4_INLINE void chromaVerticalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  for (int e = 0; e < 4; e += 2, pixels += 8) {
    if (!isActive(edges, e)) continue;
    Lines l = loadChromaColumns(pixels, stride);
    if (chromaEdge(&l, edges, e)) storeChromaColumns(pixels, stride, &l);
  }
}

// The four columns left of the macroblock to lines, and back.
SSE4_INLINE void loadLeft(__m128i line[4], const uint8_t *pixels, ptrdiff_t stride) {
  const __m128i turn = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m128i r[4];
  pixels -= 4;
  for (int i = 0; i < 4; i++, pixels += 4 * stride)
    r[i] = _mm_shuffle_epi8(_mm_unpacklo_epi64(load4x2(pixels, pixels + stride),
                                               load4x2(pixels + 2 * stride, pixels + 3 * stride)),
                            turn);
  const __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpackhi_epi32(r[0], r[1]);
  const __m128i c = _mm_unpacklo_epi32(r[2], r[3]), d = _mm_unpackhi_epi32(r[2], r[3]);
  line[0] = _mm_unpacklo_epi64(a, c), line[1] = _mm_unpackhi_epi64(a, c);
  line[2] = _mm_unpacklo_epi64(b, d), line[3] = _mm_unpackhi_epi64(b, d);
}

// Filters the edges of a macroblock that lies in line[4] to line[19], its left neighbour's last
// columns in line[0] to line[3]. Returns whether anything changed.
SSE4_INLINE int filterLines(__m128i line[20], const OVTEdges *edges) {
  int changed = 0;
  for (int e = 0; e < 4; e++) {
    if (!isActive(edges, e)) continue;
    __m128i *at = line + 4 * e;
    Lines l = {at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]};
    if (!lumaEdge(&l, edges, e)) continue;
    changed |= 1 << e;
    at[1] = l.p2, at[2] = l.p1, at[3] = l.p0, at[4] = l.q0, at[5] = l.q1, at[6] = l.q2;
  }
  return changed;
}

// Whether only the border is filtered: then there is little to transpose.
SSE4_INLINE int filterBorderAlone(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  if (isActive(edges, 1) || isActive(edges, 2) || isActive(edges, 3)) return 0;
  if (!isActive(edges, 0)) return 1;
  Lines l = loadColumns(pixels, stride);
  if (isStrong(edges, 0)) {
    if (lumaStrong(&l, edges->alpha[0], edges->beta[0])) storeColumns8(pixels, stride, &l);
  } else {
    if (lumaNormal(&l, edges->alpha[0], edges->beta[0], lookUp(edges, 0)))
      storeColumns4(pixels - 2, stride, l.p1, l.p0, l.q0, l.q1);
  }
  return 1;
}

// MARK: - Kernels

// Bodies that every set compiles for itself: the same instructions, from AVX2 on with three
// operands.
#define SHARED_KERNELS(SET, SUFFIX) \
  KERNEL(SET, SUFFIX, void, lumaHorizontalEdges, (uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges), pixels, stride, edges) \
  KERNEL(SET, SUFFIX, void, chromaVerticalEdges, (uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges), pixels, stride, edges) \
  KERNEL(SET, SUFFIX, void, chromaHorizontalEdges, (uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges), pixels, stride, edges)

#define FILL(SUFFIX)                                              \
  k->deblockLumaVerticalEdges = lumaVerticalEdges##SUFFIX;        \
  k->deblockLumaHorizontalEdges = lumaHorizontalEdges##SUFFIX;    \
  k->deblockChromaVerticalEdges = chromaVerticalEdges##SUFFIX;    \
  k->deblockChromaHorizontalEdges = chromaHorizontalEdges##SUFFIX;

#endif  // OVT_X86
#endif
