// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks of 10-bit samples: SAD, SATD with Hadamard transforms of 4x4, SSD; means of
// blocks; in the vectors that are included before.

// DO(difference of n lanes) for all of a block.
#define EACH_DIFFERENCE(DO)                                                                           \
  const int n = width < LANES ? width : LANES;                                                        \
  for (int y = 0; y < height; y++, src += srcStride, ref += stride)                                   \
    for (int x = 0; x < width; x += LANES) {                                                          \
      const V d = vsub(sampleLoadPart(src + x, n), sampleLoadPart(ref + x, n));                       \
      DO                                                                                              \
    }

SIMD_INLINE int sad(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride, int width,
                    int height) {
  W sum = wset(0);
  EACH_DIFFERENCE(sum = wadd(sum, wmadd(vabs(d), vset(1)));)
  return wsum(sum);
}

SIMD_INLINE int ssd(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride, int width,
                    int height) {
  W sum = wset(0);
  EACH_DIFFERENCE(sum = wadd(sum, wmadd(d, d));)
  return wsum(sum);
}

// The sum of magnitudes of the last stage, a + b and a - b, is twice the larger of those of a and
// b: four lanes of a lie beside four of b, so that each of these is found twice.
SIMD_INLINE int satd(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride, int width,
                     int height) {
  const int n = width < LANES ? width : LANES;
  W sum = wset(0);
  for (int top = 0; top < height; top += 4, src += 4 * srcStride, ref += 4 * stride)
    for (int x = 0; x < width; x += LANES) {
      V v[4];
      for (int y = 0; y < 4; y++)
        v[y] = vsub(sampleLoadPart(src + y * srcStride + x, n), sampleLoadPart(ref + y * stride + x, n));
      const V a = vadd(v[0], v[1]), b = vsub(v[0], v[1]), c = vadd(v[2], v[3]), d = vsub(v[2], v[3]);
      const Zip even = vzip(vadd(a, c), vsub(a, c)), odd = vzip(vadd(b, d), vsub(b, d));
      const Zip left = vzip(even.lo, odd.lo), right = vzip(even.hi, odd.hi);
      const V parts[4] = {vabs(vadd(left.lo, left.hi)), vabs(vsub(left.lo, left.hi)),
                          vabs(vadd(right.lo, right.hi)), vabs(vsub(right.lo, right.hi))};
      for (int i = 0; i < 4; i++) sum = wadd(sum, wmadd(vmax(parts[i], vswap(parts[i])), vset(1)));
    }
  return wsum(sum) >> 1;
}

SIMD_INLINE void mean(Sample *dst, ptrdiff_t dstStride, const Sample *a, const Sample *b, ptrdiff_t stride, int width,
                      int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += stride, b += stride)
    for (int x = 0; x < width; x += LANES)
      vstore((int16_t *)dst + x, vsrl(vadd(vadd(sampleLoad(a + x), sampleLoad(b + x)), vset(1)), 1));
}

#include "../shapes.h"

WIDE_SHAPES(DEFINE_SHAPE)
DEFINE_MEAN(16)
DEFINE_MEAN(32)
#define FILL_WIDE WIDE_SHAPES(FILL_SHAPE) k->mean[1] = mean16, k->mean[2] = mean32;
#if OVT_HEVC_LANES == 8
NARROW_SHAPES(DEFINE_SHAPE)
DEFINE_MEAN(8)
#define FILL_COMPARE FILL_WIDE NARROW_SHAPES(FILL_SHAPE) k->mean[0] = mean8;
#else
#define FILL_COMPARE FILL_WIDE
#endif
