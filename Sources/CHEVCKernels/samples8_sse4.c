// SPDX-License-Identifier: Apache-2.0
// Kernels of 8-bit samples. SSE4.

#include "depth8.h"
#if OVT_X86

#include "vector_sse4.h"

#include "simd/samples.h"
#include "simd/hadamard.h"
#include "simd/residual.h"
#include "simd/intra.h"
#include "simd/inter.h"
#include "simd/deblock.h"
#include "simd/sao.h"

void ovt_hevc_samples8_sse4(OVTHEVCKernels8 *k) {
  FILL_HADAMARD
  FILL_RESIDUAL
  FILL_INTRA
  FILL_INTER
  FILL_DEBLOCK
  FILL_SAO
}

#endif
