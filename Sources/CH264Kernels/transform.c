// SPDX-License-Identifier: Apache-2.0
// Residual transforms (8.5): forward, and inverse with reconstruction. Plain C.

#include "stages.h"

enum { SRC = 16 };  // row stride of the macroblock cache

OVT_INLINE void forward4x4At(int16_t *coef, const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, int step) {
  int t[4][4];
  for (int y = 0; y < 4; y++, src += SRC, pred += stride) {
    const int d0 = src[0] - pred[0], d1 = src[step] - pred[step];
    const int d2 = src[2 * step] - pred[2 * step], d3 = src[3 * step] - pred[3 * step];
    const int a = d0 + d3, b = d1 + d2, c = d1 - d2, d = d0 - d3;
    t[y][0] = a + b, t[y][1] = 2 * d + c, t[y][2] = a - b, t[y][3] = d - 2 * c;
  }
  for (int x = 0; x < 4; x++) {
    const int a = t[0][x] + t[3][x], b = t[1][x] + t[2][x], c = t[1][x] - t[2][x], d = t[0][x] - t[3][x];
    coef[x] = (int16_t)(a + b);
    coef[4 + x] = (int16_t)(2 * d + c);
    coef[8 + x] = (int16_t)(a - b);
    coef[12 + x] = (int16_t)(d - 2 * c);
  }
}

static void forward4x4(int16_t coef[16], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  forward4x4At(coef, src, pred, stride, 1);
}

static void forward4x4x4(int16_t coef[64], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) {
    const int x = (i & 1) * 4, y = (i >> 1) * 4;
    forward4x4At(coef + 16 * i, src + y * SRC + x, pred + y * stride + x, stride, 1);
  }
}

static void forward4x4x16(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) {
    const int x = (i & 1) * 8, y = (i >> 1) * 8;
    forward4x4x4(coef + 64 * i, src + y * SRC + x, pred + y * stride + x, stride);
  }
}

static void forwardNV12(int16_t coef[128], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 8; i++) {
    const int x = (i & 1) * 8 + (i >> 2), y = (i >> 1 & 1) * 4;
    forward4x4At(coef + 16 * i, src + y * SRC + x, pred + y * stride + x, stride, 2);
  }
}

// One dimension of the forward 8x8 transform: the transpose of 8.5.13's, with its shifts.
OVT_INLINE void forward8(int *v, int step) {
  const int s0 = v[0] + v[7 * step], s1 = v[step] + v[6 * step];
  const int s2 = v[2 * step] + v[5 * step], s3 = v[3 * step] + v[4 * step];
  const int d0 = v[0] - v[7 * step], d1 = v[step] - v[6 * step];
  const int d2 = v[2 * step] - v[5 * step], d3 = v[3 * step] - v[4 * step];
  const int a0 = s0 + s3, a1 = s1 + s2, a2 = s0 - s3, a3 = s1 - s2;
  const int a4 = d1 + d2 + d0 + (d0 >> 1), a5 = d0 - d3 - d2 - (d2 >> 1);
  const int a6 = d0 + d3 - d1 - (d1 >> 1), a7 = d1 - d2 + d3 + (d3 >> 1);
  v[0] = a0 + a1;
  v[step] = a4 + (a7 >> 2);
  v[2 * step] = a2 + (a3 >> 1);
  v[3 * step] = a5 + (a6 >> 2);
  v[4 * step] = a0 - a1;
  v[5 * step] = a6 - (a5 >> 2);
  v[6 * step] = (a2 >> 1) - a3;
  v[7 * step] = (a4 >> 2) - a7;
}

// Columns first, then rows.
static void forward8x8(int16_t coef[64], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  int t[64];
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 8; x++) t[8 * y + x] = src[y * SRC + x] - pred[y * stride + x];
  for (int x = 0; x < 8; x++) forward8(t + x, 8);
  for (int y = 0; y < 8; y++) forward8(t + 8 * y, 1);
  for (int i = 0; i < 64; i++) coef[i] = (int16_t)t[i];
}

static void forward8x8x4(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t stride) {
  for (int i = 0; i < 4; i++) {
    const int x = (i & 1) * 8, y = (i >> 1) * 8;
    forward8x8(coef + 64 * i, src + y * SRC + x, pred + y * stride + x, stride);
  }
}

// 8.5.12.2: rows first, then columns.
OVT_INLINE void inverse4x4At(uint8_t *dst, ptrdiff_t stride, const int16_t *coef, int step) {
  int t[4][4];
  for (int y = 0; y < 4; y++, coef += 4) {
    const int e = coef[0] + coef[2], f = coef[0] - coef[2];
    const int g = (coef[1] >> 1) - coef[3], h = coef[1] + (coef[3] >> 1);
    t[y][0] = e + h, t[y][1] = f + g, t[y][2] = f - g, t[y][3] = e - h;
  }
  for (int x = 0; x < 4; x++) {
    const int e = t[0][x] + t[2][x], f = t[0][x] - t[2][x];
    const int g = (t[1][x] >> 1) - t[3][x], h = t[1][x] + (t[3][x] >> 1);
    uint8_t *d = dst + x * step;
    d[0] = ovt_clip_u8(d[0] + ((e + h + 32) >> 6));
    d[stride] = ovt_clip_u8(d[stride] + ((f + g + 32) >> 6));
    d[2 * stride] = ovt_clip_u8(d[2 * stride] + ((f - g + 32) >> 6));
    d[3 * stride] = ovt_clip_u8(d[3 * stride] + ((e - h + 32) >> 6));
  }
}

static void inverse4x4(uint8_t *dst, ptrdiff_t stride, const int16_t coef[16]) {
  inverse4x4At(dst, stride, coef, 1);
}

static void inverse4x4DC(uint8_t *dst, ptrdiff_t stride, int dc) {
  const int d = (dc + 32) >> 6;
  for (int y = 0; y < 4; y++, dst += stride)
    for (int x = 0; x < 4; x++) dst[x] = ovt_clip_u8(dst[x] + d);
}

static void inverse4x4x4(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]) {
  for (int i = 0; i < 4; i++) inverse4x4At(dst + (i >> 1) * 4 * stride + (i & 1) * 4, stride, coef + 16 * i, 1);
}

static void inverse4x4x16(uint8_t *dst, ptrdiff_t stride, const int16_t coef[256]) {
  for (int i = 0; i < 4; i++) inverse4x4x4(dst + (i >> 1) * 8 * stride + (i & 1) * 8, stride, coef + 64 * i);
}

static void inverseNV12(uint8_t *dst, ptrdiff_t stride, const int16_t coef[128]) {
  for (int i = 0; i < 8; i++)
    inverse4x4At(dst + (i >> 1 & 1) * 4 * stride + (i & 1) * 8 + (i >> 2), stride, coef + 16 * i, 2);
}

// One dimension of 8.5.13.
OVT_INLINE void inverse8(int *v, int step) {
  const int d0 = v[0], d1 = v[step], d2 = v[2 * step], d3 = v[3 * step];
  const int d4 = v[4 * step], d5 = v[5 * step], d6 = v[6 * step], d7 = v[7 * step];
  const int e0 = d0 + d4, e1 = d5 - d3 - d7 - (d7 >> 1), e2 = d0 - d4, e3 = d1 + d7 - d3 - (d3 >> 1);
  const int e4 = (d2 >> 1) - d6, e5 = d7 - d1 + d5 + (d5 >> 1), e6 = d2 + (d6 >> 1), e7 = d3 + d5 + d1 + (d1 >> 1);
  const int f0 = e0 + e6, f1 = e1 + (e7 >> 2), f2 = e2 + e4, f3 = e3 + (e5 >> 2);
  const int f4 = e2 - e4, f5 = (e3 >> 2) - e5, f6 = e0 - e6, f7 = e7 - (e1 >> 2);
  v[0] = f0 + f7, v[step] = f2 + f5, v[2 * step] = f4 + f3, v[3 * step] = f6 + f1;
  v[4 * step] = f6 - f1, v[5 * step] = f4 - f3, v[6 * step] = f2 - f5, v[7 * step] = f0 - f7;
}

static void inverse8x8(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]) {
  int t[64];
  for (int i = 0; i < 64; i++) t[i] = coef[i];
  for (int y = 0; y < 8; y++) inverse8(t + 8 * y, 1);
  for (int x = 0; x < 8; x++) inverse8(t + x, 8);
  for (int y = 0; y < 8; y++, dst += stride)
    for (int x = 0; x < 8; x++) dst[x] = ovt_clip_u8(dst[x] + ((t[8 * y + x] + 32) >> 6));
}

OVT_INLINE void hadamard4x4(int16_t dc[16], int rounding, int shift) {
  int t[4][4];
  for (int y = 0; y < 4; y++) {
    const int a = dc[4 * y] + dc[4 * y + 1], b = dc[4 * y] - dc[4 * y + 1];
    const int c = dc[4 * y + 2] + dc[4 * y + 3], d = dc[4 * y + 2] - dc[4 * y + 3];
    t[y][0] = a + c, t[y][1] = a - c, t[y][2] = b - d, t[y][3] = b + d;
  }
  for (int x = 0; x < 4; x++) {
    const int a = t[0][x] + t[1][x], b = t[0][x] - t[1][x], c = t[2][x] + t[3][x], d = t[2][x] - t[3][x];
    dc[x] = (int16_t)((a + c + rounding) >> shift);
    dc[4 + x] = (int16_t)((a - c + rounding) >> shift);
    dc[8 + x] = (int16_t)((b - d + rounding) >> shift);
    dc[12 + x] = (int16_t)((b + d + rounding) >> shift);
  }
}

static void hadamard4x4Forward(int16_t dc[16]) { hadamard4x4(dc, 1, 1); }
static void hadamard4x4Inverse(int16_t dc[16]) { hadamard4x4(dc, 0, 0); }

static int quantisesToZero(int c, int mf, int bias) {
  return c == 0 || ((uint32_t)(ovt_abs(c) + bias) * (uint32_t)mf) >> 16 == 0;
}

static int isEmpty16x16(const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, const uint16_t mf[16],
                        const uint16_t bias[16]) {
  int16_t coef[256];
  forward4x4x16(coef, src, pred, stride);
  for (int i = 0; i < 256; i++)
    if (!quantisesToZero(coef[i], mf[i & 15], bias[i & 15])) return 0;
  return 1;
}

static int isEmptyNV12(const uint8_t *src, const uint8_t *pred, ptrdiff_t stride, const uint16_t mf[16],
                       const uint16_t bias[16], int mfDC, int biasDC) {
  int16_t coef[128];
  forwardNV12(coef, src, pred, stride);
  for (int i = 0; i < 128; i++)
    if ((i & 15) != 0 && !quantisesToZero(coef[i], mf[i & 15], bias[i & 15])) return 0;
  for (int c = 0; c < 128; c += 64) {
    const int s = coef[c] + coef[c + 16], d = coef[c] - coef[c + 16];
    const int t = coef[c + 32] + coef[c + 48], e = coef[c + 32] - coef[c + 48];
    const int dc[4] = {s + t, d + e, s - t, d - e};
    for (int i = 0; i < 4; i++)
      if (!quantisesToZero(dc[i], mfDC, biasDC)) return 0;
  }
  return 1;
}

void ovt_transform_c(OVTKernels *k) {
  k->isEmpty16x16 = isEmpty16x16;
  k->isEmptyNV12 = isEmptyNV12;
  k->forward4x4 = forward4x4;
  k->forward4x4x16 = forward4x4x16;
  k->forward8x8 = forward8x8;
  k->forward8x8x4 = forward8x8x4;
  k->forwardNV12 = forwardNV12;
  k->inverse4x4 = inverse4x4;
  k->inverse4x4DC = inverse4x4DC;
  k->inverse4x4x4 = inverse4x4x4;
  k->inverse4x4x16 = inverse4x4x16;
  k->inverse8x8 = inverse8x8;
  k->inverseNV12 = inverseNV12;
  k->hadamard4x4Forward = hadamard4x4Forward;
  k->hadamard4x4Inverse = hadamard4x4Inverse;
}
