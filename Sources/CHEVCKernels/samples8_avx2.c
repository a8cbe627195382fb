// SPDX-License-Identifier: Apache-2.0
// Kernels of 8-bit samples. AVX2, where its vectors can be filled.

#include "depth8.h"
#if OVT_X86

#include "vector_avx2.h"

#include "simd/samples.h"
#include "simd/hadamard.h"
#include "simd/residual.h"
#include "simd/intra_vertical.h"
#include "simd/inter.h"
#include "simd/sao.h"

void ovt_hevc_samples8_avx2(OVTHEVCKernels8 *k) {
  FILL_HADAMARD
  FILL_RESIDUAL
  k->intraVertical = intraVertical;
  FILL_INTER
  FILL_SAO
}

#endif
