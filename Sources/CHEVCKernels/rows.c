// SPDX-License-Identifier: Apache-2.0
// Rows of source pictures. Plain C that compilers vectorise.

#include "stages.h"

// A sample of 10 bits of two bytes at any address.
OVT_INLINE uint16_t tenBits(const uint8_t *src, int i, int shift) {
  uint16_t v;
  memcpy(&v, src + 2 * i, 2);
  v >>= shift;
  return v < 1023 ? v : 1023;
}
OVT_INLINE uint8_t eightBits(uint16_t v) { return v < 1021 ? (uint8_t)((v + 2) >> 2) : 255; }

void ovt_hevc_row16(uint16_t *restrict dst, const void *src, int n, int shift) {
  for (int i = 0; i < n; i++) dst[i] = tenBits(src, i, shift);
}

void ovt_hevc_split_row16(uint16_t *restrict first, uint16_t *restrict second, const void *src, int n, int shift) {
  for (int i = 0; i < n; i++) first[i] = tenBits(src, 2 * i, shift), second[i] = tenBits(src, 2 * i + 1, shift);
}

void ovt_hevc_widen_row(uint16_t *restrict dst, const uint8_t *src, int n) {
  for (int i = 0; i < n; i++) dst[i] = (uint16_t)(src[i] << 2);
}

void ovt_hevc_widen_split_row(uint16_t *restrict first, uint16_t *restrict second, const uint8_t *src, int n) {
  for (int i = 0; i < n; i++) first[i] = (uint16_t)(src[2 * i] << 2), second[i] = (uint16_t)(src[2 * i + 1] << 2);
}

void ovt_hevc_narrow_row(uint8_t *restrict dst, const void *src, int n, int shift) {
  for (int i = 0; i < n; i++) dst[i] = eightBits(tenBits(src, i, shift));
}

void ovt_hevc_narrow_split_row(uint8_t *restrict first, uint8_t *restrict second, const void *src, int n, int shift) {
  for (int i = 0; i < n; i++) {
    first[i] = eightBits(tenBits(src, 2 * i, shift));
    second[i] = eightBits(tenBits(src, 2 * i + 1, shift));
  }
}

uint64_t ovt_hevc_ssd_row16(const uint16_t *a, const uint16_t *b, int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) {
    const int d = a[i] - b[i];
    sum += (uint32_t)(d * d);
  }
  return sum;
}
