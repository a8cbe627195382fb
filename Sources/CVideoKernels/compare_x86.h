// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks: SAD, SATD, SSD, variance. What the x86 sets share.
#ifndef OVT_COMPARE_X86_H
#define OVT_COMPARE_X86_H

#include "stages.h"
#include "shared/x86.h"

#if OVT_X86

// MARK: - SAD

SSE4_INLINE __m128i sadRows8(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m128i sum = _mm_setzero_si128();
  for (int y = 0; y < height; y += 2, src += 2 * srcStride, ref += 2 * stride)
    sum = _mm_add_epi32(sum, _mm_sad_epu8(load8x2(src, src + srcStride), load8x2(ref, ref + stride)));
  return sum;
}

// The four sums of two halves each, in order.
SSE4_INLINE void storeX4(int out[4], __m128i a, __m128i b, __m128i c, __m128i d) {
  const __m128i ab = _mm_or_si128(a, _mm_slli_epi64(b, 32)), cd = _mm_or_si128(c, _mm_slli_epi64(d, 32));
  store16(out, _mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd)));
}

// MARK: - SATD

// The first butterfly of each row comes from pmaddubsw with weights (1, 1) and (1, -1) on source
// and reference alike; then the two vertical ones; the last horizontal one is |a + b| + |a - b| = 2
// max(|a|, |b|), which is also the halving.

SSE4_INLINE __m128i butterflyWeights8(void) { return _mm_setr_epi16(0x101, 0x101, 0x101, 0x101, -255, -255, -255, -255); }

// Larger of each pair of neighbouring lanes of a (even lanes of the result) and b (odd lanes).
SSE4_INLINE __m128i pairMax(__m128i a, __m128i b) {
  a = _mm_abs_epi16(a), b = _mm_abs_epi16(b);
  return _mm_max_epi16(_mm_blend_epi16(a, _mm_slli_epi32(b, 16), 0xaa),
                       _mm_blend_epi16(_mm_srli_epi32(a, 16), b, 0xaa));
}

SSE4_INLINE int sum16(__m128i v) { return sum32(_mm_madd_epi16(v, _mm_set1_epi16(1))); }

// A 4x4 block: rows 0 and 2 in the halves of one register, 1 and 3 in those of another.
SSE4_INLINE __m128i butterfly4(const uint8_t *p, ptrdiff_t stride) {
  const __m128i rows = load4x2(p, p + 2 * stride);
  return _mm_maddubs_epi16(_mm_unpacklo_epi32(rows, rows), _mm_setr_epi16(0x101, 0x101, -255, -255, 0x101, 0x101, -255, -255));
}

SSE4_INLINE __m128i satdBlock4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  const __m128i r02 = _mm_sub_epi16(butterfly4(src, srcStride), butterfly4(ref, stride));
  const __m128i r13 = _mm_sub_epi16(butterfly4(src + srcStride, srcStride), butterfly4(ref + stride, stride));
  const __m128i plus = _mm_add_epi16(r02, r13), minus = _mm_sub_epi16(r02, r13);
  const __m128i a = _mm_unpacklo_epi64(plus, minus), b = _mm_unpackhi_epi64(plus, minus);
  return pairMax(_mm_add_epi16(a, b), _mm_sub_epi16(a, b));
}

SSE4_INLINE int satd4x4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16(satdBlock4(src, srcStride, ref, stride));
}

SSE4_INLINE int satd4x8(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16(_mm_add_epi16(satdBlock4(src, srcStride, ref, stride), satdBlock4(src + 4 * srcStride, srcStride, ref + 4 * stride, stride)));
}

// MARK: - Whole rows and pictures

// Up to 1 << 15 samples: a lane of the sum stays below 1 << 30.
SSE4_INLINE uint64_t sumWide(__m128i v) {
  const __m128i zero = _mm_setzero_si128();
  v = _mm_add_epi64(_mm_unpacklo_epi32(v, zero), _mm_unpackhi_epi32(v, zero));
  return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(v, _mm_unpackhi_epi64(v, v)));
}

OVT_INLINE uint64_t ssdTail(const uint8_t *a, const uint8_t *b, int x, int n) {
  uint64_t sum = 0;
  for (; x < n; x++) sum += (uint64_t)((a[x] - b[x]) * (a[x] - b[x]));
  return sum;
}

// MARK: - Kernels

// Bodies that every set compiles for itself: the same instructions, from AVX2 on with three
// operands.
#define SHARED_KERNELS(SET, SUFFIX) \
  KERNEL(SET, SUFFIX, int, satd4x4, (const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride), src, srcStride, ref, stride) \
  KERNEL(SET, SUFFIX, int, satd4x8, (const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride), src, srcStride, ref, stride)

#endif  // OVT_X86
#endif
