// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks: SAD, SATD, SSD, variance. Plain C.

#include "larger.h"
#include "stages.h"

OVT_INLINE int sad(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int width, int height) {
  int sum = 0;
  for (int y = 0; y < height; y++, src += srcStride, ref += stride)
    for (int x = 0; x < width; x++) sum += ovt_abs(src[x] - ref[x]);
  return sum;
}

OVT_INLINE int ssd(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int width, int height) {
  int sum = 0;
  for (int y = 0; y < height; y++, src += srcStride, ref += stride)
    for (int x = 0; x < width; x++) {
      const int d = src[x] - ref[x];
      sum += d * d;
    }
  return sum;
}

// Sum of the absolute values of H d H for a 4x4 block whose samples lie `step` apart; always even,
// because all sixteen values have the parity of the sum of d.
OVT_INLINE int hadamard4x4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int step) {
  int t[4][4];
  for (int y = 0; y < 4; y++, src += srcStride, ref += stride) {
    const int d0 = src[0] - ref[0], d1 = src[step] - ref[step];
    const int d2 = src[2 * step] - ref[2 * step], d3 = src[3 * step] - ref[3 * step];
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

OVT_INLINE int satd(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int width, int height) {
  int sum = 0;
  for (int y = 0; y < height; y += 4)
    for (int x = 0; x < width; x += 4) sum += hadamard4x4(src + y * srcStride + x, srcStride, ref + y * stride + x, stride, 1);
  return sum >> 1;
}

#define SHAPE(W, H)                                                                                  \
  static int sad##W##x##H(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {                \
    return sad(src, srcStride, ref, stride, W, H);                                                              \
  }                                                                                                  \
  static int satd##W##x##H(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {               \
    return satd(src, srcStride, ref, stride, W, H);                                                             \
  }                                                                                                  \
  static int ssd##W##x##H(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {                \
    return ssd(src, srcStride, ref, stride, W, H);                                                              \
  }                                                                                                  \
  static void sadX4_##W##x##H(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0, const uint8_t *r1,              \
                              const uint8_t *r2, const uint8_t *r3, ptrdiff_t stride, int out[4]) {  \
    out[0] = sad(src, srcStride, r0, stride, W, H);                                                             \
    out[1] = sad(src, srcStride, r1, stride, W, H);                                                             \
    out[2] = sad(src, srcStride, r2, stride, W, H);                                                             \
    out[3] = sad(src, srcStride, r3, stride, W, H);                                                             \
  }

SHAPE(16, 16)
SHAPE(16, 8)
SHAPE(8, 16)
SHAPE(8, 8)
SHAPE(8, 4)
SHAPE(4, 8)
SHAPE(4, 4)

// The average of two references, as rows of the macroblock cache.
static const uint8_t *average(uint8_t out[256], const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  for (int y = 0; y < 16; y++, a += stride, b += stride)
    for (int x = 0; x < 16; x++) out[y * 16 + x] = (uint8_t)((a[x] + b[x] + 1) >> 1);
  return out;
}

static int sadOfAverage(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  uint8_t rows[256];
  return sad(src, srcStride, average(rows, a, b, stride), 16, 16, 16);
}

static int satdOfAverage(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  uint8_t rows[256];
  return satd(src, srcStride, average(rows, a, b, stride), 16, 16, 16);
}

static void ssdNV12(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int out[2]) {
  out[0] = out[1] = 0;
  for (int y = 0; y < 8; y++, src += srcStride, ref += stride)
    for (int x = 0; x < 16; x++) {
      const int d = src[x] - ref[x];
      out[x & 1] += d * d;
    }
}

static int satdNV12(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  int sum = 0;
  for (int y = 0; y < 8; y += 4)
    for (int x = 0; x < 16; x += 8)
      for (int c = 0; c < 2; c++)
        sum += hadamard4x4(src + y * srcStride + x + c, srcStride, ref + y * stride + x + c, stride, 2);
  return sum >> 1;
}

static uint64_t variance16x16(const uint8_t *pixels, ptrdiff_t stride) {
  uint32_t sum = 0, squares = 0;
  for (int y = 0; y < 16; y++, pixels += stride)
    for (int x = 0; x < 16; x++) {
      sum += pixels[x];
      squares += (uint32_t)(pixels[x] * pixels[x]);
    }
  return (uint64_t)squares << 32 | sum;
}

static uint64_t ssdRow(const uint8_t *a, const uint8_t *b, int n) {
  uint64_t sum = 0;
  for (int x = 0; x < n; x++) {
    const int d = a[x] - b[x];
    sum += (uint64_t)(d * d);
  }
  return sum;
}

LARGER_SHAPES(LARGER_SAD, , )
LARGER_SHAPES(LARGER_SUMS, , )

#define FILL(W, H)                           \
  k->sad[OVT_##W##x##H] = sad##W##x##H;      \
  k->satd[OVT_##W##x##H] = satd##W##x##H;    \
  k->ssd[OVT_##W##x##H] = ssd##W##x##H;      \
  k->sadX4[OVT_##W##x##H] = sadX4_##W##x##H;

void ovt_compare_c(OVTVideoKernels *k) {
  FILL(16, 16)
  FILL(16, 8)
  FILL(8, 16)
  FILL(8, 8)
  FILL(8, 4)
  FILL(4, 8)
  FILL(4, 4)
  FILL(32, 32)
  FILL(32, 16)
  FILL(16, 32)
  FILL(64, 32)
  FILL(32, 64)
  FILL(64, 64)
  k->sadOfAverage = sadOfAverage;
  k->satdOfAverage = satdOfAverage;
  k->ssdNV12 = ssdNV12;
  k->satdNV12 = satdNV12;
  k->variance16x16 = variance16x16;
  k->ssdRow = ssdRow;
}
