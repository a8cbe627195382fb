// SPDX-License-Identifier: Apache-2.0
// Deblocking filter (8.7.2.3, 8.7.2.4). SSE4.

#include "deblock_x86.h"

#if OVT_X86

// MARK: - All edges of a macroblock

SSE4_INLINE void transpose16(__m128i v[16]) {
  __m128i t[16];
  for (int stage = 0; stage < 4; stage++) {  // four perfect shuffles
    for (int i = 0; i < 8; i++) {
      t[2 * i] = _mm_unpacklo_epi8(v[i], v[i + 8]);
      t[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + 8]);
    }
    for (int i = 0; i < 16; i++) v[i] = t[i];
  }
}

SSE4 static void lumaVerticalEdgesSse4(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges) {
  if (filterBorderAlone(pixels, stride, edges)) return;
  __m128i line[20];
  if (isActive(edges, 0)) loadLeft(line, pixels, stride);
  for (int y = 0; y < 16; y++) line[4 + y] = load16(pixels + y * stride);
  transpose16(line + 4);
  const int changed = filterLines(line, edges);
  if (!changed) return;
  if (changed & 1) storeColumns4(pixels - 4, stride, line[0], line[1], line[2], line[3]);
  transpose16(line + 4);
  for (int y = 0; y < 16; y++) store16(pixels + y * stride, line[4 + y]);
}

// MARK: - The table

SHARED_KERNELS(SSE4, Sse4)

void ovt_deblock_sse4(OVTKernels *k) { FILL(Sse4) }

#endif
