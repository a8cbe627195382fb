// SPDX-License-Identifier: Apache-2.0
// Planes of chroma to pairs and back. SSE4.

#include "picture_x86.h"

#if OVT_X86

// MARK: - Deinterleaving

SSE4 static void deinterleaveRowSse4(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  deinterleaveRowBy16(u, v, src, n);
}

// MARK: - The table

SHARED_KERNELS(SSE4, Sse4)

void ovt_picture_sse4(OVTVideoKernels *k) {
  k->interleave8x8Planes = interleave8x8PlanesSse4;
  k->deinterleaveRow = deinterleaveRowSse4;
}

#endif
