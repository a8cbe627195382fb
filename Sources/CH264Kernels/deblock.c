// SPDX-License-Identifier: Apache-2.0
// Deblocking filter (8.7.2.3, 8.7.2.4). Plain C.

#include "stages.h"

// `across` steps over the edge (p1 p0 | q0 q1), `along` follows it.

OVT_INLINE int isFiltered(const uint8_t *q0, ptrdiff_t across, int alpha, int beta) {
  const int p0 = q0[-across], p1 = q0[-2 * across], q1 = q0[across];
  return ovt_abs(p0 - q0[0]) < alpha && ovt_abs(p1 - p0) < beta && ovt_abs(q1 - q0[0]) < beta;
}

OVT_INLINE void applyDelta(uint8_t *q0, ptrdiff_t across, int tC) {
  const int delta = ovt_clip3(-tC, tC, ((q0[0] - q0[-across]) * 4 + (q0[-2 * across] - q0[across]) + 4) >> 3);
  q0[-across] = ovt_clip_u8(q0[-across] + delta);
  q0[0] = ovt_clip_u8(q0[0] - delta);
}

OVT_INLINE void lumaNormal(uint8_t *pixels, ptrdiff_t across, ptrdiff_t along, int alpha, int beta,
                           const int8_t tC0[4]) {
  for (int i = 0; i < 16; i++, pixels += along) {
    const int t = tC0[i >> 2];
    if (t < 0 || !isFiltered(pixels, across, alpha, beta)) continue;
    const int p0 = pixels[-across], p1 = pixels[-2 * across], p2 = pixels[-3 * across];
    const int q0 = pixels[0], q1 = pixels[across], q2 = pixels[2 * across];
    const int pIsFlat = ovt_abs(p2 - p0) < beta, qIsFlat = ovt_abs(q2 - q0) < beta;
    applyDelta(pixels, across, t + pIsFlat + qIsFlat);
    const int middle = (p0 + q0 + 1) >> 1;
    if (pIsFlat) pixels[-2 * across] = (uint8_t)(p1 + ovt_clip3(-t, t, (p2 + middle - 2 * p1) >> 1));
    if (qIsFlat) pixels[across] = (uint8_t)(q1 + ovt_clip3(-t, t, (q2 + middle - 2 * q1) >> 1));
  }
}

OVT_INLINE void lumaStrong(uint8_t *pixels, ptrdiff_t across, ptrdiff_t along, int alpha, int beta) {
  for (int i = 0; i < 16; i++, pixels += along) {
    if (!isFiltered(pixels, across, alpha, beta)) continue;
    const int p0 = pixels[-across], p1 = pixels[-2 * across], p2 = pixels[-3 * across];
    const int q0 = pixels[0], q1 = pixels[across], q2 = pixels[2 * across];
    const int small = ovt_abs(p0 - q0) < (alpha >> 2) + 2;
    if (small && ovt_abs(p2 - p0) < beta) {
      const int p3 = pixels[-4 * across];
      pixels[-across] = (uint8_t)((p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3);
      pixels[-2 * across] = (uint8_t)((p2 + p1 + p0 + q0 + 2) >> 2);
      pixels[-3 * across] = (uint8_t)((2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3);
    } else {
      pixels[-across] = (uint8_t)((2 * p1 + p0 + q1 + 2) >> 2);
    }
    if (small && ovt_abs(q2 - q0) < beta) {
      const int q3 = pixels[3 * across];
      pixels[0] = (uint8_t)((p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3);
      pixels[across] = (uint8_t)((p0 + q0 + q1 + q2 + 2) >> 2);
      pixels[2 * across] = (uint8_t)((2 * q3 + 3 * q2 + q1 + q0 + p0 + 4) >> 3);
    } else {
      pixels[0] = (uint8_t)((2 * q1 + q0 + p1 + 2) >> 2);
    }
  }
}

// Chroma: `along` steps from one pair of Cb and Cr to the next.
OVT_INLINE void chromaNormal(uint8_t *pixels, ptrdiff_t across, ptrdiff_t along, int alpha, int beta,
                             const int8_t tC0[4]) {
  for (int i = 0; i < 8; i++, pixels += along)
    for (int c = 0; c < 2; c++)
      if (tC0[i >> 1] >= 0 && isFiltered(pixels + c, across, alpha, beta))
        applyDelta(pixels + c, across, tC0[i >> 1] + 1);
}

OVT_INLINE void chromaStrong(uint8_t *pixels, ptrdiff_t across, ptrdiff_t along, int alpha, int beta) {
  for (int i = 0; i < 8; i++, pixels += along)
    for (int c = 0; c < 2; c++) {
      uint8_t *s = pixels + c;
      if (!isFiltered(s, across, alpha, beta)) continue;
      const int p0 = s[-across], p1 = s[-2 * across], q0 = s[0], q1 = s[across];
      s[-across] = (uint8_t)((2 * p1 + p0 + q1 + 2) >> 2);
      s[0] = (uint8_t)((2 * q1 + q0 + p1 + 2) >> 2);
    }
}

static void lumaVertical(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta, const int8_t tC0[4]) {
  lumaNormal(pixels, 1, stride, alpha, beta, tC0);
}
static void lumaHorizontal(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta, const int8_t tC0[4]) {
  lumaNormal(pixels, stride, 1, alpha, beta, tC0);
}
static void lumaVerticalStrong(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta) {
  lumaStrong(pixels, 1, stride, alpha, beta);
}
static void lumaHorizontalStrong(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta) {
  lumaStrong(pixels, stride, 1, alpha, beta);
}
static void chromaVertical(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta, const int8_t tC0[4]) {
  chromaNormal(pixels, 2, stride, alpha, beta, tC0);
}
static void chromaHorizontal(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta, const int8_t tC0[4]) {
  chromaNormal(pixels, stride, 2, alpha, beta, tC0);
}
static void chromaVerticalStrong(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta) {
  chromaStrong(pixels, 2, stride, alpha, beta);
}
static void chromaHorizontalStrong(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta) {
  chromaStrong(pixels, stride, 2, alpha, beta);
}

// MARK: - All edges of a macroblock

typedef void (*Normal)(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta, const int8_t tC0[4]);
typedef void (*Strong)(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta);

// Edges `by` apart in luma's count, `step` bytes apart in memory.
static void allEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges, int by, ptrdiff_t step, Normal normal,
                     Strong strong) {
  for (int e = 0; e < 4; e += by, pixels += step) {
    const int inside = e > 0, alpha = edges->alpha[inside], beta = edges->beta[inside];
    const uint32_t bS = edges->bS[e];
    if (bS == 0 || alpha == 0 || beta == 0) continue;
    if ((bS & 255) == 4) {
      strong(pixels, stride, alpha, beta);
      continue;
    }
    int8_t tC0[4];
    for (int i = 0; i < 4; i++) {
      const int s = bS >> (8 * i) & 3;
      tC0[i] = (int8_t)(s == 0 ? -1 : edges->tC0[inside][s]);
    }
    normal(pixels, stride, alpha, beta, tC0);
  }
}

static void lumaVerticalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  allEdges(pixels, stride, edges, 1, 4, lumaVertical, lumaVerticalStrong);
}
static void lumaHorizontalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  allEdges(pixels, stride, edges, 1, 4 * stride, lumaHorizontal, lumaHorizontalStrong);
}
static void chromaVerticalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  allEdges(pixels, stride, edges, 2, 8, chromaVertical, chromaVerticalStrong);
}
static void chromaHorizontalEdges(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  allEdges(pixels, stride, edges, 2, 4 * stride, chromaHorizontal, chromaHorizontalStrong);
}

void ovt_deblock_c(OVTKernels *k) {
  k->deblockLumaVerticalEdges = lumaVerticalEdges;
  k->deblockLumaHorizontalEdges = lumaHorizontalEdges;
  k->deblockChromaVerticalEdges = chromaVerticalEdges;
  k->deblockChromaHorizontalEdges = chromaHorizontalEdges;
}
