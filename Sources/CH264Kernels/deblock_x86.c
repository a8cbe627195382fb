// SPDX-License-Identifier: Apache-2.0
// Deblocking filter (8.7.2.3, 8.7.2.4). SSE4; for AVX2 the same and wide sums for bS = 4.

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

SSE4_INLINE __m128i splat(int v) { return _mm_set1_epi8((char)v); }

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

// Filters the edges of a macroblock that lies in line[4] to line[19], its left neighbour's last columns in
// line[0] to line[3]. Returns whether anything changed.
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

SSE4_INLINE void transpose16(__m128i v[16]) {
  __m128i t[16];
  for (int stage = 0; stage < 4; stage++) {  // four perfect shuffles
    for (int i = 0; i < 8; i++) {
      t[2 * i] = _mm_unpacklo_epi8(v[i], v[i + 8]);
      t[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + 8]);
    }
    for (int i = 0; i < 16; i++) v[i] = t[i];
  }
}

SSE4 static void lumaVerticalEdgesSse4(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  if (filterBorderAlone(pixels, stride, edges)) return;
  __m128i line[20];
  if (isActive(edges, 0)) loadLeft(line, pixels, stride);
  for (int y = 0; y < 16; y++) line[4 + y] = load16(pixels + y * stride);
  transpose16(line + 4);
  const int changed = filterLines(line, edges);
  if (!changed) return;
  if (changed & 1) storeColumns4(pixels - 4, stride, line[0], line[1], line[2], line[3]);
  transpose16(line + 4);
  for (int y = 0; y < 16; y++) store16(pixels + y * stride, line[4 + y]);
}

// Rows (or lines) i and i + 8 in the halves of v[i]: transposed, lines 2i and 2i + 1 in those of v[i].
AVX2_INLINE void transpose16Pairs(__m256i v[8]) {
  __m256i t[8];
  for (int stage = 0; stage < 3; stage++) {
    for (int i = 0; i < 4; i++) {
      t[2 * i] = _mm256_unpacklo_epi8(v[i], v[i + 4]);
      t[2 * i + 1] = _mm256_unpackhi_epi8(v[i], v[i + 4]);
    }
    for (int i = 0; i < 8; i++) v[i] = t[i];
  }
  for (int i = 0; i < 8; i++) v[i] = _mm256_permute4x64_epi64(v[i], 0xd8);
}

AVX2 static void lumaVerticalEdgesAvx2(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  if (filterBorderAlone(pixels, stride, edges)) return;
  __m128i line[20];
  __m256i v[8];
  if (isActive(edges, 0)) loadLeft(line, pixels, stride);
  for (int y = 0; y < 8; y++) v[y] = load16x2(pixels + y * stride, pixels + (y + 8) * stride);
  transpose16Pairs(v);
  for (int i = 0; i < 8; i++) {
    line[4 + 2 * i] = _mm256_castsi256_si128(v[i]);
    line[5 + 2 * i] = _mm256_extracti128_si256(v[i], 1);
  }
  const int changed = filterLines(line, edges);
  if (!changed) return;
  if (changed & 1) storeColumns4(pixels - 4, stride, line[0], line[1], line[2], line[3]);
  for (int i = 0; i < 8; i++) v[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(line[4 + i]), line[12 + i], 1);
  transpose16Pairs(v);
  for (int i = 0; i < 8; i++) {
    store16(pixels + 2 * i * stride, _mm256_castsi256_si128(v[i]));
    store16(pixels + (2 * i + 1) * stride, _mm256_extracti128_si256(v[i], 1));
  }
}

// MARK: - The table

#define EDGES(NAME) \
  ON_BOTH_PATHS(void, NAME, (uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges), pixels, stride, edges)
EDGES(lumaHorizontalEdges)
EDGES(chromaVerticalEdges)
EDGES(chromaHorizontalEdges)

#define FILL(PATH)                                              \
  k->deblockLumaVerticalEdges = lumaVerticalEdges##PATH;        \
  k->deblockLumaHorizontalEdges = lumaHorizontalEdges##PATH;    \
  k->deblockChromaVerticalEdges = chromaVerticalEdges##PATH;    \
  k->deblockChromaHorizontalEdges = chromaHorizontalEdges##PATH;

void ovt_deblock_sse4(OVTKernels *k) { FILL(Sse4) }
void ovt_deblock_avx2(OVTKernels *k) { FILL(Avx2) }

#endif
