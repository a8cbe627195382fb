// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks: SAD, SATD with Hadamard transforms of 4x4, SSD; means of blocks. Plain C,
// for the depth that is included before.

OVT_INLINE int sad(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride, int width,
                   int height) {
  int sum = 0;
  for (int y = 0; y < height; y++, src += srcStride, ref += stride)
    for (int x = 0; x < width; x++) sum += ovt_abs(src[x] - ref[x]);
  return sum;
}

OVT_INLINE int ssd(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride, int width,
                   int height) {
  uint32_t sum = 0;
  for (int y = 0; y < height; y++, src += srcStride, ref += stride)
    for (int x = 0; x < width; x++) {
      const int d = src[x] - ref[x];
      sum += (uint32_t)(d * d);
    }
  return (int)sum;
}

OVT_INLINE int hadamard4x4(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride) {
  int t[4][4];
  for (int y = 0; y < 4; y++, src += srcStride, ref += stride) {
    const int d0 = src[0] - ref[0], d1 = src[1] - ref[1], d2 = src[2] - ref[2], d3 = src[3] - ref[3];
    const int a = d0 + d1, b = d0 - d1, c = d2 + d3, d = d2 - d3;
    t[y][0] = a + c, t[y][1] = b + d, t[y][2] = a - c, t[y][3] = b - d;
  }
  int sum = 0;
  for (int x = 0; x < 4; x++) {
    const int a = t[0][x] + t[1][x], b = t[0][x] - t[1][x];
    const int c = t[2][x] + t[3][x], d = t[2][x] - t[3][x];
    sum += ovt_abs(a + c) + ovt_abs(b + d) + ovt_abs(a - c) + ovt_abs(b - d);
  }
  return sum;
}

OVT_INLINE int satd(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride, int width,
                    int height) {
  int sum = 0;
  for (int y = 0; y < height; y += 4)
    for (int x = 0; x < width; x += 4)
      sum += hadamard4x4(src + y * srcStride + x, srcStride, ref + y * stride + x, stride);
  return sum >> 1;
}

OVT_INLINE void mean(Sample *dst, ptrdiff_t dstStride, const Sample *a, const Sample *b, ptrdiff_t stride, int width,
                     int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += stride, b += stride)
    for (int x = 0; x < width; x++) dst[x] = (Sample)((a[x] + b[x] + 1) >> 1);
}

#include "../shapes.h"

EACH_SHAPE(DEFINE_SHAPE)

DEFINE_MEAN(8)
DEFINE_MEAN(16)
DEFINE_MEAN(32)

static void fillCompare(Kernels *k) {
  EACH_SHAPE(FILL_SHAPE)
  k->mean[0] = mean8, k->mean[1] = mean16, k->mean[2] = mean32;
}
