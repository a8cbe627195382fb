// SPDX-License-Identifier: Apache-2.0
// Quantisation, scaling (8.5.12.1, 8.5.13.1) and scans (8.5.6, 8.5.7) of coefficients. NEON.

#include "stages.h"

#if OVT_ARM64

#include <arm_neon.h>

// MARK: - Quantisation

// The high halves of (|c| + bias) mf, with c's sign; zero stays zero whatever the bias.
OVT_INLINE int16x8_t quantise(int16x8_t c, uint16x8_t mf, uint16x8_t bias) {
  const uint16x8_t sum = vaddq_u16(vreinterpretq_u16_s16(vabsq_s16(c)), bias);
  const uint32x4_t low = vmull_u16(vget_low_u16(sum), vget_low_u16(mf)), high = vmull_high_u16(sum, mf);
  const uint16x8_t level = vandq_u16(vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)), vtstq_s16(c, c));
  const int16x8_t sign = vshrq_n_s16(c, 15);
  return vsubq_s16(veorq_s16(vreinterpretq_s16_u16(level), sign), sign);
}

OVT_INLINE int any(int16x8_t levels) { return vmaxvq_u16(vreinterpretq_u16_s16(levels)) != 0; }

OVT_INLINE int quant16(int16_t *coef, uint16x8_t mf0, uint16x8_t mf1, uint16x8_t bias0, uint16x8_t bias1) {
  const int16x8_t a = quantise(vld1q_s16(coef), mf0, bias0), b = quantise(vld1q_s16(coef + 8), mf1, bias1);
  vst1q_s16(coef, a), vst1q_s16(coef + 8, b);
  return any(vorrq_s16(a, b));
}

static int quant4x4(int16_t coef[16], const uint16_t mf[16], const uint16_t bias[16]) {
  return quant16(coef, vld1q_u16(mf), vld1q_u16(mf + 8), vld1q_u16(bias), vld1q_u16(bias + 8));
}

static int quant4x4x4(int16_t coef[64], const uint16_t mf[16], const uint16_t bias[16]) {
  const uint16x8_t mf0 = vld1q_u16(mf), mf1 = vld1q_u16(mf + 8), bias0 = vld1q_u16(bias), bias1 = vld1q_u16(bias + 8);
  int blocks = 0;
  for (int i = 0; i < 4; i++) blocks |= quant16(coef + 16 * i, mf0, mf1, bias0, bias1) << i;
  return blocks;
}

static int quant8x8(int16_t coef[64], const uint16_t mf[64], const uint16_t bias[64]) {
  int16x8_t all = vdupq_n_s16(0);
  for (int i = 0; i < 64; i += 8) {
    const int16x8_t levels = quantise(vld1q_s16(coef + i), vld1q_u16(mf + i), vld1q_u16(bias + i));
    vst1q_s16(coef + i, levels);
    all = vorrq_s16(all, levels);
  }
  return any(all);
}

static int quantDC(int16_t *coef, int n, int mf, int bias) {
  const uint16x8_t m = vdupq_n_u16((uint16_t)mf), b = vdupq_n_u16((uint16_t)bias);
  if (n == 16) return quant16(coef, m, m, b, b);
  const int16x8_t levels = quantise(vcombine_s16(vld1_s16(coef), vdup_n_s16(0)), m, b);
  vst1_s16(coef, vget_low_s16(levels));
  return any(levels);
}

// MARK: - Scaling

OVT_INLINE void scale(int16_t *coef, int16x8_t by) { vst1q_s16(coef, vmulq_s16(vld1q_s16(coef), by)); }

static void scale4x4(int16_t coef[16], const int16_t by[16]) {
  scale(coef, vld1q_s16(by)), scale(coef + 8, vld1q_s16(by + 8));
}

static void scale4x4x4(int16_t coef[64], const int16_t by[16]) {
  const int16x8_t by0 = vld1q_s16(by), by1 = vld1q_s16(by + 8);
  for (int i = 0; i < 64; i += 16) scale(coef + i, by0), scale(coef + i + 8, by1);
}

static void scale8x8(int16_t coef[64], const int16_t by[64], int shift) {
  const int32x4_t right = vdupq_n_s32(-shift);
  for (int i = 0; i < 64; i += 8) {
    const int16x8_t c = vld1q_s16(coef + i), s = vld1q_s16(by + i);
    const int32x4_t low = vrshlq_s32(vmull_s16(vget_low_s16(c), vget_low_s16(s)), right);
    vst1q_s16(coef + i, vqmovn_high_s32(vqmovn_s32(low), vrshlq_s32(vmull_high_s16(c, s), right)));
  }
}

// MARK: - Scans

// The two bytes of a coefficient.
#define B(I) 2 * (I), 2 * (I) + 1
#define B8(S, T, U, V, W, X, Y, Z) B(S), B(T), B(U), B(V), B(W), B(X), B(Y), B(Z)

static const uint8_t zigzag4x4[32] = {B8(0, 1, 4, 8, 5, 2, 3, 6), B8(9, 12, 13, 10, 7, 11, 14, 15)};
static const uint8_t zigzag8x8[128] = {
    B8(0, 1, 8, 16, 9, 2, 3, 10),      B8(17, 24, 32, 25, 18, 11, 4, 5),  B8(12, 19, 26, 33, 40, 48, 41, 34),
    B8(27, 20, 13, 6, 7, 14, 21, 28),  B8(35, 42, 49, 56, 57, 50, 43, 36), B8(29, 22, 15, 23, 30, 37, 44, 51),
    B8(58, 59, 52, 45, 38, 31, 39, 46), B8(53, 60, 61, 54, 47, 55, 62, 63)};

static void scan4x4(int16_t level[16], const int16_t coef[16]) {
  const uint8x16x2_t from = {{vreinterpretq_u8_s16(vld1q_s16(coef)), vreinterpretq_u8_s16(vld1q_s16(coef + 8))}};
  const uint8x16_t a = vqtbl2q_u8(from, vld1q_u8(zigzag4x4)), b = vqtbl2q_u8(from, vld1q_u8(zigzag4x4 + 16));
  vst1q_s16(level, vreinterpretq_s16_u8(a)), vst1q_s16(level + 8, vreinterpretq_s16_u8(b));
}

OVT_INLINE uint8x16x4_t rows4(const int16_t *coef) {
  return (uint8x16x4_t){{vreinterpretq_u8_s16(vld1q_s16(coef)), vreinterpretq_u8_s16(vld1q_s16(coef + 8)),
                         vreinterpretq_u8_s16(vld1q_s16(coef + 16)), vreinterpretq_u8_s16(vld1q_s16(coef + 24))}};
}

// A look-up beyond its 64 bytes leaves what the other one found.
static void scan8x8(int16_t level[64], const int16_t coef[64]) {
  const uint8x16x4_t upper = rows4(coef), lower = rows4(coef + 32);
  for (int i = 0; i < 64; i += 8) {
    const uint8x16_t at = vld1q_u8(zigzag8x8 + 2 * i);
    const uint8x16_t v = vqtbx4q_u8(vqtbl4q_u8(upper, at), lower, vsubq_u8(at, vdupq_n_u8(64)));
    vst1q_s16(level + i, vreinterpretq_s16_u8(v));
  }
}

static void interleave8x8(int16_t out[64], const int16_t level[64]) {
  const int16x8x4_t first = vld4q_s16(level), second = vld4q_s16(level + 32);
  for (int i = 0; i < 4; i++) vst1q_s16(out + 16 * i, first.val[i]), vst1q_s16(out + 16 * i + 8, second.val[i]);
}

// MARK: - Masks

void ovt_quant_neon(OVTKernels *k) {
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

#endif
