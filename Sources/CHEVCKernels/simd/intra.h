// SPDX-License-Identifier: Apache-2.0
// Intra prediction (8.4.4.2) in vectors of eight lanes, which are included before.

SIMD_INLINE V smoothed(const Sample *e) {
  const V ends = vadd(sampleLoad(e - 1), sampleLoad(e + 1)), centre = sampleLoad(e);
  return vsra(vadd(vadd(ends, vadd(centre, centre)), vset(2)), 2);
}

// 64 samples from the corner outwards: (64 - i) corner + i end; `step` is 1 or -1.
SIMD_INLINE void bilinear(Sample *filtered, int corner, int end, int step) {
  // Sums of up to 64 * 1023 need 16 bits without a sign.
  const V difference = vset(end - corner);
  for (int i = 0; i < 64; i += 8) {
    const V at = vadd(vset(i + 1), vnumbers());
    V v = vsrl(vadd(vadd(vmul(at, difference), vset(64 * corner)), vset(32)), 6);
    if (step < 0) v = vreverse(v);
    sampleStore(step < 0 ? filtered - i - 8 : filtered + i + 1, v, 8);
  }
}

SIMD void smoothEdge(Sample *filtered, const Sample *edge, int log2Size, int strong) {
  const int n = 1 << log2Size, corner = edge[0], above = edge[2 * n], left = edge[-2 * n];
  if (strong && ovt_abs(corner + above - 2 * edge[n]) < 1 << (BIT_DEPTH - 5) &&
      ovt_abs(corner + left - 2 * edge[-n]) < 1 << (BIT_DEPTH - 5)) {
    bilinear(filtered, corner, above, 1), bilinear(filtered, corner, left, -1);
    filtered[0] = (Sample)corner;
  } else {
    // 4 n - 1 samples; the last vector ends with the last of them.
    for (int i = -2 * n + 1; i < 2 * n - 8; i += 8) sampleStore(filtered + i, smoothed(edge + i), 8);
    sampleStore(filtered + 2 * n - 8, smoothed(edge + 2 * n - 8), 8);
  }
  filtered[-2 * n] = (Sample)left, filtered[2 * n] = (Sample)above;
}

SIMD void intraPlanar(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size) {
  const int n = 1 << log2Size, width = n < 8 ? n : 8, right = edge[n + 1], below = edge[-n - 1];
  for (int x = 0; x < n; x += 8) {
    // Sums of up to 64 * 1023 + 32 need 16 bits without a sign.
    const V at = vadd(vset(x + 1), vnumbers()), top = sampleLoad(edge + 1 + x);
    const V toRight = vsub(vset(n), at), step = vsub(vset(below), top);
    V sum = vadd(vadd(vmul(vset(n), top), vmul(at, vset(right))), vset(n));
    for (int y = 0; y < n; y++) {
      sum = vadd(sum, step);
      sampleStore(dst + y * stride + x, vsrl(vadd(sum, vmul(toRight, vset(edge[-1 - y]))), log2Size + 1), width);
    }
  }
}

SIMD void intraDC(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size, int filterEdges) {
  const int n = 1 << log2Size, width = n < 8 ? n : 8;
  V sum = vzero();
  for (int x = 0; x < n; x += 8)
    sum = vadd(sum, vadd(sampleLoadPart(edge + 1 + x, width), sampleLoadPart(edge - n + x, width)));
  const int dc = (vsum(sum) + n) >> (log2Size + 1);
  const V fill = vset(dc);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x += 8) sampleStore(dst + y * stride + x, fill, width);
  if (!filterEdges) return;
  for (int x = 0; x < n; x += 8)
    sampleStore(dst + x, vsra(vadd(sampleLoad(edge + 1 + x), vset(3 * dc + 2)), 2), width);
  for (int y = 1; y < n; y++) dst[y * stride] = (Sample)((edge[-1 - y] + 3 * dc + 2) >> 2);
  dst[0] = (Sample)((edge[-1] + 2 * dc + edge[1] + 2) >> 2);
}

#include "intra_vertical.h"

SIMD void intraHorizontal(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size, int mode,
                          int filterEdges) {
  const int n = 1 << log2Size, angle = intraAngles[mode], width = n < 8 ? n : 8;
  // Up to n samples before ref[0], 2 n after it, and what vectors read beyond: of no influence.
  Sample memory[32 + 80], *const ref = memory + 32;
  memset(ref + 2 * n, 0, 16 * sizeof memory[0]);
  ref[0] = edge[0];
  for (int i = 0; i < 2 * n; i += 8) sampleStore(ref + 1 + i, vreverse(sampleLoad(edge - 8 - i)), 8);
  if (angle < 0)
    for (int i = -1; i >= (n * angle) >> 5; i--) ref[i] = edge[(-i * inverseAngles[mode - 11] + 128) >> 8];
  for (int x = 0; x < n; x += 8)
    for (int y = 0; y < n; y += 8) {
      V v[8];
      for (int i = 0; i < 8; i++) v[i] = i < n ? angularRow(ref, x + i, y, angle) : vzero();
      transpose8(v);
      for (int i = 0; i < width; i++) sampleStore(dst + (y + i) * stride + x, v[i], width);
    }
  if (angle == 0 && filterEdges)
    for (int x = 0; x < n; x++) dst[x] = clipSample(edge[-1] + ((edge[1 + x] - edge[0]) >> 1));
}

// dst[x][y] = src[y][x].
SIMD void transpose(Sample *dst, ptrdiff_t dstStride, const Sample *src, ptrdiff_t srcStride, int log2Size) {
  const int n = 1 << log2Size;
  for (int y = 0; y < n; y += 8)
    for (int x = 0; x < n; x += 8) {
      V v[8];
      for (int i = 0; i < 8; i++) v[i] = sampleLoadPart(src + (y + i) * srcStride + x, 8);
      transpose8(v);
      for (int i = 0; i < 8; i++) sampleStore(dst + (x + i) * dstStride + y, v[i], 8);
    }
}

#define FILL_INTRA                                                            \
  k->smoothEdge = smoothEdge, k->intraPlanar = intraPlanar;                   \
  k->intraDC = intraDC, k->intraHorizontal = intraHorizontal;                 \
  k->intraVertical = intraVertical, k->transpose = transpose;
