// SPDX-License-Identifier: Apache-2.0
// The nine directional predictions of a block of 8x8 samples. AVX2.

#include "intra_predictions_x86.h"

#if OVT_X86

KERNEL(AVX2, Avx2, void, intraPredictions8x8, (uint8_t *dst, const uint8_t *edge), dst, edge)

void ovt_intra_predictions_avx2(OVTVideoKernels *k) { k->intraPredictions8x8 = intraPredictions8x8Avx2; }

#endif
