// SPDX-License-Identifier: Apache-2.0
// Deblocking filter (8.7.2.3, 8.7.2.4). NEON.

#include "stages.h"

#if OVT_ARM64

#include <arm_neon.h>

// One register holds a line of 16 samples along the edge: p3 p2 p1 p0 | q0 q1 q2 q3 lie across it.
// Vertical edges are transposed, filtered and transposed back. Chroma lines hold 8 pairs.

typedef struct {
  uint8x16_t p3, p2, p1, p0, q0, q1, q2, q3;
} Lines;

// MARK: - Conditions

OVT_INLINE uint8x16_t splat(int v) { return vdupq_n_u8((uint8_t)v); }

OVT_INLINE uint8x16_t isCloser(uint8x16_t a, uint8x16_t b, int limit) { return vcltq_u8(vabdq_u8(a, b), splat(limit)); }

// filterSamplesFlag but for bS.
OVT_INLINE uint8x16_t isFiltered(const Lines *l, int alpha, int beta) {
  return vandq_u8(isCloser(l->p0, l->q0, alpha), vandq_u8(isCloser(l->p1, l->p0, beta), isCloser(l->q1, l->q0, beta)));
}

OVT_INLINE int isNone(uint8x16_t mask) { return vmaxvq_u8(mask) == 0; }

// MARK: - bS < 4

// p0 and q0 by delta, which tC (0 to 127) limits; tC = 0 leaves them.
OVT_INLINE void applyDelta(Lines *l, uint8x16_t tC) {
  const int16x8_t low = vmlaq_n_s16(vreinterpretq_s16_u16(vsubl_u8(vget_low_u8(l->p1), vget_low_u8(l->q1))),
                                    vreinterpretq_s16_u16(vsubl_u8(vget_low_u8(l->q0), vget_low_u8(l->p0))), 4);
  const int16x8_t high = vmlaq_n_s16(vreinterpretq_s16_u16(vsubl_high_u8(l->p1, l->q1)),
                                     vreinterpretq_s16_u16(vsubl_high_u8(l->q0, l->p0)), 4);
  const int8x16_t limit = vreinterpretq_s8_u8(tC);
  int8x16_t delta = vcombine_s8(vqrshrn_n_s16(low, 3), vqrshrn_n_s16(high, 3));
  delta = vminq_s8(vmaxq_s8(delta, vnegq_s8(limit)), limit);
  // Samples less 128, so that signed saturation is clipping.
  const uint8x16_t sign = splat(128);
  const int8x16_t p0 = vqaddq_s8(vreinterpretq_s8_u8(veorq_u8(l->p0, sign)), delta);
  const int8x16_t q0 = vqsubq_s8(vreinterpretq_s8_u8(veorq_u8(l->q0, sign)), delta);
  l->p0 = veorq_u8(vreinterpretq_u8_s8(p0), sign);
  l->q0 = veorq_u8(vreinterpretq_u8_s8(q0), sign);
}

// p1 (or q1) moved towards (p2 + ((p0 + q0 + 1) >> 1)) >> 1, by tC0 at most.
OVT_INLINE uint8x16_t second(uint8x16_t p1, uint8x16_t p2, uint8x16_t middle, uint8x16_t tC0) {
  return vminq_u8(vmaxq_u8(vhaddq_u8(p2, middle), vqsubq_u8(p1, tC0)), vqaddq_u8(p1, tC0));
}

// Where tC0 is looked up, -1 says that nothing is filtered.
OVT_INLINE uint8x16_t isOn(uint8x16_t t) { return vcgezq_s8(vreinterpretq_s8_u8(t)); }

// Whether any sample is filtered.
OVT_INLINE int lumaNormal(Lines *l, int alpha, int beta, uint8x16_t t) {
  const uint8x16_t mask = vandq_u8(isOn(t), isFiltered(l, alpha, beta));
  if (isNone(mask)) return 0;
  t = vandq_u8(t, mask);
  const uint8x16_t pIsFlat = vandq_u8(isCloser(l->p2, l->p0, beta), mask);
  const uint8x16_t qIsFlat = vandq_u8(isCloser(l->q2, l->q0, beta), mask);
  const uint8x16_t middle = vrhaddq_u8(l->p0, l->q0), p1 = l->p1, q1 = l->q1;
  applyDelta(l, vsubq_u8(vsubq_u8(t, pIsFlat), qIsFlat));
  l->p1 = second(p1, l->p2, middle, vandq_u8(t, pIsFlat));
  l->q1 = second(q1, l->q2, middle, vandq_u8(t, qIsFlat));
  return 1;
}

OVT_INLINE int chromaNormal(Lines *l, int alpha, int beta, uint8x16_t t) {
  const uint8x16_t mask = vandq_u8(isOn(t), isFiltered(l, alpha, beta));
  if (isNone(mask)) return 0;
  applyDelta(l, vandq_u8(vaddq_u8(t, splat(1)), mask));
  return 1;
}

// MARK: - bS = 4

// (2 * p1 + p0 + q1 + 2) >> 2: the average with p1 of the average, rounded down, of p0 and q1.
OVT_INLINE uint8x16_t weak(uint8x16_t p1, uint8x16_t p0, uint8x16_t q1) { return vrhaddq_u8(p1, vhaddq_u8(p0, q1)); }

OVT_INLINE int chromaStrong(Lines *l, int alpha, int beta) {
  const uint8x16_t mask = isFiltered(l, alpha, beta);
  if (isNone(mask)) return 0;
  const uint8x16_t p0 = weak(l->p1, l->p0, l->q1), q0 = weak(l->q1, l->q0, l->p1);
  l->p0 = vbslq_u8(mask, p0, l->p0), l->q0 = vbslq_u8(mask, q0, l->q0);
  return 1;
}

typedef struct {
  uint8x16_t p0, p1, p2;
} Side;

typedef struct {
  uint8x8_t p0, p1, p2;
} HalfSide;

// The strong filter of one side, in 16 bits.
OVT_INLINE HalfSide strongHalf(uint8x8_t p3, uint8x8_t p2, uint8x8_t p1, uint8x8_t p0, uint8x8_t q0, uint8x8_t q1) {
  const uint16x8_t sum = vaddw_u8(vaddl_u8(p1, p0), q0), all = vaddw_u8(sum, p2);
  const HalfSide side = {vrshrn_n_u16(vaddw_u8(vaddq_u16(sum, all), q1), 3), vrshrn_n_u16(all, 2),
                         vrshrn_n_u16(vaddq_u16(all, vshlq_n_u16(vaddl_u8(p3, p2), 1)), 3)};
  return side;
}

OVT_INLINE Side strongSide(uint8x16_t p3, uint8x16_t p2, uint8x16_t p1, uint8x16_t p0, uint8x16_t q0, uint8x16_t q1) {
  const HalfSide a = strongHalf(vget_low_u8(p3), vget_low_u8(p2), vget_low_u8(p1), vget_low_u8(p0), vget_low_u8(q0),
                                vget_low_u8(q1));
  const HalfSide b = strongHalf(vget_high_u8(p3), vget_high_u8(p2), vget_high_u8(p1), vget_high_u8(p0),
                                vget_high_u8(q0), vget_high_u8(q1));
  const Side side = {vcombine_u8(a.p0, b.p0), vcombine_u8(a.p1, b.p1), vcombine_u8(a.p2, b.p2)};
  return side;
}

OVT_INLINE int lumaStrong(Lines *l, int alpha, int beta) {
  const uint8x16_t mask = isFiltered(l, alpha, beta);
  if (isNone(mask)) return 0;
  const uint8x16_t isSmall = vandq_u8(isCloser(l->p0, l->q0, (alpha >> 2) + 2), mask);
  const uint8x16_t pIsFlat = vandq_u8(isCloser(l->p2, l->p0, beta), isSmall);
  const uint8x16_t qIsFlat = vandq_u8(isCloser(l->q2, l->q0, beta), isSmall);
  const Side p = strongSide(l->p3, l->p2, l->p1, l->p0, l->q0, l->q1);
  const Side q = strongSide(l->q3, l->q2, l->q1, l->q0, l->p0, l->p1);
  const uint8x16_t p0 = weak(l->p1, l->p0, l->q1), q0 = weak(l->q1, l->q0, l->p1);
  l->p0 = vbslq_u8(pIsFlat, p.p0, vbslq_u8(mask, p0, l->p0));
  l->q0 = vbslq_u8(qIsFlat, q.p0, vbslq_u8(mask, q0, l->q0));
  l->p1 = vbslq_u8(pIsFlat, p.p1, l->p1), l->q1 = vbslq_u8(qIsFlat, q.p1, l->q1);
  l->p2 = vbslq_u8(pIsFlat, p.p2, l->p2), l->q2 = vbslq_u8(qIsFlat, q.p2, l->q2);
  return 1;
}

// MARK: - An edge

OVT_INLINE int isActive(const OVTEdges *edges, int e) {
  const int inside = e > 0;
  return edges->bS[e] != 0 && edges->alpha[inside] != 0 && edges->beta[inside] != 0;
}

OVT_INLINE int isStrong(const OVTEdges *edges, int e) { return (edges->bS[e] & 255) == 4; }

// tC0 along an edge, looked up by bS; -1 for bS = 0.
OVT_INLINE uint8x16_t lookUp(const OVTEdges *edges, int e) {
  static const uint8_t quarters[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  uint32_t row;
  memcpy(&row, edges->tC0[e > 0], 4);
  const uint8x16_t bS = vqtbl1q_u8(vreinterpretq_u8_u32(vdupq_n_u32(edges->bS[e])), vld1q_u8(quarters));
  return vqtbl1q_u8(vsetq_lane_u8(255, vreinterpretq_u8_u32(vdupq_n_u32(row)), 0), bS);
}

OVT_INLINE int lumaEdge(Lines *l, const OVTEdges *edges, int e) {
  const int inside = e > 0, alpha = edges->alpha[inside], beta = edges->beta[inside];
  return isStrong(edges, e) ? lumaStrong(l, alpha, beta) : lumaNormal(l, alpha, beta, lookUp(edges, e));
}

OVT_INLINE int chromaEdge(Lines *l, const OVTEdges *edges, int e) {
  const int inside = e > 0, alpha = edges->alpha[inside], beta = edges->beta[inside];
  return isStrong(edges, e) ? chromaStrong(l, alpha, beta) : chromaNormal(l, alpha, beta, lookUp(edges, e));
}

// MARK: - Horizontal edges

static void lumaHorizontalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  for (int e = 0; e < 4; e++, pixels += 4 * stride) {
    if (!isActive(edges, e)) continue;
    Lines l = {vld1q_u8(pixels - 4 * stride), vld1q_u8(pixels - 3 * stride), vld1q_u8(pixels - 2 * stride),
               vld1q_u8(pixels - stride),     vld1q_u8(pixels),              vld1q_u8(pixels + stride),
               vld1q_u8(pixels + 2 * stride), vld1q_u8(pixels + 3 * stride)};
    if (!lumaEdge(&l, edges, e)) continue;
    vst1q_u8(pixels - 2 * stride, l.p1), vst1q_u8(pixels - stride, l.p0);
    vst1q_u8(pixels, l.q0), vst1q_u8(pixels + stride, l.q1);
    if (isStrong(edges, e)) vst1q_u8(pixels - 3 * stride, l.p2), vst1q_u8(pixels + 2 * stride, l.q2);
  }
}

static void chromaHorizontalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  for (int e = 0; e < 4; e += 2, pixels += 4 * stride) {
    if (!isActive(edges, e)) continue;
    Lines l = {.p1 = vld1q_u8(pixels - 2 * stride), .p0 = vld1q_u8(pixels - stride), .q0 = vld1q_u8(pixels),
               .q1 = vld1q_u8(pixels + stride)};
    if (chromaEdge(&l, edges, e)) vst1q_u8(pixels - stride, l.p0), vst1q_u8(pixels, l.q0);
  }
}

// MARK: - Vertical edges

// 16 rows of 8 samples, rows i and i + 8 in the halves of v[i], to 8 columns in order.
OVT_INLINE void transpose8x16(uint8x16_t v[8]) {
  uint16x8_t a[8];
  uint32x4_t b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = vreinterpretq_u16_u8(vtrn1q_u8(v[i], v[i + 1])), a[i + 1] = vreinterpretq_u16_u8(vtrn2q_u8(v[i], v[i + 1]));
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = i; j < i + 2; j++) {
      b[j] = vreinterpretq_u32_u16(vtrn1q_u16(a[j], a[j + 2]));
      b[j + 2] = vreinterpretq_u32_u16(vtrn2q_u16(a[j], a[j + 2]));
    }
  for (int i = 0; i < 4; i++) {
    v[i] = vreinterpretq_u8_u32(vtrn1q_u32(b[i], b[i + 4]));
    v[i + 4] = vreinterpretq_u8_u32(vtrn2q_u32(b[i], b[i + 4]));
  }
}

// The edge that begins at `pixels`: from and to memory. What lies beyond the samples that a filter
// may change is written back as it was.
OVT_INLINE void lumaVerticalEdge(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges, int e) {
  uint8x16_t v[8];
  pixels -= 4;
  for (int y = 0; y < 8; y++) v[y] = vcombine_u8(vld1_u8(pixels + y * stride), vld1_u8(pixels + (y + 8) * stride));
  transpose8x16(v);
  Lines l = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
  if (!lumaEdge(&l, edges, e)) return;
  v[1] = l.p2, v[2] = l.p1, v[3] = l.p0, v[4] = l.q0, v[5] = l.q1, v[6] = l.q2;
  transpose8x16(v);
  for (int y = 0; y < 8; y++) {
    vst1_u8(pixels + y * stride, vget_low_u8(v[y]));
    vst1_u8(pixels + (y + 8) * stride, vget_high_u8(v[y]));
  }
}

static void lumaVerticalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  for (int e = 0; e < 4; e++, pixels += 4)
    if (isActive(edges, e)) lumaVerticalEdge(pixels, stride, edges, e);
}

// 8 rows of 4 pairs (rows i and i + 4 in the halves of v[i]) to 4 lines of 8 pairs, and back.
OVT_INLINE void transposePairs(uint16x8_t v[4]) {
  uint32x4_t a[4];
  for (int i = 0; i < 4; i += 2) {
    a[i] = vreinterpretq_u32_u16(vtrn1q_u16(v[i], v[i + 1])), a[i + 1] = vreinterpretq_u32_u16(vtrn2q_u16(v[i], v[i + 1]));
  }
  for (int i = 0; i < 2; i++) {
    v[i] = vreinterpretq_u16_u32(vtrn1q_u32(a[i], a[i + 2])), v[i + 2] = vreinterpretq_u16_u32(vtrn2q_u32(a[i], a[i + 2]));
  }
}

static void chromaVerticalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  for (int e = 0; e < 4; e += 2, pixels += 8) {
    if (!isActive(edges, e)) continue;
    uint8_t *rows = pixels - 4;
    uint16x8_t v[4];
    for (int y = 0; y < 4; y++)
      v[y] = vreinterpretq_u16_u8(vcombine_u8(vld1_u8(rows + y * stride), vld1_u8(rows + (y + 4) * stride)));
    transposePairs(v);
    Lines l = {.p1 = vreinterpretq_u8_u16(v[0]), .p0 = vreinterpretq_u8_u16(v[1]), .q0 = vreinterpretq_u8_u16(v[2]),
               .q1 = vreinterpretq_u8_u16(v[3])};
    if (!chromaEdge(&l, edges, e)) continue;
    v[1] = vreinterpretq_u16_u8(l.p0), v[2] = vreinterpretq_u16_u8(l.q0);
    transposePairs(v);
    for (int y = 0; y < 4; y++) {
      vst1_u8(rows + y * stride, vreinterpret_u8_u16(vget_low_u16(v[y])));
      vst1_u8(rows + (y + 4) * stride, vreinterpret_u8_u16(vget_high_u16(v[y])));
    }
  }
}

void ovt_deblock_neon(OVTKernels *k) {
  k->deblockLumaVerticalEdges = lumaVerticalEdges;
  k->deblockLumaHorizontalEdges = lumaHorizontalEdges;
  k->deblockChromaVerticalEdges = chromaVerticalEdges;
  k->deblockChromaHorizontalEdges = chromaHorizontalEdges;
}

#endif
