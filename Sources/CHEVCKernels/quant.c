// SPDX-License-Identifier: Apache-2.0
// Quantisation, scaling (8.6.3) and scans of coefficients. Plain C.

#include "quant.h"

static void describe(const int16_t *level, int log2Size, OVTHEVCLevels *result) {
  const int n = 1 << log2Size;
  *result = (OVTHEVCLevels){0, 0, 0};
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      const int v = level[y * n + x];
      if (v == 0) continue;
      result->groups |= (uint64_t)1 << (y / 4 * 8 + x / 4);
      result->count++;
      result->sum += ovt_abs(v);
    }
}

static void quantise(int16_t *level, const int16_t *coef, int log2Size, int qP, int bitDepth, int deadZone,
                     OVTHEVCLevels *result) {
  const Quantiser q = quantiser(log2Size, qP, bitDepth, deadZone);
  for (int i = 0; i < 1 << 2 * log2Size; i++) {
    const int c = coef[i];
    const uint32_t product = (uint32_t)ovt_abs(c) * (uint32_t)q.factor + (uint32_t)q.offset;
    const int magnitude = (int)(product >> q.shift);
    const int clipped = magnitude > INT16_MAX ? INT16_MAX : magnitude;
    level[i] = (int16_t)(c < 0 ? -clipped : clipped);
  }
  describe(level, log2Size, result);
}

static void dequantise(int16_t *coef, const int16_t *level, int log2Size, int qP, int bitDepth) {
  const Scaling s = scaling(log2Size, qP, bitDepth);
  const int factor = s.shift < 0 ? s.factor << -s.shift : s.factor, shift = s.shift < 0 ? 0 : s.shift;
  const int rounding = (1 << shift) >> 1;
  for (int i = 0; i < 1 << 2 * log2Size; i++) coef[i] = (int16_t)ovt_clip16((level[i] * factor + rounding) >> shift);
}

static uint32_t scanGroup(int16_t out[16], const int16_t *level, ptrdiff_t stride, int scan) {
  uint32_t mask = 0;
  for (int i = 0; i < 16; i++) {
    const int at = ovt_hevc_scan4x4[scan][i];
    out[i] = level[(at >> 2) * stride + (at & 3)];
    mask |= (uint32_t)(out[i] != 0) << i;
  }
  return mask;
}

static uint64_t ssdCoefficients(const int16_t *a, const int16_t *b, int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) {
    const int64_t d = a[i] - b[i];
    sum += (uint64_t)(d * d);
  }
  return sum;
}

void ovt_hevc_quant_c(OVTHEVCResidualKernels *k) {
  k->quantise = quantise;
  k->dequantise = dequantise;
  k->scanGroup = scanGroup;
  k->describe = describe;
  k->ssdCoefficients = ssdCoefficients;
}
