// SPDX-License-Identifier: Apache-2.0
// Planes of chroma to pairs and back. AVX2.

#include "picture_x86.h"

#if OVT_X86

// MARK: - Deinterleaving

AVX2_INLINE __m256i packInOrder(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0xd8);
}

AVX2 static void deinterleaveRowAvx2(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  if (n < 32) {
    deinterleaveRowBy16(u, v, src, n);
    return;
  }
  const __m256i low = _mm256_set1_epi16(255);
  for (int x = 0; x < n; x += 32) {
    const int at = lastStep(x, n, 32);
    const __m256i a = load32(src + 2 * at), b = load32(src + 2 * at + 32);
    store32(u + at, packInOrder(_mm256_and_si256(a, low), _mm256_and_si256(b, low)));
    store32(v + at, packInOrder(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)));
  }
}

// MARK: - The table

SHARED_KERNELS(AVX2, Avx2)

void ovt_picture_avx2(OVTVideoKernels *k) {
  k->interleave8x8Planes = interleave8x8PlanesAvx2;
  k->deinterleaveRow = deinterleaveRowAvx2;
}

#endif
