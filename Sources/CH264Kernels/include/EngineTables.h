// Small constant tables of the engine's hot paths, inlined into Swift without lazy initialisation.
#ifndef ENGINETABLES_H
#define ENGINETABLES_H

#include <stdint.h>

extern const uint8_t ovt_table_chroma_qp[52];

// QP_C for qPI (Table 8-15).
static inline int32_t ovt_chroma_qp(int32_t qp) { return ovt_table_chroma_qp[qp]; }
// Lagrange multipliers of a QP: for SAD and SATD in sixteenths, for squared errors in 1/256.
typedef struct OVTLambda {
  int32_t sad16;
  int32_t ssd256;
} OVTLambda;
extern const OVTLambda ovt_table_lambda[52];
static inline OVTLambda ovt_lambda(int32_t qp) { return ovt_table_lambda[qp]; }
// Raster index (y * 4 + x) of luma4x4BlkIdx (6.4.3).
extern const uint8_t ovt_table_raster[16];
static inline int ovt_raster(int blkIdx) { return ovt_table_raster[blkIdx]; }

// Sum of 24 bytes.
static inline int ovt_sum24(const uint8_t *counts) {
  int sum = 0;
  for (int i = 0; i < 24; i++) sum += counts[i];
  return sum;
}

#endif
