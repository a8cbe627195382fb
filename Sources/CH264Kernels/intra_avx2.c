// SPDX-License-Identifier: Apache-2.0
// Intra prediction samples (8.3). AVX2.

#include "intra_x86.h"

#if OVT_X86

BLOCK_KERNELS(AVX2, Avx2)
EDGE_KERNELS(AVX2, Avx2)

void ovt_intra_avx2(OVTKernels *k) {
  FILL_BLOCKS(Avx2)
  FILL_EDGES(Avx2)
}

#endif
