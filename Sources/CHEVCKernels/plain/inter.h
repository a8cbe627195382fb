// SPDX-License-Identifier: Apache-2.0
// Inter prediction samples (8.5.3.3.3, 8.5.3.3.4). Plain C, for the depth that is included before.

#include "../taps.h"

// A filter of whole weights (64 for a sample) gives the same as none: 64 a >> (BitDepth - 8) is
// a << (14 - BitDepth). `step` is the distance of samples. Without a horizontal filter the vertical
// one has shift1, and what the filter of whole weights makes of samples is shifted as it is here.
OVT_INLINE int filter(const Sample *src, ptrdiff_t step, const int8_t *taps, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) sum += taps[i] * src[(i - count / 2 + 1) * step];
  return sum >> (BIT_DEPTH - 8);
}

// One sample as predSamplesLX has it: unsigned in 14 bits but for what filters exceed.
OVT_INLINE int interpolated(const Sample *src, ptrdiff_t stride, const int8_t *horizontal, const int8_t *vertical,
                            int count, int xFrac, int yFrac) {
  if (yFrac == 0) return filter(src, 1, horizontal, count);
  if (xFrac == 0) return filter(src, stride, vertical, count);
  int sum = 0;
  for (int i = 0; i < count; i++) sum += vertical[i] * filter(src + (i - count / 2 + 1) * stride, 1, horizontal, count);
  return sum >> 6;
}

OVT_INLINE Sample rounded(int v) { return clipSample((v + (1 << (13 - BIT_DEPTH))) >> (14 - BIT_DEPTH)); }

#define INTERPOLATION(NAME, TAPS, COUNT)                                                                          \
  static void NAME##High(int16_t *dst, ptrdiff_t dstStride, const Sample *src, ptrdiff_t srcStride, int width,    \
                         int height, int xFrac, int yFrac) {                                                      \
    for (int y = 0; y < height; y++, dst += dstStride, src += srcStride)                                          \
      for (int x = 0; x < width; x++)                                                                             \
        dst[x] = (int16_t)(interpolated(src + x, srcStride, TAPS[xFrac], TAPS[yFrac], COUNT, xFrac, yFrac) -      \
                           HIGH_OFFSET);                                                                          \
  }                                                                                                               \
  static void NAME(Sample *dst, ptrdiff_t dstStride, const Sample *src, ptrdiff_t srcStride, int width,           \
                   int height, int xFrac, int yFrac) {                                                            \
    for (int y = 0; y < height; y++, dst += dstStride, src += srcStride)                                          \
      for (int x = 0; x < width; x++)                                                                             \
        dst[x] = rounded(interpolated(src + x, srcStride, TAPS[xFrac], TAPS[yFrac], COUNT, xFrac, yFrac));        \
  }
INTERPOLATION(luma, lumaTaps, 8)
INTERPOLATION(chroma, chromaTaps, 4)

static void lumaHalves(Sample *const planes[3], const Sample *src, ptrdiff_t stride, int width, int height) {
  luma(planes[0], stride, src, stride, width, height, 2, 0);
  luma(planes[1], stride, src, stride, width, height, 0, 2);
  luma(planes[2], stride, src, stride, width, height, 2, 2);
}

static void roundHigh(Sample *dst, ptrdiff_t dstStride, const int16_t *a, ptrdiff_t stride, int width, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += stride)
    for (int x = 0; x < width; x++) dst[x] = rounded(a[x] + HIGH_OFFSET);
}

static void average(Sample *dst, ptrdiff_t dstStride, const int16_t *a, const int16_t *b, ptrdiff_t stride, int width,
                    int height) {
  for (int y = 0; y < height; y++, dst += dstStride, a += stride, b += stride)
    for (int x = 0; x < width; x++)
      dst[x] = clipSample((a[x] + b[x] + 2 * HIGH_OFFSET + (1 << (14 - BIT_DEPTH))) >> (15 - BIT_DEPTH));
}

static void weigh(Sample *dst, ptrdiff_t dstStride, const int16_t *a, ptrdiff_t stride, int width, int height,
                  int log2WD, int w, int o) {
  for (int y = 0; y < height; y++, dst += dstStride, a += stride)
    for (int x = 0; x < width; x++)
      dst[x] = clipSample((((a[x] + HIGH_OFFSET) * w + (1 << (log2WD - 1))) >> log2WD) + o);
}

static void weighBoth(Sample *dst, ptrdiff_t dstStride, const int16_t *a, const int16_t *b, ptrdiff_t stride,
                      int width, int height, int log2WD, int w0, int w1, int o0, int o1) {
  const int offset = (o0 + o1 + 1) * (1 << log2WD);
  for (int y = 0; y < height; y++, dst += dstStride, a += stride, b += stride)
    for (int x = 0; x < width; x++)
      dst[x] = clipSample(((a[x] + HIGH_OFFSET) * w0 + (b[x] + HIGH_OFFSET) * w1 + offset) >> (log2WD + 1));
}

static void fillInter(Kernels *k) {
  k->luma = luma, k->lumaHigh = lumaHigh, k->chroma = chroma, k->chromaHigh = chromaHigh;
  k->lumaHalves = lumaHalves;
  k->round = roundHigh, k->average = average, k->weigh = weigh, k->weighBoth = weighBoth;
}
