// SPDX-License-Identifier: Apache-2.0
// Small kernels that Swift can inline.

#ifndef INLINEKERNELS_H
#define INLINEKERNELS_H

#include <stddef.h>
#include <stdint.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Rows that are read soon, a cache line of each: what runs down a plane in columns is beyond the
// CPU's own foresight.
static inline void ovt_prefetch(const uint8_t *rows, ptrdiff_t stride, int count) {
  for (int y = 0; y < count; y++, rows += stride) __builtin_prefetch(rows);
}

// Eight rows of eight samples.
static inline void ovt_copy8x8(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride) {
  for (int y = 0; y < 8; y++) __builtin_memcpy(dst + y * dstStride, src + y * srcStride, 8);
}

// Sum of `count` bytes.
static inline uint32_t ovt_sum_bytes(const uint8_t *bytes, int count) {
  uint32_t sum = 0;
  int x = 0;
#if defined(__SSE2__)
  __m128i total = _mm_setzero_si128();
  for (; x + 16 <= count; x += 16)
    total = _mm_add_epi32(total, _mm_sad_epu8(_mm_loadu_si128((const __m128i_u *)(bytes + x)), _mm_setzero_si128()));
  sum = (uint32_t)_mm_cvtsi128_si32(total) + (uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(total, 8));
#elif defined(__ARM_NEON)
  uint32x4_t total = vdupq_n_u32(0);
  for (; x + 16 <= count; x += 16) total = vpadalq_u16(total, vpaddlq_u8(vld1q_u8(bytes + x)));
  sum = vaddvq_u32(total);
#endif
  for (; x < count; x++) sum += bytes[x];
  return sum;
}

#endif
