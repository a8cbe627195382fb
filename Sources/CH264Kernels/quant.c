// SPDX-License-Identifier: Apache-2.0
// Quantisation, scaling (8.5.12.1, 8.5.13.1) and scans (8.5.6, 8.5.7) of coefficients. Plain C.

#include "stages.h"

OVT_INLINE int quantise(int16_t *coef, int mf, int bias) {
  const int c = *coef;
  const int level = (int)(((uint32_t)(ovt_abs(c) + bias) * (uint32_t)mf) >> 16);
  *coef = (int16_t)(c > 0 ? level : c < 0 ? -level : 0);
  return *coef;
}

static int quant4x4(int16_t coef[16], const uint16_t mf[16], const uint16_t bias[16]) {
  int any = 0;
  for (int i = 0; i < 16; i++) any |= quantise(coef + i, mf[i], bias[i]);
  return any != 0;
}

static int quant4x4x4(int16_t coef[64], const uint16_t mf[16], const uint16_t bias[16]) {
  int blocks = 0;
  for (int i = 0; i < 4; i++) blocks |= quant4x4(coef + 16 * i, mf, bias) << i;
  return blocks;
}

static int quant8x8(int16_t coef[64], const uint16_t mf[64], const uint16_t bias[64]) {
  int any = 0;
  for (int i = 0; i < 64; i++) any |= quantise(coef + i, mf[i], bias[i]);
  return any != 0;
}

static int quantDC(int16_t *coef, int n, int mf, int bias) {
  int any = 0;
  for (int i = 0; i < n; i++) any |= quantise(coef + i, mf, bias);
  return any != 0;
}

static void scale4x4(int16_t coef[16], const int16_t scale[16]) {
  for (int i = 0; i < 16; i++) coef[i] = (int16_t)(coef[i] * scale[i]);
}

static void scale4x4x4(int16_t coef[64], const int16_t scale[16]) {
  for (int i = 0; i < 4; i++) scale4x4(coef + 16 * i, scale);
}

static void scale8x8(int16_t coef[64], const int16_t scale[64], int shift) {
  const int rounding = shift > 0 ? 1 << (shift - 1) : 0;
  for (int i = 0; i < 64; i++)
    coef[i] = (int16_t)ovt_clip3(INT16_MIN, INT16_MAX, (coef[i] * scale[i] + rounding) >> shift);
}

static const uint8_t zigzag4x4[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
static const uint8_t zigzag8x8[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static void scan4x4(int16_t level[16], const int16_t coef[16]) {
  for (int i = 0; i < 16; i++) level[i] = coef[zigzag4x4[i]];
}

static void scan8x8(int16_t level[64], const int16_t coef[64]) {
  for (int i = 0; i < 64; i++) level[i] = coef[zigzag8x8[i]];
}

static void interleave8x8(int16_t out[64], const int16_t level[64]) {
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 16; k++) out[16 * i + k] = level[4 * k + i];
}

void ovt_quant_c(OVTKernels *k) {
  k->quant4x4 = quant4x4;
  k->quant4x4x4 = quant4x4x4;
  k->quant8x8 = quant8x8;
  k->quantDC = quantDC;
  k->scale4x4 = scale4x4;
  k->scale4x4x4 = scale4x4x4;
  k->scale8x8 = scale8x8;
  k->scan4x4 = scan4x4;
  k->scan8x8 = scan8x8;
  k->interleave8x8 = interleave8x8;
}
