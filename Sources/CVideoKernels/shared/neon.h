// SPDX-License-Identifier: Apache-2.0
// Helpers that the NEON files share, here and in the modules of codecs.
#ifndef OVT_NEON_H
#define OVT_NEON_H

#include "sets.h"

#if OVT_ARM64

#include <arm_neon.h>

OVT_INLINE uint8x8_t load4(const uint8_t *p) {
  uint32_t row;
  memcpy(&row, p, 4);
  return vreinterpret_u8_u32(vdup_n_u32(row));
}

OVT_INLINE void store4(uint8_t *p, uint8x8_t v) {
  const uint32_t row = vget_lane_u32(vreinterpret_u32_u8(v), 0);
  memcpy(p, &row, 4);
}

#endif  // OVT_ARM64
#endif
