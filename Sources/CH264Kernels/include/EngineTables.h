// SPDX-License-Identifier: Apache-2.0
// Small constant tables of the engine's hot paths, inlined into Swift without lazy initialisation.
#ifndef ENGINETABLES_H
#define ENGINETABLES_H

#include <stdint.h>

extern const uint8_t ovt_table_chroma_qp[52];

// QP_C for qPI (Table 8-15).
static inline int32_t ovt_chroma_qp(int32_t qp) { return ovt_table_chroma_qp[qp]; }
// Lagrange multipliers of a QP, 0 to 71: for SAD and SATD in sixteenths, for squared errors in
// 1/256. Those above 51 are for blocks that are quantised with QP 51 and still take too many bits.
typedef struct OVTLambda {
  int32_t sad16;
  int32_t ssd256;
} OVTLambda;
extern const OVTLambda ovt_table_lambda[72];
static inline OVTLambda ovt_lambda(int32_t qp) { return ovt_table_lambda[qp]; }
// Raster index (y * 4 + x) of luma4x4BlkIdx (6.4.3).
extern const uint8_t ovt_table_raster[16];
static inline int ovt_raster(int blkIdx) { return ovt_table_raster[blkIdx]; }

// About how many sixteenths of a bit a list of levels takes in CABAC; `mask` has a bit for each
// level that is not zero. Levels: a flag for each position up to the last, then size and sign of
// each.
extern const uint16_t ovt_table_level_bits[16];
static inline int ovt_level_size_bits(int size) {
  return size < 16 ? ovt_table_level_bits[size]
                   : ovt_table_level_bits[15] + 32 * (32 - __builtin_clz((unsigned)size - 14));
}
static inline int ovt_level_bits(const int16_t *levels, uint64_t mask, int is8x8) {
  if (mask == 0) return 6;
  const int last = 63 - __builtin_clzll(mask);
  const int count = __builtin_popcountll(mask);
  int bits = 14 + (last + 1 - count) * (is8x8 ? 7 : 11) + count * 28;
  while (mask != 0) {
    const int i = __builtin_ctzll(mask);
    const int size = levels[i] < 0 ? -levels[i] : levels[i];
    bits += ovt_level_size_bits(size);
    mask &= mask - 1;
  }
  return bits;
}
// Sum of 24 bytes.
static inline int ovt_sum24(const uint8_t *counts) {
  int sum = 0;
  for (int i = 0; i < 24; i++) sum += counts[i];
  return sum;
}

#endif
