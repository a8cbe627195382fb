// SPDX-License-Identifier: Apache-2.0
// Sample adaptive offset (8.7.3) and what its choice needs. Plain C, for the depth that is included
// before.

OVT_INLINE int saoSign(int v) { return (v > 0) - (v < 0); }

// The distance of the second neighbour; the first lies opposite.
OVT_INLINE ptrdiff_t saoNeighbour(int direction, ptrdiff_t stride) {
  const ptrdiff_t distances[4] = {1, stride, stride + 1, stride - 1};
  return distances[direction];
}

// 0 for a local minimum, 1, 2 for none, 3, 4 for a local maximum.
OVT_INLINE int saoCategory(const Sample *s, ptrdiff_t neighbour) {
  return 2 + saoSign(s[0] - s[-neighbour]) + saoSign(s[0] - s[neighbour]);
}

static void saoEdge(Sample *dst, ptrdiff_t dstStride, const Sample *rec, ptrdiff_t recStride, int width, int height,
                    int direction, const int8_t offsets[4]) {
  const ptrdiff_t neighbour = saoNeighbour(direction, recStride);
  const int byCategory[5] = {offsets[0], offsets[1], 0, offsets[2], offsets[3]};
  for (int y = 0; y < height; y++, dst += dstStride, rec += recStride)
    for (int x = 0; x < width; x++) dst[x] = clipSample(rec[x] + byCategory[saoCategory(rec + x, neighbour)]);
}

static void saoBand(Sample *dst, ptrdiff_t dstStride, const Sample *rec, ptrdiff_t recStride, int width, int height,
                    int position, const int8_t offsets[4]) {
  int byBand[32] = {0};
  for (int i = 0; i < 4; i++) byBand[(position + i) & 31] = offsets[i];
  for (int y = 0; y < height; y++, dst += dstStride, rec += recStride)
    for (int x = 0; x < width; x++) dst[x] = clipSample(rec[x] + byBand[rec[x] >> (BIT_DEPTH - 5)]);
}

static void saoEdgeStatistics(int32_t sums[4], int32_t counts[4], const Sample *src, ptrdiff_t srcStride,
                              const Sample *rec, ptrdiff_t recStride, int width, int height, int direction) {
  const ptrdiff_t neighbour = saoNeighbour(direction, recStride);
  int32_t sum[5] = {0}, count[5] = {0};
  for (int y = 0; y < height; y++, src += srcStride, rec += recStride)
    for (int x = 0; x < width; x++) {
      const int category = saoCategory(rec + x, neighbour);
      sum[category] += src[x] - rec[x], count[category]++;
    }
  for (int i = 0; i < 4; i++) sums[i] += sum[i + (i > 1)], counts[i] += count[i + (i > 1)];
}

static void saoBandStatistics(int32_t sums[32], int32_t counts[32], const Sample *src, ptrdiff_t srcStride,
                              const Sample *rec, ptrdiff_t recStride, int width, int height) {
  for (int y = 0; y < height; y++, src += srcStride, rec += recStride)
    for (int x = 0; x < width; x++) {
      const int band = rec[x] >> (BIT_DEPTH - 5);
      sums[band] += src[x] - rec[x], counts[band]++;
    }
}

static void fillSAO(Kernels *k) {
  k->saoEdge = saoEdge, k->saoBand = saoBand;
  k->saoEdgeStatistics = saoEdgeStatistics, k->saoBandStatistics = saoBandStatistics;
}
