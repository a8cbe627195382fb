// SPDX-License-Identifier: Apache-2.0
// Squared differences of rows of samples. Compilers make vector instructions of the loops with a
// constant step.

#include "stages.h"

uint64_t ovt_squared_errors_8(const uint8_t *a, const uint8_t *b, int n, int step) {
  uint64_t sum = 0;
  if (step == 1) {
    // 32 bits hold the squares of 4,096 differences.
    for (; n > 4096; a += 4096, b += 4096, n -= 4096) sum += ovt_squared_errors_8(a, b, 4096, 1);
    uint32_t part = 0;
    for (int i = 0; i < n; i++) {
      const int d = a[i] - b[i];
      part += (uint32_t)(d * d);
    }
    return sum + part;
  }
  for (int i = 0; i < n; i++) {
    const int d = a[i * step] - b[i * step];
    sum += (uint64_t)(d * d);
  }
  return sum;
}

uint64_t ovt_squared_errors_16(const uint16_t *a, const uint16_t *b, int n, int step) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) {
    const int64_t d = (int64_t)a[i * step] - b[i * step];
    sum += (uint64_t)(d * d);
  }
  return sum;
}
