// SPDX-License-Identifier: Apache-2.0
// Kernels of 10-bit samples. NEON.

#include "depth16.h"
#if OVT_ARM64

#include "vector_neon.h"

#include "simd/samples.h"
#include "simd/compare.h"
#include "simd/hadamard.h"
#include "simd/residual.h"
#include "simd/intra.h"
#include "simd/inter.h"
#include "simd/deblock.h"
#include "simd/sao.h"

void ovt_hevc_samples16_neon(OVTHEVCKernels16 *k) {
  FILL_COMPARE
  FILL_HADAMARD
  FILL_RESIDUAL
  FILL_INTRA
  FILL_INTER
  FILL_DEBLOCK
  FILL_SAO
}

#endif
