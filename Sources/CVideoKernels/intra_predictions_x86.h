// SPDX-License-Identifier: Apache-2.0
// The nine directional predictions of a block of 8x8 samples. What the x86 sets share.
#ifndef OVT_INTRA_PREDICTIONS_X86_H
#define OVT_INTRA_PREDICTIONS_X86_H

#include "shared/intra_edge_x86.h"
#include "stages.h"

#if OVT_X86

SSE4_INLINE void intraPredictions8x8(uint8_t *dst, const uint8_t *edge) {
  uint8_t buffer[48] = {0};
  const uint8_t *const filtered = buffer + 16;
  filterEdge8x8(buffer + 16, edge, 7);
  vertical8(dst, 8, filtered);
  horizontal8(dst + 64, 8, filtered);
  dc8(dst + 2 * 64, 8, filtered);
  diagonalDownLeft8(dst + 3 * 64, 8, filtered);
  diagonalDownRight8(dst + 4 * 64, 8, filtered);
  verticalRight8(dst + 5 * 64, 8, filtered);
  horizontalDown8(dst + 6 * 64, 8, filtered);
  verticalLeft8(dst + 7 * 64, 8, filtered);
  horizontalUp8(dst + 8 * 64, 8, filtered);
}

#endif  // OVT_X86
#endif
