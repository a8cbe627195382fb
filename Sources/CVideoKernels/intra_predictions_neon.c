// SPDX-License-Identifier: Apache-2.0
// The nine directional predictions of a block of 8x8 samples. NEON.

#include "shared/intra_edge_neon.h"
#include "stages.h"

#if OVT_ARM64

static void intraPredictions8x8(uint8_t *dst, const uint8_t *edge) {
  uint8_t buffer[48] = {0};
  const uint8_t *const filtered = buffer + 16;
  filterEdge8x8(buffer + 16, edge, 7);
  vertical(dst, 8, filtered, 8);
  horizontal(dst + 64, 8, filtered, 8);
  dc(dst + 2 * 64, 8, filtered, 8);
  diagonalDownLeft(dst + 3 * 64, 8, filtered, 8);
  diagonalDownRight(dst + 4 * 64, 8, filtered, 8);
  verticalRight(dst + 5 * 64, 8, filtered, 8);
  horizontalDown(dst + 6 * 64, 8, filtered, 8);
  verticalLeft(dst + 7 * 64, 8, filtered, 8);
  horizontalUp(dst + 8 * 64, 8, filtered, 8);
}

void ovt_intra_predictions_neon(OVTVideoKernels *k) { k->intraPredictions8x8 = intraPredictions8x8; }

#endif
