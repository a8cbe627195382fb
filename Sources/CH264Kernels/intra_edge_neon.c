// SPDX-License-Identifier: Apache-2.0
// Intra_4x4 (8.3.1.2) and Intra_8x8 (8.3.2.2) from an edge, and the filter of the latter's
// reference samples; the bodies are in CVideoKernels. NEON.

#include "intra_edge_neon.h"
#include "stages.h"

#if OVT_ARM64

#define OF_SIZE(NAME, N) \
  static void NAME##N(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge) { NAME(dst, stride, edge, N); }
#define FROM_EDGE(NAME) OF_SIZE(NAME, 4) OF_SIZE(NAME, 8)
FROM_EDGE(vertical)
FROM_EDGE(horizontal)
FROM_EDGE(dc)
FROM_EDGE(diagonalDownLeft)
FROM_EDGE(diagonalDownRight)
FROM_EDGE(verticalRight)
FROM_EDGE(horizontalDown)
FROM_EDGE(verticalLeft)
FROM_EDGE(horizontalUp)
FROM_EDGE(dcLeft)
FROM_EDGE(dcTop)
FROM_EDGE(dc128)

static void filterEdge(uint8_t *out, const uint8_t *edge, int available) { filterEdge8x8(out, edge, available); }

#define EDGE_MODES(N)                                                                                              \
  {vertical##N,       horizontal##N,   dc##N,           diagonalDownLeft##N, diagonalDownRight##N, verticalRight##N, \
   horizontalDown##N, verticalLeft##N, horizontalUp##N, dcLeft##N,           dcTop##N,             dc128##N}

void ovt_intra_edge_neon(OVTKernels *k) {
  const OVTPredictFromEdge modes4x4[12] = EDGE_MODES(4), modes8x8[12] = EDGE_MODES(8);
  memcpy(k->intra4x4, modes4x4, sizeof modes4x4);
  memcpy(k->intra8x8, modes8x8, sizeof modes8x8);
  k->filterEdge8x8 = filterEdge;
}

#endif
