// SPDX-License-Identifier: Apache-2.0
// The nine directional predictions of a block of 8x8 samples. SSE4.

#include "intra_predictions_x86.h"

#if OVT_X86

KERNEL(SSE4, Sse4, void, intraPredictions8x8, (uint8_t *dst, const uint8_t *edge), dst, edge)

void ovt_intra_predictions_sse4(OVTVideoKernels *k) { k->intraPredictions8x8 = intraPredictions8x8Sse4; }

#endif
