// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks: SATD. AVX-512, of which the 256-bit registers.

#include "compare_x86.h"

#if OVT_X86

// MARK: - SATD

// Larger of each pair of neighbouring lanes of a (even lanes of the result) and b (odd lanes): one
// shift of a pair of registers stands for two shifts and a blend.
AVX512_INLINE __m256i pairMax256(__m256i a, __m256i b) {
  a = _mm256_abs_epi16(a), b = _mm256_abs_epi16(b);
  return _mm256_max_epi16(_mm256_blend_epi16(a, b, 0xaa), _mm256_shldi_epi32(b, a, 16));
}

AVX512_INLINE __m256i satdRows256(const __m256i r[4]) {
  const __m256i a = _mm256_add_epi16(r[0], r[1]), b = _mm256_sub_epi16(r[0], r[1]);
  const __m256i c = _mm256_add_epi16(r[2], r[3]), d = _mm256_sub_epi16(r[2], r[3]);
  return _mm256_add_epi16(pairMax256(_mm256_add_epi16(a, c), _mm256_sub_epi16(a, c)),
                          pairMax256(_mm256_add_epi16(b, d), _mm256_sub_epi16(b, d)));
}

AVX512_INLINE int sum16x16(__m256i v) { return sum32(fold(_mm256_madd_epi16(v, _mm256_set1_epi16(1)))); }

// A row of 16 samples in both halves: their sums in the lower, their differences in the upper.
AVX512_INLINE __m256i butterfly16(const uint8_t *src, const uint8_t *ref, int isNV12) {
  const __m256i weights = _mm256_setr_m128i(_mm_set1_epi8(1), _mm_set1_epi16(-255));
  __m256i s = broadcast16(src), r = broadcast16(ref);
  if (isNV12) {
    const __m256i split =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    s = _mm256_shuffle_epi8(s, split), r = _mm256_shuffle_epi8(r, split);
  }
  return _mm256_sub_epi16(_mm256_maddubs_epi16(s, weights), _mm256_maddubs_epi16(r, weights));
}

AVX512_INLINE int satd16(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height, int isNV12) {
  __m256i sum = _mm256_setzero_si256();
  for (int y = 0; y < height; y += 4) {
    __m256i r[4];
    for (int i = 0; i < 4; i++, src += srcStride, ref += stride) r[i] = butterfly16(src, ref, isNV12);
    sum = _mm256_add_epi16(sum, satdRows256(r));
  }
  return sum16x16(sum);
}

AVX512 static int satd16x8Avx512(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return satd16(src, srcStride, ref, stride, 8, 0);
}
AVX512 static int satdNV12Avx512(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return satd16(src, srcStride, ref, stride, 8, 1);
}

// Eight samples of a row twice in the lower half, of the row four below in the upper half.
AVX512_INLINE __m256i twice8(const uint8_t *p, ptrdiff_t stride) {
  return _mm256_mask_broadcastq_epi64(_mm256_broadcastq_epi64(load8(p)), 0xc, load8(p + 4 * stride));
}

AVX512_INLINE __m256i satd8x8(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  const __m256i weights = _mm256_broadcastsi128_si256(butterflyWeights8());
  __m256i r[4];
  for (int i = 0; i < 4; i++)
    r[i] = _mm256_sub_epi16(_mm256_maddubs_epi16(twice8(src + i * srcStride, srcStride), weights),
                            _mm256_maddubs_epi16(twice8(ref + i * stride, stride), weights));
  return satdRows256(r);
}

AVX512 static int satd8x8Avx512(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16x16(satd8x8(src, srcStride, ref, stride));
}
AVX512 static int satd8x16Avx512(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16x16(_mm256_add_epi16(satd8x8(src, srcStride, ref, stride), satd8x8(src + 8 * srcStride, srcStride, ref + 8 * stride, stride)));
}

// MARK: - The table

void ovt_compare_avx512(OVTVideoKernels *k) {
  k->satd[OVT_16x8] = satd16x8Avx512;
  k->satd[OVT_8x16] = satd8x16Avx512, k->satd[OVT_8x8] = satd8x8Avx512;
  k->satdNV12 = satdNV12Avx512;
}

#endif
