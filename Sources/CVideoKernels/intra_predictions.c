// SPDX-License-Identifier: Apache-2.0
// The nine directional predictions of a block of 8x8 samples. Plain C.

#include "shared/intra_edge.h"
#include "stages.h"

static void intraPredictions8x8(uint8_t *dst, const uint8_t *edge) {
  uint8_t filtered[48] = {0};
  filterEdge8x8(filtered + 16, edge, 7);
  for (int mode = 0; mode < 9; mode++) predict(dst + 64 * mode, 8, filtered + 16, mode, 8);
}

void ovt_intra_predictions_c(OVTVideoKernels *k) { k->intraPredictions8x8 = intraPredictions8x8; }
