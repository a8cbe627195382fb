// SPDX-License-Identifier: Apache-2.0
// Transforms, quantisation and scans of coefficients. AVX2, where its vectors can be filled: blocks
// of 4x4 and 8x8 are transformed as with SSE4.

#include "stages.h"
#if OVT_X86

#include "vector_avx2.h"

#include "simd/transform.h"
#include "simd/skip.h"
#include "simd/quant.h"

SIZE(16, 4)
SIZE(32, 5)

void ovt_hevc_residual_avx2(OVTHEVCResidualKernels *k) {
  k->forward[2] = forward16, k->forward[3] = forward32;
  k->forwardLow32 = forwardLow32;
  k->inverse[2] = inverse16, k->inverse[3] = inverse32;
  FILL_QUANT
}

#endif
