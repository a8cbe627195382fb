// SPDX-License-Identifier: Apache-2.0
// Forward and inverse transforms (8.6.4.2) and transform skip. Plain C.

#include "stages.h"

static const int8_t sineMatrix[4][4] = {{29, 55, 74, 84}, {74, 74, 0, -74}, {84, -29, -74, 55}, {55, -84, 74, -29}};

// Row k, column x of the matrix of n points.
OVT_INLINE int coefficient(int n, int isSine, int k, int x) {
  return isSine ? sineMatrix[k][x] : ovt_hevc_matrix[k * (32 / n)][x];
}

OVT_INLINE void forward(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int bitDepth, int log2Size,
                        int isSine) {
  const int n = 1 << log2Size, shift1 = log2Size + bitDepth - 9, shift2 = log2Size + 6;
  int16_t lines[32 * 32];  // [k][x]
  for (int k = 0; k < n; k++) {
    int sums[32];
    for (int x = 0; x < n; x++) sums[x] = 1 << (shift1 - 1);
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) sums[x] += coefficient(n, isSine, k, y) * residual[y * stride + x];
    for (int x = 0; x < n; x++) lines[k * n + x] = (int16_t)(sums[x] >> shift1);
  }
  for (int y = 0; y < n; y++)
    for (int k = 0; k < n; k++) {
      int sum = 1 << (shift2 - 1);
      for (int x = 0; x < n; x++) sum += coefficient(n, isSine, k, x) * lines[y * n + x];
      coef[y * n + k] = (int16_t)(sum >> shift2);
    }
}

OVT_INLINE void inverse(int16_t *residual, ptrdiff_t stride, const int16_t *coef, int bitDepth, int columns, int rows,
                        int log2Size, int isSine) {
  const int n = 1 << log2Size, shift2 = 20 - bitDepth;
  int16_t lines[32 * 32];  // [y][column]
  for (int y = 0; y < n; y++)
    for (int x = 0; x < columns; x++) {
      int sum = 64;
      for (int k = 0; k < rows; k++) sum += coefficient(n, isSine, k, y) * coef[k * n + x];
      lines[y * n + x] = (int16_t)ovt_clip16(sum >> 7);
    }
  for (int y = 0; y < n; y++, residual += stride) {
    int sums[32];
    for (int x = 0; x < n; x++) sums[x] = 1 << (shift2 - 1);
    for (int k = 0; k < columns; k++)
      for (int x = 0; x < n; x++) sums[x] += coefficient(n, isSine, k, x) * lines[y * n + k];
    for (int x = 0; x < n; x++) residual[x] = (int16_t)ovt_clip16(sums[x] >> shift2);
  }
}

#define SIZE(NAME, LOG2, IS_SINE)                                                                                \
  static void forward##NAME(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int bitDepth) {            \
    forward(coef, residual, stride, bitDepth, LOG2, IS_SINE);                                                    \
  }                                                                                                              \
  static void inverse##NAME(int16_t *residual, ptrdiff_t stride, const int16_t *coef, int bitDepth, int columns, \
                            int rows) {                                                                          \
    inverse(residual, stride, coef, bitDepth, columns, rows, LOG2, IS_SINE);                                     \
  }
SIZE(4x4, 2, 0)
SIZE(8x8, 3, 0)
SIZE(16x16, 4, 0)
SIZE(32x32, 5, 0)
SIZE(DST4x4, 2, 1)

static void forwardLow32(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int bitDepth) {
  forward32x32(coef, residual, stride, bitDepth);
  for (int y = 0; y < 32; y++)
    for (int x = y < 16 ? 16 : 0; x < 32; x++) coef[y * 32 + x] = 0;
}

// The standard shifts coefficients left by 5 + log2Size and then right by 20 - bitDepth with
// rounding; that is one shift to the right.
static void forwardSkip(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int log2Size, int bitDepth) {
  const int n = 1 << log2Size, factor = 1 << (15 - bitDepth - log2Size);
  for (int y = 0; y < n; y++, residual += stride)
    for (int x = 0; x < n; x++) coef[y * n + x] = (int16_t)(residual[x] * factor);
}

static void inverseSkip(int16_t *residual, ptrdiff_t stride, const int16_t *coef, int log2Size, int bitDepth) {
  const int n = 1 << log2Size, shift = 15 - bitDepth - log2Size, rounding = (1 << shift) >> 1;
  for (int y = 0; y < n; y++, residual += stride)
    for (int x = 0; x < n; x++) residual[x] = (int16_t)((coef[y * n + x] + rounding) >> shift);
}

void ovt_hevc_transform_c(OVTHEVCResidualKernels *k) {
  k->forward[0] = forward4x4, k->forward[1] = forward8x8, k->forward[2] = forward16x16, k->forward[3] = forward32x32;
  k->inverse[0] = inverse4x4, k->inverse[1] = inverse8x8, k->inverse[2] = inverse16x16, k->inverse[3] = inverse32x32;
  k->forwardLow32 = forwardLow32;
  k->forwardDST4x4 = forwardDST4x4, k->inverseDST4x4 = inverseDST4x4;
  k->forwardSkip = forwardSkip, k->inverseSkip = inverseSkip;
}
