// SPDX-License-Identifier: Apache-2.0
// Leaf kernels that any block-based video encoder needs: sample arithmetic with no decisions and no
// syntax of a codec.
//
// Conventions
// - All samples are 8 bit. Strides are in bytes. Chroma is NV12: Cb and Cr interleaved, so an 8x8
//   chroma block is 8 rows of 16 bytes.
// - `src` is a block of the source picture with rows `srcStride` apart, in the picture or in a
//   copy; a stride of 16, as a copy of a macroblock has it, is the fastest. `ref` is a block of a
//   reference picture or of a prediction with the stride given. Neither needs an alignment, and
//   nothing outside the block is read.

#ifndef CVIDEOKERNELS_H
#define CVIDEOKERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "CABACTables.h"
#include "InlineKernels.h"

// Sets of instructions that kernels are written for, a bit each. A table is plain C, and over it
// what each set of a mask does better, in this order.
enum {
  OVT_CPU_C = 0,
  OVT_CPU_SSE4 = 1 << 0,    // SSE2, SSSE3, SSE4.1
  OVT_CPU_AVX2 = 1 << 1,
  OVT_CPU_AVX512 = 1 << 2,  // F, BW, DQ, VL, VBMI, VBMI2, VNNI: Ice Lake, Zen 4 and later
  OVT_CPU_NEON = 1 << 3,
};

// Block shapes, width by height, in the order of the tables below.
enum {
  OVT_16x16 = 0,
  OVT_16x8 = 1,
  OVT_8x16 = 2,
  OVT_8x8 = 3,
  OVT_8x4 = 4,
  OVT_4x8 = 5,
  OVT_4x4 = 6,
  OVT_32x32 = 7,
  OVT_32x16 = 8,
  OVT_16x32 = 9,
  OVT_64x32 = 10,
  OVT_32x64 = 11,
  OVT_64x64 = 12,
  OVT_BLOCK_SHAPES = 13,
};

// Widths of copies and averages, in the order of the tables below.
enum {
  OVT_WIDTH_16 = 0,
  OVT_WIDTH_8 = 1,
  OVT_WIDTH_4 = 2,
  OVT_WIDTH_32 = 3,
  OVT_WIDTH_64 = 4,
  OVT_WIDTHS = 5,
};

typedef int (*OVTCompare)(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t refStride);
typedef int (*OVTCompareAverage)(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b,
                                 ptrdiff_t refStride);
typedef void (*OVTCompareX4)(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref0, const uint8_t *ref1,
                             const uint8_t *ref2, const uint8_t *ref3, ptrdiff_t refStride, int out[4]);
typedef void (*OVTCopy)(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride, int height);
typedef void (*OVTAverage)(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a, const uint8_t *b,
                           ptrdiff_t srcStride, int height);

typedef struct OVTVideoKernels {
  int cpu;  // mask of the sets in use (OVT_CPU_*)

  // Comparison. Sum of absolute differences; sum of absolute Hadamard-transformed differences
  // (4x4 Hadamard, halved once for each 4x4 block: sum(|H d H|) >> 1 over the whole shape);
  // sum of squared differences.
  OVTCompare sad[OVT_BLOCK_SHAPES];
  OVTCompareX4 sadX4[OVT_BLOCK_SHAPES];  // four candidates at once
  OVTCompare satd[OVT_BLOCK_SHAPES];
  // 16x16, against the average (a + b + 1) >> 1 of two references.
  OVTCompareAverage sadOfAverage, satdOfAverage;
  OVTCompare ssd[OVT_BLOCK_SHAPES];
  // ssdNV12: out[0] for Cb, out[1] for Cr of an 8x8 (chroma) block.
  void (*ssdNV12)(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t refStride, int out[2]);
  // SATD of an NV12 8x8 chroma block, Cb plus Cr.
  int (*satdNV12)(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t refStride);
  // Sum in the low 32 bits and sum of squares in the high 32 bits of a 16x16 block.
  uint64_t (*variance16x16)(const uint8_t *pixels, ptrdiff_t stride);
  // Sum of squared differences of two rows of n samples (n <= 1 << 15).
  uint64_t (*ssdRow)(const uint8_t *a, const uint8_t *b, int n);

  // Blocks of OVT_WIDTH_* samples in width and `height` rows.
  OVTCopy copy[OVT_WIDTHS];
  OVTAverage average[OVT_WIDTHS];  // (a + b + 1) >> 1

  // The nine directional predictions of an 8x8 block that H.264 calls Intra_8x8 (8.3.2.2), in the
  // order of its modes, from neighbours that this filters first (8.3.2.2.1): edge[0] is the sample
  // above left, edge[1...16] the row above and above right, edge[-1...-8] the column to the left
  // from top to bottom. `dst` receives nine blocks of 64 samples. They estimate what intra
  // prediction costs before a codec's own predictions are tried.
  void (*intraPredictions8x8)(uint8_t dst[576], const uint8_t *edge);

  // Planes of chroma: 8x8 samples of each to NV12; a row of n pairs apart.
  void (*interleave8x8Planes)(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *u, ptrdiff_t uStride, const uint8_t *v,
                              ptrdiff_t vStride);
  void (*deinterleaveRow)(uint8_t *u, uint8_t *v, const uint8_t *src, int n);
} OVTVideoKernels;

// Returns the instruction sets that this CPU has and that were compiled in: a mask of OVT_CPU_*.
int ovt_cpu_features(void);
// The sets that an encoder uses: the same except for AVX-512, or what the environment's OVT_CPU
// names of it (ovt_cpu_parse). A word that names no set is said on the standard error, and it is
// then as if OVT_CPU were not set.
int ovt_cpu_detect(void);
// The mask of names separated by commas: c (nothing), sse4, avx2, avx512, neon. -1 if one is none
// of them.
int ovt_cpu_parse(const char *names);
// The name of one set (OVT_CPU_*), "c" for none; NULL for what is not one set.
const char *ovt_cpu_name(int set);
// Fills the table with plain C and with what the sets of `mask` do better, as far as this CPU has
// them. Returns the mask of those in use.
int ovt_video_kernels_init(OVTVideoKernels *kernels, int mask);

// The least SATD of an 8x8 block and its nine predictions by intraPredictions8x8 from `edge`.
static inline int ovt_intra_cost8x8(const OVTVideoKernels *k, const uint8_t *src, ptrdiff_t srcStride,
                                    const uint8_t *edge) {
  uint8_t predictions[9 * 64];
  k->intraPredictions8x8(predictions, edge);
  int least = k->satd[OVT_8x8](src, srcStride, predictions, 8);
  for (int mode = 1; mode < 9; mode++) {
    const int cost = k->satd[OVT_8x8](src, srcStride, predictions + 64 * mode, 8);
    if (cost < least) least = cost;
  }
  return least;
}

// dst[i] = table[src[i]]; `table` has 256 entries.
void ovt_map(uint8_t *restrict dst, const uint8_t *restrict src, const uint8_t *restrict table, int n);
// Adds n samples, `step` bytes apart, and their squares. n is at most 65,536.
void ovt_sums(const uint8_t *p, int n, int step, uint32_t *sum, uint32_t *squares);
// The same of 32 samples each to blocks that lie side by side, with one sum of squares for all of
// them, at most 2,048. What is at `next` is to be read then: it is fetched.
void ovt_block_sums(const uint8_t *p, int blocks, uint32_t *sums, uint32_t *squares, const uint8_t *next);
// The sum of the squared differences of n samples, `step` samples apart.
uint64_t ovt_squared_errors_8(const uint8_t *a, const uint8_t *b, int n, int step);
// The same of samples of 16 bits.
uint64_t ovt_squared_errors_16(const uint16_t *a, const uint16_t *b, int n, int step);
// The motion-compensated temporal filter.
// A block moved by a fraction of a sample: separable filters of eight taps whose sum is 64 and
// whose absolute sum is at most 112, for the samples from 3 before to 4 after. Width and height
// are at most 16.
void ovt_interpolate_8(uint8_t *restrict dst, ptrdiff_t dstStride, const uint8_t *restrict src, ptrdiff_t srcStride,
                       int width, int height, const int8_t xTaps[8], const int8_t yTaps[8]);
// Begins the weighted sums of a block of up to 16x16 samples with the samples themselves, which
// have the weight 256. Sums and weights have 16 values for each row.
void ovt_temporal_start_8(int32_t *restrict sums, int32_t *restrict weights, const uint8_t *restrict src,
                          ptrdiff_t srcStride, int width, int height);
// Adds the block of a reference. The weight of a sample is the biweight of Beaton and Tukey (1974)
// of its difference d from the source, weight * (1 - (d / limit)^2)^2, and 0 from the limit on.
// limit: 0 to 255; weight: 0 to 256.
void ovt_temporal_add_8(int32_t *restrict sums, int32_t *restrict weights, const uint8_t *restrict src,
                        ptrdiff_t srcStride, const uint8_t *restrict ref, ptrdiff_t refStride, int width, int height,
                        int limit, int weight);
// The rounded quotients of sums and weights. Every weight is at least 1 and below 4096, every
// quotient at most 255.
void ovt_temporal_finish_8(uint8_t *restrict dst, ptrdiff_t dstStride, const int32_t *restrict sums,
                           const int32_t *restrict weights, int width, int height);
// A row of a half-size picture: n means of two by two samples of two rows (2 n samples each).
void ovt_halve_row(uint8_t *restrict dst, const uint8_t *restrict a, const uint8_t *restrict b, int n);

#endif
