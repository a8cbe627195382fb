// SPDX-License-Identifier: Apache-2.0
// The computation of the motion-compensated temporal filter for each sample. Compilers make vector
// instructions of the loops: 16 is the widest block.

#include "stages.h"

void ovt_interpolate_8(uint8_t *restrict dst, ptrdiff_t dstStride, const uint8_t *restrict src, ptrdiff_t srcStride,
                       int width, int height, const int8_t xTaps[8], const int8_t yTaps[8]) {
  // Eight taps whose sum is 64 and whose absolute sum is at most 112: |v| <= 112 * 255 fits 16
  // bits.
  int16_t rows[23 * 16];
  const uint8_t *line = src - 3 * srcStride - 3;
  for (int y = 0; y < height + 7; y++, line += srcStride) {
    int16_t *out = rows + 16 * y;
    for (int x = 0; x < width; x++) {
      int v = 0;
      for (int i = 0; i < 8; i++) v += xTaps[i] * line[x + i];
      out[x] = (int16_t)v;
    }
  }
  for (int y = 0; y < height; y++) {
    const int16_t *in = rows + 16 * y;
    for (int x = 0; x < width; x++) {
      int v = 2048;
      for (int i = 0; i < 8; i++) v += yTaps[i] * in[16 * i + x];
      v >>= 12;
      dst[y * dstStride + x] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
  }
}

// Sums and weights have 16 values for each row.
void ovt_temporal_start_8(int32_t *restrict sums, int32_t *restrict weights, const uint8_t *restrict src,
                          ptrdiff_t srcStride, int width, int height) {
  for (int y = 0; y < height; y++, sums += 16, weights += 16, src += srcStride) {
    for (int x = 0; x < width; x++) {
      sums[x] = 256 * src[x];
      weights[x] = 256;
    }
  }
}

void ovt_temporal_add_8(int32_t *restrict sums, int32_t *restrict weights, const uint8_t *restrict src,
                        ptrdiff_t srcStride, const uint8_t *restrict ref, ptrdiff_t refStride, int width, int height,
                        int limit, int weight) {
  const int square = limit * limit;
  // 2^24 over the square: t below is at most 256.
  const int scale = square > 0 ? (1 << 24) / square : 0;
  for (int y = 0; y < height; y++, sums += 16, weights += 16, src += srcStride, ref += refStride) {
    for (int x = 0; x < width; x++) {
      const int d = src[x] - ref[x];
      const int rest = square - d * d;
      const int t = ((rest < 0 ? 0 : rest) * scale) >> 16;
      const int w = (t * t * weight) >> 16;
      sums[x] += w * ref[x];
      weights[x] += w;
    }
  }
}

void ovt_temporal_finish_8(uint8_t *restrict dst, ptrdiff_t dstStride, const int32_t *restrict sums,
                           const int32_t *restrict weights, int width, int height) {
  // Sums are below 2^24, so that they are exact as floats. The quotient of two integers, the
  // smaller below 2^12, lies at least 2^-12 below the next integer or on it, which its rounding
  // does not reach.
  for (int y = 0; y < height; y++, sums += 16, weights += 16, dst += dstStride)
    for (int x = 0; x < width; x++) {
      dst[x] = (uint8_t)(int)((float)(sums[x] + (weights[x] >> 1)) / (float)weights[x]);
    }
}
