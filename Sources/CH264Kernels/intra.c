// SPDX-License-Identifier: Apache-2.0
// Intra prediction samples (8.3). Plain C.

#include "intra_edge.h"
#include "stages.h"

// MARK: - Whole blocks

OVT_INLINE void fill(uint8_t *dst, ptrdiff_t stride, int width, int height, int value) {
  for (int y = 0; y < height; y++, dst += stride) memset(dst, value, (size_t)width);
}

OVT_INLINE void vertical(uint8_t *dst, ptrdiff_t stride, int width, int height) {
  for (int y = 0; y < height; y++) memcpy(dst + y * stride, dst - stride, (size_t)width);
}

static int sumTop(const uint8_t *dst, ptrdiff_t stride, int n, int step) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += dst[i * step - stride];
  return sum;
}

static int sumLeft(const uint8_t *dst, ptrdiff_t stride, int n, int step) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += dst[i * stride - step];
  return sum;
}

// MARK: - Intra_16x16 (8.3.3)

static void vertical16x16(uint8_t *dst, ptrdiff_t stride) { vertical(dst, stride, 16, 16); }

static void horizontal16x16(uint8_t *dst, ptrdiff_t stride) {
  for (int y = 0; y < 16; y++, dst += stride) memset(dst, dst[-1], 16);
}

static void dc16x16(uint8_t *dst, ptrdiff_t stride) {
  fill(dst, stride, 16, 16, (sumTop(dst, stride, 16, 1) + sumLeft(dst, stride, 16, 1) + 16) >> 5);
}

static void dcLeft16x16(uint8_t *dst, ptrdiff_t stride) {
  fill(dst, stride, 16, 16, (sumLeft(dst, stride, 16, 1) + 8) >> 4);
}

static void dcTop16x16(uint8_t *dst, ptrdiff_t stride) {
  fill(dst, stride, 16, 16, (sumTop(dst, stride, 16, 1) + 8) >> 4);
}

static void dc128_16x16(uint8_t *dst, ptrdiff_t stride) { fill(dst, stride, 16, 16, 128); }

static void plane16x16(uint8_t *dst, ptrdiff_t stride) {
  const uint8_t *top = dst - stride, *left = dst - 1;
  int h = 0, v = 0;
  for (int i = 0; i < 8; i++) {
    h += (i + 1) * (top[8 + i] - top[6 - i]);
    v += (i + 1) * (left[(8 + i) * stride] - left[(6 - i) * stride]);
  }
  const int a = 16 * (left[15 * stride] + top[15]), b = (5 * h + 32) >> 6, c = (5 * v + 32) >> 6;
  for (int y = 0; y < 16; y++, dst += stride)
    for (int x = 0; x < 16; x++) dst[x] = ovt_clip_u8((a + b * (x - 7) + c * (y - 7) + 16) >> 5);
}

// MARK: - Chroma, 4:2:0, NV12 (8.3.4)

// Sets the 4x4 block at (x, y) of component c.
OVT_INLINE void fillChroma4x4(uint8_t *dst, ptrdiff_t stride, int x, int y, int c, int value) {
  for (int i = 0; i < 16; i++) dst[(y + (i >> 2)) * stride + 2 * (x + (i & 3)) + c] = (uint8_t)value;
}

static void dcChroma(uint8_t *dst, ptrdiff_t stride) {
  for (int c = 0; c < 2; c++) {
    const int top0 = sumTop(dst + c, stride, 4, 2), top1 = sumTop(dst + 8 + c, stride, 4, 2);
    const int left0 = sumLeft(dst + c, stride, 4, 2), left1 = sumLeft(dst + 4 * stride + c, stride, 4, 2);
    fillChroma4x4(dst, stride, 0, 0, c, (top0 + left0 + 4) >> 3);
    fillChroma4x4(dst, stride, 4, 0, c, (top1 + 2) >> 2);
    fillChroma4x4(dst, stride, 0, 4, c, (left1 + 2) >> 2);
    fillChroma4x4(dst, stride, 4, 4, c, (top1 + left1 + 4) >> 3);
  }
}

static void dcLeftChroma(uint8_t *dst, ptrdiff_t stride) {
  for (int c = 0; c < 2; c++)
    for (int y = 0; y < 8; y += 4) {
      const int dc = (sumLeft(dst + y * stride + c, stride, 4, 2) + 2) >> 2;
      fillChroma4x4(dst, stride, 0, y, c, dc);
      fillChroma4x4(dst, stride, 4, y, c, dc);
    }
}

static void dcTopChroma(uint8_t *dst, ptrdiff_t stride) {
  for (int c = 0; c < 2; c++)
    for (int x = 0; x < 8; x += 4) {
      const int dc = (sumTop(dst + 2 * x + c, stride, 4, 2) + 2) >> 2;
      fillChroma4x4(dst, stride, x, 0, c, dc);
      fillChroma4x4(dst, stride, x, 4, c, dc);
    }
}

static void dc128Chroma(uint8_t *dst, ptrdiff_t stride) { fill(dst, stride, 16, 8, 128); }

static void horizontalChroma(uint8_t *dst, ptrdiff_t stride) {
  for (int y = 0; y < 8; y++, dst += stride)
    for (int x = 0; x < 16; x++) dst[x] = dst[(x & 1) - 2];
}

static void verticalChroma(uint8_t *dst, ptrdiff_t stride) { vertical(dst, stride, 16, 8); }

static void planeChroma(uint8_t *dst, ptrdiff_t stride) {
  for (int c = 0; c < 2; c++, dst++) {
    const uint8_t *top = dst - stride, *left = dst - 2;
    int h = 0, v = 0;
    for (int i = 0; i < 4; i++) {
      h += (i + 1) * (top[2 * (4 + i)] - top[2 * (2 - i)]);
      v += (i + 1) * (left[(4 + i) * stride] - left[(2 - i) * stride]);
    }
    const int a = 16 * (left[7 * stride] + top[14]), b = (34 * h + 32) >> 6, d = (34 * v + 32) >> 6;
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 8; x++)
        dst[y * stride + 2 * x] = ovt_clip_u8((a + b * (x - 3) + d * (y - 3) + 16) >> 5);
  }
}

// MARK: - Intra_4x4 (8.3.1.2) and Intra_8x8 (8.3.2.2)

#define MODE(M)                                                                    \
  static void predict4x4_##M(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge) { \
    predict(dst, stride, edge, M, 4);                                              \
  }                                                                                \
  static void predict8x8_##M(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge) { \
    predict(dst, stride, edge, M, 8);                                              \
  }
MODE(0)
MODE(1)
MODE(2)
MODE(3)
MODE(4)
MODE(5)
MODE(6)
MODE(7)
MODE(8)
MODE(9)
MODE(10)
MODE(11)

static void filterEdge(uint8_t *out, const uint8_t *edge, int available) { filterEdge8x8(out, edge, available); }

void ovt_intra_c(OVTKernels *k) {
  const OVTPredictInPlace luma[7] = {vertical16x16, horizontal16x16, dc16x16,    plane16x16,
                                     dcLeft16x16,   dcTop16x16,      dc128_16x16};
  const OVTPredictInPlace chroma[7] = {dcChroma,     horizontalChroma, verticalChroma, planeChroma,
                                       dcLeftChroma, dcTopChroma,      dc128Chroma};
  memcpy(k->intra16x16, luma, sizeof luma);
  memcpy(k->intraChroma, chroma, sizeof chroma);
#define FILL(M) k->intra4x4[M] = predict4x4_##M, k->intra8x8[M] = predict8x8_##M;
  FILL(0)
  FILL(1)
  FILL(2)
  FILL(3)
  FILL(4)
  FILL(5)
  FILL(6)
  FILL(7)
  FILL(8)
  FILL(9)
  FILL(10)
  FILL(11)
  k->filterEdge8x8 = filterEdge;
}
