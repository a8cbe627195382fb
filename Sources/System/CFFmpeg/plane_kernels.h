// SPDX-License-Identifier: Apache-2.0
// Sample rearrangements between planar and semi-planar pictures, a row at a time.
// Written with the compiler's vector types: one source for every instruction set.
#ifndef OVT_PLANE_KERNELS_H
#define OVT_PLANE_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t ovt_u8x16 __attribute__((vector_size(16)));
typedef uint16_t ovt_u16x8 __attribute__((vector_size(16)));

/// dst = a[0] b[0] a[1] b[1] ... for `count` pairs of 8-bit samples.
static inline void ovt_interleave_u8(
    uint8_t *restrict dst, const uint8_t *restrict a, const uint8_t *restrict b, size_t count) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    ovt_u8x16 x, y, low, high;
    memcpy(&x, a + i, 16);
    memcpy(&y, b + i, 16);
    low = __builtin_shufflevector(
        x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high = __builtin_shufflevector(
        x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    memcpy(dst + 2 * i, &low, 16);
    memcpy(dst + 2 * i + 16, &high, 16);
  }
  for (; i < count; i++) {
    dst[2 * i] = a[i];
    dst[2 * i + 1] = b[i];
  }
}

/// The inverse of ovt_interleave_u8.
static inline void ovt_deinterleave_u8(
    uint8_t *restrict a, uint8_t *restrict b, const uint8_t *restrict src, size_t count) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    ovt_u8x16 x, y, even, odd;
    memcpy(&x, src + 2 * i, 16);
    memcpy(&y, src + 2 * i + 16, 16);
    even = __builtin_shufflevector(
        x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    odd = __builtin_shufflevector(
        x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    memcpy(a + i, &even, 16);
    memcpy(b + i, &odd, 16);
  }
  for (; i < count; i++) {
    a[i] = src[2 * i];
    b[i] = src[2 * i + 1];
  }
}

/// As ovt_interleave_u8 with 16-bit samples, each shifted left by `shift` (samples that sit in the
/// low bits of their word move to the high bits).
static inline void ovt_interleave_u16(
    uint16_t *restrict dst, const uint16_t *restrict a, const uint16_t *restrict b, size_t count,
    int shift) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    ovt_u16x8 x, y, low, high;
    memcpy(&x, a + i, 16);
    memcpy(&y, b + i, 16);
    x <<= shift;
    y <<= shift;
    low = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
    high = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
    memcpy(dst + 2 * i, &low, 16);
    memcpy(dst + 2 * i + 8, &high, 16);
  }
  for (; i < count; i++) {
    dst[2 * i] = (uint16_t)(a[i] << shift);
    dst[2 * i + 1] = (uint16_t)(b[i] << shift);
  }
}

/// The inverse of ovt_interleave_u16: the samples move back to the low bits of their words.
static inline void ovt_deinterleave_u16(
    uint16_t *restrict a, uint16_t *restrict b, const uint16_t *restrict src, size_t count,
    int shift) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    ovt_u16x8 x, y, even, odd;
    memcpy(&x, src + 2 * i, 16);
    memcpy(&y, src + 2 * i + 8, 16);
    even = __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14) >> shift;
    odd = __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15) >> shift;
    memcpy(a + i, &even, 16);
    memcpy(b + i, &odd, 16);
  }
  for (; i < count; i++) {
    a[i] = (uint16_t)(src[2 * i] >> shift);
    b[i] = (uint16_t)(src[2 * i + 1] >> shift);
  }
}

/// dst[i] = src[i] << shift for `count` 16-bit samples.
static inline void ovt_shift_left_u16(
    uint16_t *restrict dst, const uint16_t *restrict src, size_t count, int shift) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    ovt_u16x8 x;
    memcpy(&x, src + i, 16);
    x <<= shift;
    memcpy(dst + i, &x, 16);
  }
  for (; i < count; i++) dst[i] = (uint16_t)(src[i] << shift);
}

/// dst[i] = src[i] >> shift for `count` 16-bit samples.
static inline void ovt_shift_right_u16(
    uint16_t *restrict dst, const uint16_t *restrict src, size_t count, int shift) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    ovt_u16x8 x;
    memcpy(&x, src + i, 16);
    x >>= shift;
    memcpy(dst + i, &x, 16);
  }
  for (; i < count; i++) dst[i] = (uint16_t)(src[i] >> shift);
}

#endif
