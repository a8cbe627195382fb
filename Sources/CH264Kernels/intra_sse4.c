// SPDX-License-Identifier: Apache-2.0
// Intra prediction samples (8.3). SSE4.

#include "intra_x86.h"

#if OVT_X86

BLOCK_KERNELS(SSE4, Sse4)
EDGE_KERNELS(SSE4, Sse4)

void ovt_intra_sse4(OVTKernels *k) {
  FILL_BLOCKS(Sse4)
  FILL_EDGES(Sse4)
}

#endif
