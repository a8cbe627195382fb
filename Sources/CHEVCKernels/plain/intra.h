// SPDX-License-Identifier: Apache-2.0
// Intra prediction (8.4.4.2). Plain C, for the depth that is included before.

#include "../angles.h"

static void smoothEdge(Sample *filtered, const Sample *edge, int log2Size, int strong) {
  const int n = 1 << log2Size, corner = edge[0], above = edge[2 * n], left = edge[-2 * n];
  filtered[-2 * n] = edge[-2 * n], filtered[2 * n] = edge[2 * n];
  if (strong && ovt_abs(corner + above - 2 * edge[n]) < 1 << (BIT_DEPTH - 5) &&
      ovt_abs(corner + left - 2 * edge[-n]) < 1 << (BIT_DEPTH - 5)) {
    filtered[0] = edge[0];
    for (int i = 1; i < 64; i++) {
      filtered[i] = (Sample)(((64 - i) * corner + i * above + 32) >> 6);
      filtered[-i] = (Sample)(((64 - i) * corner + i * left + 32) >> 6);
    }
    return;
  }
  for (int i = -2 * n + 1; i < 2 * n; i++) filtered[i] = (Sample)((edge[i - 1] + 2 * edge[i] + edge[i + 1] + 2) >> 2);
}

static void intraPlanar(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size) {
  const int n = 1 << log2Size, aboveRight = edge[n + 1], belowLeft = edge[-n - 1];
  for (int y = 0; y < n; y++, dst += stride)
    for (int x = 0; x < n; x++)
      dst[x] = (Sample)(((n - 1 - x) * edge[-1 - y] + (x + 1) * aboveRight + (n - 1 - y) * edge[1 + x] +
                         (y + 1) * belowLeft + n) >> (log2Size + 1));
}

static void intraDC(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size, int filterEdges) {
  const int n = 1 << log2Size;
  int sum = n;
  for (int i = 1; i <= n; i++) sum += edge[i] + edge[-i];
  const int dc = sum >> (log2Size + 1);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) dst[y * stride + x] = (Sample)dc;
  if (!filterEdges) return;
  dst[0] = (Sample)((edge[-1] + 2 * dc + edge[1] + 2) >> 2);
  for (int i = 1; i < n; i++) {
    dst[i] = (Sample)((edge[1 + i] + 3 * dc + 2) >> 2);
    dst[i * stride] = (Sample)((edge[-1 - i] + 3 * dc + 2) >> 2);
  }
}

// `along` is the distance of samples along the side that is predicted from: 1 for the row above
// (modes 18 and more), -1 for the column to the left. `step` and `line` are the distances in dst.
OVT_INLINE void intraAngular(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size, int mode, int filterEdges,
                             int isVertical) {
  const int n = 1 << log2Size, angle = intraAngles[mode];
  const int along = isVertical ? 1 : -1;
  const ptrdiff_t step = isVertical ? 1 : stride, line = isVertical ? stride : 1;
  Sample memory[3 * 32 + 1], *const ref = memory + 32;
  for (int i = 0; i <= 2 * n; i++) ref[i] = edge[along * i];
  if (angle < 0)
    for (int i = -1; i >= (n * angle) >> 5; i--) ref[i] = edge[-along * ((-i * inverseAngles[mode - 11] + 128) >> 8)];
  for (int y = 0; y < n; y++) {
    const int whole = ((y + 1) * angle) >> 5, fraction = ((y + 1) * angle) & 31;
    const Sample *from = ref + whole + 1;
    for (int x = 0; x < n; x++)
      dst[y * line + x * step] =
          fraction == 0 ? from[x] : (Sample)(((32 - fraction) * from[x] + fraction * from[x + 1] + 16) >> 5);
  }
  if (angle == 0 && filterEdges)
    for (int y = 0; y < n; y++) dst[y * line] = clipSample(edge[along] + ((edge[-along * (1 + y)] - edge[0]) >> 1));
}

static void intraHorizontal(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size, int mode,
                            int filterEdges) {
  intraAngular(dst, stride, edge, log2Size, mode, filterEdges, 0);
}
static void intraVertical(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size, int mode, int filterEdges) {
  intraAngular(dst, stride, edge, log2Size, mode, filterEdges, 1);
}

static void transpose(Sample *dst, ptrdiff_t dstStride, const Sample *src, ptrdiff_t srcStride, int log2Size) {
  for (int y = 0; y < 1 << log2Size; y++)
    for (int x = 0; x < 1 << log2Size; x++) dst[x * dstStride + y] = src[y * srcStride + x];
}

static void fillIntra(Kernels *k) {
  k->smoothEdge = smoothEdge;
  k->intraPlanar = intraPlanar;
  k->intraDC = intraDC;
  k->intraHorizontal = intraHorizontal;
  k->intraVertical = intraVertical;
  k->transpose = transpose;
}
