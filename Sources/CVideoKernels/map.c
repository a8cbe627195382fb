// SPDX-License-Identifier: Apache-2.0
// Samples by a table. Plain C, which has nothing to gain from vectors.

#include "stages.h"

void ovt_map(uint8_t *restrict dst, const uint8_t *restrict src, const uint8_t *restrict table, int n) {
  for (int i = 0; i < n; i++) dst[i] = table[src[i]];
}
