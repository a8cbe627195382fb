// SPDX-License-Identifier: Apache-2.0
// Inter prediction samples (8.4.2.2): chroma and half-sample planes. What the x86 sets share.
#ifndef OVT_MOTION_X86_H
#define OVT_MOTION_X86_H

#include "stages.h"
#include "x86.h"

#if OVT_X86

// MARK: - Chroma

// Weights of a sample and its right neighbour in this row (A, B) and in the one below (C, D), as
// pairs of bytes for pmaddubsw.
OVT_INLINE short weightPair(int xFrac, int rowWeight) {
  return (short)((8 - xFrac) * rowWeight | xFrac * rowWeight << 8);
}

// MARK: - Half-sample planes

// Six taps (1, -5, 20, 20, -5, 1) over bytes: pairs of neighbours through pmaddubsw.
OVT_INLINE short bytePair(int first, int second) { return (short)((first & 255) | second * 256); }

#endif  // OVT_X86
#endif
