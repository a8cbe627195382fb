// SPDX-License-Identifier: Apache-2.0
// Intra prediction from the row above (8.4.4.2.6, modes 18 to 34) in the vectors that are included
// before.

#include "../angles.h"

// Row y of a prediction from `ref`, LANES samples from x on.
SIMD_INLINE V angularRow(const Sample *ref, int y, int x, int angle) {
  const int position = (y + 1) * angle, fraction = position & 31;
  const Sample *const from = ref + (position >> 5) + 1 + x;
  const V near = sampleLoad(from);
  if (fraction == 0) return near;
  const V sum = vadd(vmul(near, vset(32 - fraction)), vmul(sampleLoad(from + 1), vset(fraction)));
  return vsra(vadd(sum, vset(16)), 5);
}

SIMD void intraVertical(Sample *dst, ptrdiff_t stride, const Sample *edge, int log2Size, int mode, int filterEdges) {
  const int n = 1 << log2Size, angle = intraAngles[mode], width = n < LANES ? n : LANES;
  // Up to n samples before ref[0], n after it, and what vectors read beyond: of no influence.
  Sample memory[32 + 80];
  const Sample *ref = edge;
  if (angle < 0) {
    Sample *const extended = memory + 32;
    memset(extended + n, 0, 32 * sizeof memory[0]);
    memcpy(extended, edge, (size_t)(n + 1) * sizeof extended[0]);
    for (int i = -1; i >= (n * angle) >> 5; i--) extended[i] = edge[-((-i * inverseAngles[mode - 11] + 128) >> 8)];
    ref = extended;
  }
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x += LANES) sampleStore(dst + y * stride + x, angularRow(ref, y, x, angle), width);
  if (angle == 0 && filterEdges)
    for (int y = 0; y < n; y++) dst[y * stride] = clipSample(edge[1] + ((edge[-1 - y] - edge[0]) >> 1));
}
