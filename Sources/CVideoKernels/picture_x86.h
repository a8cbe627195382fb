// SPDX-License-Identifier: Apache-2.0
// Planes of chroma to pairs and back. What the x86 sets share.
#ifndef OVT_PICTURE_X86_H
#define OVT_PICTURE_X86_H

#include "stages.h"
#include "shared/x86.h"

#if OVT_X86

// The last samples of a row that is not a multiple of the step are done by a step that ends with
// the row and does some of them again; rows shorter than a step go sample by sample.

OVT_INLINE int lastStep(int x, int n, int step) { return x + step <= n ? x : n - step; }

// MARK: - Interleaving

SSE4_INLINE void interleave8x8Planes(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *u, ptrdiff_t uStride, const uint8_t *v,
                                     ptrdiff_t vStride) {
  for (int y = 0; y < 8; y++, dst += dstStride, u += uStride, v += vStride)
    store16(dst, _mm_unpacklo_epi8(load8(u), load8(v)));
}

// MARK: - Deinterleaving

SSE4_INLINE void deinterleaveRowBy16(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  if (n < 16) {
    for (int x = 0; x < n; x++) u[x] = src[2 * x], v[x] = src[2 * x + 1];
    return;
  }
  const __m128i low = _mm_set1_epi16(255);
  for (int x = 0; x < n; x += 16) {
    const int at = lastStep(x, n, 16);
    const __m128i a = load16(src + 2 * at), b = load16(src + 2 * at + 16);
    store16(u + at, _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)));
    store16(v + at, _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
  }
}

// MARK: - Kernels

// Bodies that every set compiles for itself: the same instructions, from AVX2 on with three
// operands.
#define SHARED_KERNELS(SET, SUFFIX) \
  KERNEL(SET, SUFFIX, void, interleave8x8Planes, (uint8_t *dst, ptrdiff_t dstStride, const uint8_t *u, ptrdiff_t uStride, const uint8_t *v, ptrdiff_t vStride), dst, dstStride, u, uStride, v, vStride)

#endif  // OVT_X86
#endif
