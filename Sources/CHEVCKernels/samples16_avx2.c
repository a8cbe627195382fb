// SPDX-License-Identifier: Apache-2.0
// Kernels of 10-bit samples. AVX2, where its vectors can be filled.

#include "depth16.h"
#if OVT_X86

#include "vector_avx2.h"

#include "simd/samples.h"
#include "simd/compare.h"
#include "simd/hadamard.h"
#include "simd/residual.h"
#include "simd/intra_vertical.h"
#include "simd/inter.h"
#include "simd/sao.h"

void ovt_hevc_samples16_avx2(OVTHEVCKernels16 *k) {
  FILL_COMPARE
  FILL_HADAMARD
  FILL_RESIDUAL
  k->intraVertical = intraVertical;
  FILL_INTER
  FILL_SAO
}

#endif
