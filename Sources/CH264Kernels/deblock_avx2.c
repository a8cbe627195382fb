// SPDX-License-Identifier: Apache-2.0
// Deblocking filter (8.7.2.3, 8.7.2.4). AVX2.

#include "deblock_x86.h"

#if OVT_X86

// MARK: - All edges of a macroblock

// Rows (or lines) i and i + 8 in the halves of v[i]: transposed, lines 2i and 2i + 1 in those of
// v[i].
AVX2_INLINE void transpose16Pairs(__m256i v[8]) {
  __m256i t[8];
  for (int stage = 0; stage < 3; stage++) {
    for (int i = 0; i < 4; i++) {
      t[2 * i] = _mm256_unpacklo_epi8(v[i], v[i + 4]);
      t[2 * i + 1] = _mm256_unpackhi_epi8(v[i], v[i + 4]);
    }
    for (int i = 0; i < 8; i++) v[i] = t[i];
  }
  for (int i = 0; i < 8; i++) v[i] = _mm256_permute4x64_epi64(v[i], 0xd8);
}

AVX2 static void lumaVerticalEdgesAvx2(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  if (filterBorderAlone(pixels, stride, edges)) return;
  __m128i line[20];
  __m256i v[8];
  if (isActive(edges, 0)) loadLeft(line, pixels, stride);
  for (int y = 0; y < 8; y++) v[y] = load16x2(pixels + y * stride, pixels + (y + 8) * stride);
  transpose16Pairs(v);
  for (int i = 0; i < 8; i++) {
    line[4 + 2 * i] = _mm256_castsi256_si128(v[i]);
    line[5 + 2 * i] = _mm256_extracti128_si256(v[i], 1);
  }
  const int changed = filterLines(line, edges);
  if (!changed) return;
  if (changed & 1) storeColumns4(pixels - 4, stride, line[0], line[1], line[2], line[3]);
  for (int i = 0; i < 8; i++) v[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(line[4 + i]), line[12 + i], 1);
  transpose16Pairs(v);
  for (int i = 0; i < 8; i++) {
    store16(pixels + 2 * i * stride, _mm256_castsi256_si128(v[i]));
    store16(pixels + (2 * i + 1) * stride, _mm256_extracti128_si256(v[i], 1));
  }
}

// MARK: - The table

SHARED_KERNELS(AVX2, Avx2)

void ovt_deblock_avx2(OVTKernels *k) { FILL(Avx2) }

#endif
