// SPDX-License-Identifier: Apache-2.0
// Measures the cycles per call of each kernel for each instruction set of this CPU: the median of
// many runs, including the call through the table, with all data in the first-level cache. Usage:
// `kernel-bench [part of a name]`.

#include <stdio.h>
#include <string.h>

#include "CH264Kernels.h"
#include "measure.h"

// The stride of a 720p picture with its padding. With this stride, rows do not use the same set of
// the cache.
enum { STRIDE = 1408, ROWS = 96 };

// MARK: - Buffers

static _Alignas(64) uint8_t source[64 * 64], refMemory[ROWS * STRIDE], dstMemory[ROWS * STRIDE], planes[3][ROWS * STRIDE];
static _Alignas(64) uint8_t edgeMemory[64], filteredMemory[64];
static _Alignas(64) int16_t coef[256], level[64], dealt[64], scale[64], scratch[STRIDE + 64];
static _Alignas(64) uint16_t mf[64], bias[64];
static int sums[4];

static void fillBuffers(void) {
  uint32_t state = 1;
#define NEXT() (state = state * 1664525u + 1013904223u, state >> 16)
  for (int i = 0; i < 64 * 64; i++) source[i] = (uint8_t)NEXT();
  for (int i = 0; i < 256; i++) coef[i] = (int16_t)((int)(NEXT() & 511) - 256);
  for (int i = 0; i < ROWS * STRIDE; i++) {
    refMemory[i] = (uint8_t)NEXT();
    dstMemory[i] = (uint8_t)(100 + (NEXT() & 7));  // low contrast, so that the deblocking filter has work to do
  }
  for (int i = 0; i < 64; i++) {
    edgeMemory[i] = (uint8_t)NEXT();
    mf[i] = (uint16_t)(2000 + (NEXT() & 1023)), bias[i] = (uint16_t)(NEXT() & 15), scale[i] = (int16_t)(16 + (NEXT() & 15));
    level[i] = (int16_t)(NEXT() & 3 ? 0 : 1);
  }
}

// MARK: - The table

static OVTKernels paths[MAX_PATHS];
const char *pathNames[MAX_PATHS];
int pathCount, pathSets[MAX_PATHS];
double scaleToCycles;
const char *filter = "";

// Adds the path for an instruction set (OVT_CPU_*) together with those before it, if this CPU
// supports it.
static void addPath(int set, const char *name) {
  if ((set & ~ovt_cpu_features()) != 0) return;
  pathSets[pathCount] = set == OVT_CPU_C ? OVT_CPU_C : set | (set - 1);
  ovt_kernels_init(&paths[pathCount], pathSets[pathCount]);
  pathNames[pathCount++] = name;
}

#define MEASURE(NAME, CALL) MEASURE_WITH(OVTKernels, paths, NAME, CALL)

// A reference with every possible alignment, as with motion vectors.
#define REF (refMemory + 8 * STRIDE + 64 + (i & 15))
// A destination that was not written by the previous call.
#define DST (dstMemory + 8 * STRIDE + 64 + 64 * (i & 7))

static const char *const shapeNames[OVT_BLOCK_SHAPES] = {"16x16", "16x8",  "8x16",  "8x8",   "8x4",   "4x8",  "4x4",
                                                         "32x32", "32x16", "16x32", "64x32", "32x64", "64x64"};
// Blocks of a macroblock are copied for the comparison, larger ones are not.
static ptrdiff_t sourceStride(int shape) { return shape <= OVT_4x4 ? 16 : 64; }

static void compare(void) {
  char name[64];
  for (int s = 0; s < OVT_BLOCK_SHAPES; s++) {
    snprintf(name, sizeof name, "sad %s", shapeNames[s]);
    MEASURE(name, k->video.sad[s](source, sourceStride(s), REF, STRIDE));
  }
  for (int s = 0; s < OVT_BLOCK_SHAPES; s++) {
    snprintf(name, sizeof name, "sadX4 %s", shapeNames[s]);
    MEASURE(name, k->video.sadX4[s](source, sourceStride(s), REF, REF + 1, REF - STRIDE, REF + STRIDE, STRIDE, sums));
  }
  for (int s = 0; s < OVT_BLOCK_SHAPES; s++) {
    snprintf(name, sizeof name, "satd %s", shapeNames[s]);
    MEASURE(name, k->video.satd[s](source, sourceStride(s), REF, STRIDE));
  }
  for (int s = 0; s < OVT_BLOCK_SHAPES; s++) {
    snprintf(name, sizeof name, "ssd %s", shapeNames[s]);
    MEASURE(name, k->video.ssd[s](source, sourceStride(s), REF, STRIDE));
  }
  MEASURE("sadOfAverage", k->video.sadOfAverage(source, 16, REF, REF + STRIDE, STRIDE));
  MEASURE("satdOfAverage", k->video.satdOfAverage(source, 16, REF, REF + STRIDE, STRIDE));
  MEASURE("ssdNV12", k->video.ssdNV12(source, 16, REF, STRIDE, sums));
  MEASURE("satdNV12", k->video.satdNV12(source, 16, REF, STRIDE));
  MEASURE("variance16x16", k->video.variance16x16(REF, STRIDE));
  MEASURE("ssdRow 1280", k->video.ssdRow(refMemory, dstMemory, 1280));
}

static void motion(void) {
  char name[64];
  static const int widths[OVT_WIDTHS] = {16, 8, 4, 32, 64};
  for (int w = 0; w < OVT_WIDTHS; w++) {
    snprintf(name, sizeof name, "copy %dx%d", widths[w], widths[w]);
    MEASURE(name, k->video.copy[w](DST, STRIDE, REF, STRIDE, widths[w]));
  }
  for (int w = 0; w < OVT_WIDTHS; w++) {
    snprintf(name, sizeof name, "average %dx%d", widths[w], widths[w]);
    MEASURE(name, k->video.average[w](DST, STRIDE, REF, REF + STRIDE, STRIDE, widths[w]));
  }
  for (int w = 0; w < 3; w++) {
    snprintf(name, sizeof name, "chroma %d pairs x %d", 8 >> w, 8 >> w);
    MEASURE(name, k->chroma[w](DST, STRIDE, REF, STRIDE, 3, 5, 8 >> w));
  }
  MEASURE("halfSample 1280x1", k->halfSample(planes[0], planes[1], planes[2], refMemory + 8 * STRIDE + 64, STRIDE, 1280, 1, scratch));
}

static void transform(void) {
  MEASURE("forward4x4", k->forward4x4(coef, source, REF, STRIDE));
  MEASURE("forward4x4x16", k->forward4x4x16(coef, source, REF, STRIDE));
  MEASURE("forward8x8", k->forward8x8(coef, source, REF, STRIDE));
  MEASURE("forward8x8x4", k->forward8x8x4(coef, source, REF, STRIDE));
  MEASURE("forwardNV12", k->forwardNV12(coef, source, REF, STRIDE));
  MEASURE("inverse4x4", k->inverse4x4(DST, STRIDE, coef));
  MEASURE("inverse4x4DC", k->inverse4x4DC(DST, STRIDE, 77));
  MEASURE("inverse4x4x4", k->inverse4x4x4(DST, STRIDE, coef));
  MEASURE("inverse4x4x16", k->inverse4x4x16(DST, STRIDE, coef));
  MEASURE("inverse8x8", k->inverse8x8(DST, STRIDE, coef));
  MEASURE("inverseNV12", k->inverseNV12(DST, STRIDE, coef));
  MEASURE("hadamard4x4Forward", k->hadamard4x4Forward(level));
  MEASURE("hadamard4x4Inverse", k->hadamard4x4Inverse(level));
}

static void quant(void) {
  MEASURE("quant4x4", k->quant4x4(coef, mf, bias));
  MEASURE("quant4x4x4", k->quant4x4x4(coef, mf, bias));
  MEASURE("quant8x8", k->quant8x8(coef, mf, bias));
  MEASURE("quantDC 4", k->quantDC(coef, 4, mf[0], bias[0]));
  MEASURE("quantDC 16", k->quantDC(coef, 16, mf[0], bias[0]));
  // The difference of a block to itself is empty, so the function has to check the whole block.
  MEASURE("isEmpty16x16", k->isEmpty16x16(source, source, 16, mf, bias));
  MEASURE("isEmptyNV12", k->isEmptyNV12(source, source, 16, mf, bias, mf[0] / 2, bias[0]));
  MEASURE("scale4x4", k->scale4x4(coef, scale));
  MEASURE("scale4x4x4", k->scale4x4x4(coef, scale));
  MEASURE("scale8x8", k->scale8x8(coef, scale, 2));
  MEASURE("scan4x4", k->scan4x4(level, coef));
  MEASURE("scan8x8", k->scan8x8(level, coef));
  MEASURE("interleave8x8", k->interleave8x8(dealt, level));
}

static void intra(void) {
  static const char *const lumaNames[7] = {"V", "H", "DC", "plane", "DC left", "DC top", "DC 128"};
  static const char *const chromaNames[7] = {"DC", "H", "V", "plane", "DC left", "DC top", "DC 128"};
  static const char *const edgeNames[12] = {"V", "H", "DC", "DDL", "DDR", "VR", "HD", "VL", "HU", "DC left", "DC top", "DC 128"};
  char name[64];
  for (int m = 0; m < 7; m++) {
    snprintf(name, sizeof name, "intra16x16 %s", lumaNames[m]);
    MEASURE(name, k->intra16x16[m](DST, STRIDE));
  }
  for (int m = 0; m < 7; m++) {
    snprintf(name, sizeof name, "intraChroma %s", chromaNames[m]);
    MEASURE(name, k->intraChroma[m](DST, STRIDE));
  }
  for (int m = 0; m < 12; m++) {
    snprintf(name, sizeof name, "intra4x4 %s", edgeNames[m]);
    MEASURE(name, k->intra4x4[m](DST, STRIDE, edgeMemory + 16));
  }
  for (int m = 0; m < 12; m++) {
    snprintf(name, sizeof name, "intra8x8 %s", edgeNames[m]);
    MEASURE(name, k->intra8x8[m](DST, STRIDE, edgeMemory + 16));
  }
  MEASURE("intraPredictions8x8", k->video.intraPredictions8x8(planes[0], edgeMemory + 16));
  MEASURE("intra cost 8x8", ovt_intra_cost8x8(&k->video, source, 16, edgeMemory + 16));
  MEASURE("filterEdge8x8", k->filterEdge8x8(filteredMemory + 16, edgeMemory + 16, 7));
}

static void deblock(void) {
  static const OVTEdges edges = {{0x01010202, 0x02020101, 0x02020202, 0x01020102}, {60, 50}, {12, 10}, {{0, 2, 3, 4}, {0, 2, 3, 4}}};
  static const OVTEdges border = {{0x01010202, 0, 0, 0}, {60, 50}, {12, 10}, {{0, 2, 3, 4}, {0, 2, 3, 4}}};
  fillBuffers();
  MEASURE("deblockLumaVerticalEdges", k->deblockLumaVerticalEdges(DST, STRIDE, &edges));
  fillBuffers();
  MEASURE("deblockLumaHorizontalEdges", k->deblockLumaHorizontalEdges(DST, STRIDE, &edges));
  fillBuffers();
  MEASURE("deblockLumaVerticalEdges border", k->deblockLumaVerticalEdges(DST, STRIDE, &border));
  MEASURE("deblockChromaVerticalEdges", k->deblockChromaVerticalEdges(DST, STRIDE, &edges));
  MEASURE("deblockChromaHorizontalEdges", k->deblockChromaHorizontalEdges(DST, STRIDE, &edges));
}

static void picture(void) {
  MEASURE("interleave8x8Planes", k->video.interleave8x8Planes(planes[0], 16, refMemory, STRIDE, dstMemory, STRIDE));
  MEASURE("deinterleaveRow 640", k->video.deinterleaveRow(planes[0], planes[1], refMemory, 640));
}

int main(int argc, char **argv) {
  if (argc > 1) filter = argv[1];
  addPath(OVT_CPU_C, "C");
#if defined(__x86_64__)
  addPath(OVT_CPU_SSE4, "SSE4");
  addPath(OVT_CPU_AVX2, "AVX2");
  addPath(OVT_CPU_AVX512, "AVX-512");
#elif defined(__aarch64__)
  addPath(OVT_CPU_NEON, "NEON");
#endif
  scaleToCycles = cyclesPerTick();
  fillBuffers();
  printf("%-32s", "cycles per call");
  for (int p = 0; p < pathCount; p++) printf(" %9s", pathNames[p]);
  printf("  C / best\n");
  compare();
  motion();
  transform();
  quant();
  intra();
  deblock();
  picture();
  measureHEVC();
  return 0;
}
