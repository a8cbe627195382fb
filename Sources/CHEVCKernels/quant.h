// SPDX-License-Identifier: Apache-2.0
// The constants of quantisation and scaling, for every set of instructions.
#ifndef OVT_HEVC_QUANT_H
#define OVT_HEVC_QUANT_H

#include "stages.h"

// Quantisation by the inverse of levelScale: 2^20 / levelScale, rounded.
typedef struct {
  int factor, offset, shift;
} Quantiser;
OVT_INLINE Quantiser quantiser(int log2Size, int qP, int bitDepth, int deadZone) {
  static const int16_t factors[6] = {26214, 23302, 20560, 18396, 16384, 14564};
  const int shift = 29 + qP / 6 - bitDepth - log2Size;
  return (Quantiser){factors[qP % 6], deadZone << (shift - 9), shift};
}

// 8.6.3 with m = 16 as a product with levelScale and one shift, to the left where negative: what is
// shifted left by qP / 6 and then right by more needs no more than 32 bits so.
typedef struct {
  int factor, shift;
} Scaling;
OVT_INLINE Scaling scaling(int log2Size, int qP, int bitDepth) {
  static const uint8_t levelScale[6] = {40, 45, 51, 57, 64, 72};
  return (Scaling){levelScale[qP % 6], bitDepth + log2Size - 9 - qP / 6};
}

#endif
