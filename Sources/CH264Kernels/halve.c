// SPDX-License-Identifier: Apache-2.0
// Half-size pictures.

#include "CH264Kernels.h"

void ovt_halve_row(uint8_t *restrict dst, const uint8_t *restrict a, const uint8_t *restrict b, int n) {
  for (int i = 0; i < n; i++) dst[i] = (uint8_t)((a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1] + 2) >> 2);
}
