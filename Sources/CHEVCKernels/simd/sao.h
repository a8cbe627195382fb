// SPDX-License-Identifier: Apache-2.0
// Sample adaptive offset (8.7.3) and the statistics of edges in the vectors that are included
// before.

// -1, 0, 1 as a is less than, equal to, greater than b.
SIMD_INLINE V compareLanes(V a, V b) { return vsub(vgreater(b, a), vgreater(a, b)); }

// The distance of the second neighbour; the first lies opposite.
OVT_INLINE ptrdiff_t saoNeighbour(int direction, ptrdiff_t stride) {
  const ptrdiff_t distances[4] = {1, stride, stride + 1, stride - 1};
  return distances[direction];
}

// From -2, a local minimum, to 2, a local maximum.
SIMD_INLINE V saoShape(const Sample *s, V centre, ptrdiff_t neighbour) {
  return vadd(compareLanes(centre, sampleLoad(s - neighbour)), compareLanes(centre, sampleLoad(s + neighbour)));
}

// Any number of lanes; clips.
SIMD_INLINE void storeAny(Sample *dst, V v, int n) {
  if (n >= LANES) {
    sampleStore(dst, v, LANES);
    return;
  }
  Sample lanes[LANES];
  sampleStore(lanes, v, LANES);
  memcpy(dst, lanes, (size_t)n * sizeof lanes[0]);
}

SIMD_INLINE V offsetTable(int a, int b, int c, int d, int e) {
  const int16_t one[8] = {(int16_t)a, (int16_t)b, (int16_t)c, (int16_t)d, (int16_t)e, 0, 0, 0};
  return vrepeat(one);
}

SIMD void saoEdge(Sample *dst, ptrdiff_t dstStride, const Sample *rec, ptrdiff_t recStride, int width, int height,
                  int direction, const int8_t offsets[4]) {
  const ptrdiff_t neighbour = saoNeighbour(direction, recStride);
  const V table = offsetTable(offsets[0], offsets[1], 0, offsets[2], offsets[3]);
  for (int y = 0; y < height; y++, dst += dstStride, rec += recStride)
    for (int x = 0; x < width; x += LANES) {
      const V centre = sampleLoad(rec + x);
      const V offset = vlook(table, vadd(saoShape(rec + x, centre, neighbour), vset(2)));
      storeAny(dst + x, vadd(centre, offset), width - x);
    }
}

SIMD void saoBand(Sample *dst, ptrdiff_t dstStride, const Sample *rec, ptrdiff_t recStride, int width, int height,
                  int position, const int8_t offsets[4]) {
  const V table = offsetTable(offsets[0], offsets[1], offsets[2], offsets[3], 0);
  const V first = vset(position), most = vset(4), bands = vset(31);
  for (int y = 0; y < height; y++, dst += dstStride, rec += recStride)
    for (int x = 0; x < width; x += LANES) {
      const V sample = sampleLoad(rec + x);
      const V band = vand(vsub(vsra(sample, BIT_DEPTH - 5), first), bands);
      storeAny(dst + x, vadd(sample, vlook(table, vmin(band, most))), width - x);
    }
}

SIMD void saoEdgeStatistics(int32_t sums[4], int32_t counts[4], const Sample *src, ptrdiff_t srcStride,
                            const Sample *rec, ptrdiff_t recStride, int width, int height, int direction) {
  const ptrdiff_t neighbour = saoNeighbour(direction, recStride);
  static const int shapes[4] = {-2, -1, 1, 2};
  W sum[4] = {wset(0), wset(0), wset(0), wset(0)};
  V count[4] = {vzero(), vzero(), vzero(), vzero()};
  for (int y = 0; y < height; y++, src += srcStride, rec += recStride)
    for (int x = 0; x < width; x += LANES) {
      const V centre = sampleLoad(rec + x), difference = vsub(sampleLoad(src + x), centre);
      // What lies beyond the width counts as flat.
      const V shape = vand(saoShape(rec + x, centre, neighbour), vgreater(vset(width - x), vnumbers()));
      for (int i = 0; i < 4; i++) {
        const V is = vequal(shape, vset(shapes[i]));  // -1 where it is
        sum[i] = wsub(sum[i], wmadd(difference, is)), count[i] = vsub(count[i], is);
      }
    }
  for (int i = 0; i < 4; i++) sums[i] += wsum(sum[i]), counts[i] += vsum(count[i]);
}

#define FILL_SAO k->saoEdge = saoEdge, k->saoBand = saoBand, k->saoEdgeStatistics = saoEdgeStatistics;
