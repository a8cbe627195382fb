// SPDX-License-Identifier: Apache-2.0
// The kernels of HEVC.

#include "measure.h"

// They are there once the package builds an encoder that uses them.
#if __has_include("hevc_kernels.h")

#include "hevc_kernels.h"

static OVTHEVCKernels8 tables8[MAX_PATHS];
static OVTHEVCKernels16 tables16[MAX_PATHS];

enum { STRIDE = 1408, ROWS = 96 };
static _Alignas(64) uint8_t source8[ROWS * STRIDE], ref8[ROWS * STRIDE], dst8[ROWS * STRIDE];
static _Alignas(64) uint16_t source16[ROWS * STRIDE], ref16[ROWS * STRIDE], dst16[ROWS * STRIDE];
static _Alignas(64) int16_t coef[1024], level[1024], residual[1024], high[2][64 * 64];
static int32_t sums[32], counts[32], four[4];

static void fill(void) {
  uint32_t state = 1;
#define NEXT() (state = state * 1664525u + 1013904223u, state >> 16)
  for (int i = 0; i < ROWS * STRIDE; i++) {
    source8[i] = (uint8_t)NEXT(), ref8[i] = (uint8_t)NEXT(), dst8[i] = (uint8_t)(100 + (NEXT() & 7));
    source16[i] = (uint16_t)(NEXT() & 1023), ref16[i] = (uint16_t)(NEXT() & 1023);
    dst16[i] = (uint16_t)(400 + (NEXT() & 31));
  }
  for (int i = 0; i < 1024; i++) {
    residual[i] = (int16_t)((int)(NEXT() & 511) - 256), coef[i] = (int16_t)((int)(NEXT() & 511) - 256);
    level[i] = (int16_t)(NEXT() & 3 ? 0 : 1);
  }
  for (int i = 0; i < 64 * 64; i++) high[0][i] = (int16_t)((int)(NEXT() & 16383) - 8192), high[1][i] = high[0][i];
}

static void residuals(void) {
  static OVTHEVCResidualKernels tables[MAX_PATHS];
  for (int p = 0; p < pathCount; p++) ovt_hevc_residual_kernels_init(&tables[p], pathSets[p]);
#define MEASURE(NAME, CALL) MEASURE_WITH(OVTHEVCResidualKernels, tables, NAME, CALL)
  char name[64];
  OVTHEVCLevels found;
  for (int s = 0; s < 4; s++) {
    const int n = 4 << s;
    snprintf(name, sizeof name, "HEVC forward %dx%d", n, n);
    MEASURE(name, k->forward[s](coef, residual, 32, 8));
    snprintf(name, sizeof name, "HEVC inverse %dx%d", n, n);
    MEASURE(name, k->inverse[s](residual, 32, coef, 8, n, n));
    if (s > 0) {
      snprintf(name, sizeof name, "HEVC inverse %dx%d of 4x4", n, n);
      MEASURE(name, k->inverse[s](residual, 32, coef, 8, 4, 4));
    }
    snprintf(name, sizeof name, "HEVC quantise %dx%d", n, n);
    MEASURE(name, k->quantise(level, coef, s + 2, 30, 8, 85, &found));
    snprintf(name, sizeof name, "HEVC dequantise %dx%d", n, n);
    MEASURE(name, k->dequantise(coef, level, s + 2, 30, 8));
  }
  fill();
  MEASURE("HEVC forward DST", k->forwardDST4x4(coef, residual, 32, 8));
  MEASURE("HEVC inverse DST", k->inverseDST4x4(residual, 32, coef, 8, 4, 4));
  MEASURE("HEVC scanGroup", k->scanGroup(coef, level, 32, i & 1 ? 0 : 2));
#undef MEASURE
}

// A reference with every possible alignment, and a destination that was not written by the call
// before.
#define AT(PLANE) (PLANE + 16 * STRIDE + 64)
#define REF(BITS) (AT(ref##BITS) + (i & 15))
#define DST(BITS) (AT(dst##BITS) + 64 * (i & 7))

#define SAMPLES(BITS, DEPTH)                                                                                    \
  static void samples##BITS(void) {                                                                             \
    char name[64];                                                                                              \
    static const int8_t offsets[4] = {2, 1, -1, -2};                                                            \
    static const int16_t tc[2] = {4, 4};                                                                        \
    for (int p = 0; p < pathCount; p++) ovt_hevc_kernels_init##BITS(&tables##BITS[p], pathSets[p]);             \
    fill();                                                                                                     \
    SHOW(BITS, DEPTH, "sad 16x16", k->sad[OVT_16x16](AT(source##BITS), STRIDE, REF(BITS), STRIDE))              \
    SHOW(BITS, DEPTH, "sadX4 16x16", k->sadX4[OVT_16x16](AT(source##BITS), STRIDE, REF(BITS), REF(BITS) + 1,    \
         REF(BITS) + STRIDE, REF(BITS) + 2, STRIDE, four))                                                      \
    SHOW(BITS, DEPTH, "satd 8x8", k->satd[OVT_8x8](AT(source##BITS), STRIDE, REF(BITS), STRIDE))                \
    SHOW(BITS, DEPTH, "satd 16x16", k->satd[OVT_16x16](AT(source##BITS), STRIDE, REF(BITS), STRIDE))            \
    SHOW(BITS, DEPTH, "satd8 8x8", k->satd8[0](AT(source##BITS), STRIDE, REF(BITS), STRIDE))                    \
    SHOW(BITS, DEPTH, "satd8 32x32", k->satd8[2](AT(source##BITS), STRIDE, REF(BITS), STRIDE))                  \
    SHOW(BITS, DEPTH, "ssd 16x16", k->ssd[OVT_16x16](AT(source##BITS), STRIDE, REF(BITS), STRIDE))              \
    SHOW(BITS, DEPTH, "difference 16x16", k->difference(residual, 32, AT(source##BITS), STRIDE, REF(BITS),      \
         STRIDE, 16, 16))                                                                                       \
    SHOW(BITS, DEPTH, "reconstruct 16x16", k->reconstruct(DST(BITS), STRIDE, REF(BITS), STRIDE, residual, 32,   \
         16, 16))                                                                                               \
    SHOW(BITS, DEPTH, "intra planar 16x16", k->intraPlanar(DST(BITS), STRIDE, AT(ref##BITS), 4))                \
    SHOW(BITS, DEPTH, "intra DC 16x16", k->intraDC(DST(BITS), STRIDE, AT(ref##BITS), 4, 1))                     \
    SHOW(BITS, DEPTH, "intra 30 8x8", k->intraAngular(DST(BITS), STRIDE, AT(ref##BITS), 3, 30, 1))              \
    SHOW(BITS, DEPTH, "intra 14 8x8", k->intraAngular(DST(BITS), STRIDE, AT(ref##BITS), 3, 14, 1))              \
    SHOW(BITS, DEPTH, "intra 22 32x32", k->intraAngular(DST(BITS), STRIDE, AT(ref##BITS), 5, 22, 0))            \
    SHOW(BITS, DEPTH, "luma copy 16x16", k->luma(DST(BITS), STRIDE, REF(BITS), STRIDE, 16, 16, 0, 0))           \
    SHOW(BITS, DEPTH, "luma h 16x16", k->luma(DST(BITS), STRIDE, REF(BITS), STRIDE, 16, 16, 1, 0))              \
    SHOW(BITS, DEPTH, "luma v 16x16", k->luma(DST(BITS), STRIDE, REF(BITS), STRIDE, 16, 16, 0, 2))              \
    SHOW(BITS, DEPTH, "luma hv 16x16", k->luma(DST(BITS), STRIDE, REF(BITS), STRIDE, 16, 16, 3, 1))             \
    SHOW(BITS, DEPTH, "luma hv 8x8", k->luma(DST(BITS), STRIDE, REF(BITS), STRIDE, 8, 8, 3, 1))                 \
    SHOW(BITS, DEPTH, "lumaHigh hv 16x16", k->lumaHigh(high[0], 64, REF(BITS), STRIDE, 16, 16, 3, 1))           \
    SHOW(BITS, DEPTH, "chroma hv 8x8", k->chroma(DST(BITS), STRIDE, REF(BITS), STRIDE, 8, 8, 3, 5))             \
    SHOW(BITS, DEPTH, "average 16x16", k->average(DST(BITS), STRIDE, high[0], high[1], 64, 16, 16))             \
    SHOW(BITS, DEPTH, "weigh 16x16", k->weigh(DST(BITS), STRIDE, high[0], 64, 16, 16, 10, 60, 3))               \
    fill();                                                                                                     \
    SHOW(BITS, DEPTH, "deblock luma vertical", k->deblockLumaVertical(DST(BITS), STRIDE, 40, tc))               \
    fill();                                                                                                     \
    SHOW(BITS, DEPTH, "deblock luma horizontal", k->deblockLumaHorizontal(DST(BITS), STRIDE, 40, tc))           \
    SHOW(BITS, DEPTH, "deblock chroma vertical", k->deblockChromaVertical(DST(BITS), STRIDE, tc))               \
    SHOW(BITS, DEPTH, "deblock chroma horizontal", k->deblockChromaHorizontal(DST(BITS), STRIDE, tc))           \
    SHOW(BITS, DEPTH, "sao edge 64x64", k->saoEdge(DST(BITS), STRIDE, REF(BITS), STRIDE, 64, 64, 2, offsets))   \
    SHOW(BITS, DEPTH, "sao band 64x64", k->saoBand(DST(BITS), STRIDE, REF(BITS), STRIDE, 64, 64, 9, offsets))   \
    SHOW(BITS, DEPTH, "sao edge statistics", k->saoEdgeStatistics(sums, counts, AT(source##BITS), STRIDE,       \
         REF(BITS), STRIDE, 64, 64, 2))                                                                         \
    SHOW(BITS, DEPTH, "sao band statistics", k->saoBandStatistics(sums, counts, AT(source##BITS), STRIDE,       \
         REF(BITS), STRIDE, 64, 64))                                                                            \
  }
#define SHOW(BITS, DEPTH, NAME, CALL)                              \
  snprintf(name, sizeof name, "HEVC %d bits " NAME, DEPTH);        \
  MEASURE_WITH(OVTHEVCKernels##BITS, tables##BITS, name, CALL);

SAMPLES(8, 8)
SAMPLES(16, 10)

void measureHEVC(void) {
  fill();
  residuals();
  samples8();
  samples16();
}

#else

void measureHEVC(void) {}

#endif
