// SPDX-License-Identifier: Apache-2.0
// Leaf kernels of an HEVC encoder: sample and coefficient arithmetic with no decisions. What codecs
// share for samples of 8 bits (comparison, copies, the choice of instruction sets) is in
// CVideoKernels. Clauses named are those of ITU-T H.265 (08/2021).
//
// There are three tables:
// - OVTHEVCResidualKernels: transforms, quantisation and scans. Residuals and coefficients are
//   int16_t for every bit depth, so both other tables hold the same.
// - OVTHEVCKernels8: what reads or writes samples of 8 bits (uint8_t).
// - OVTHEVCKernels16: the same for samples of 10 bits (uint16_t, 0 to 1023). Other depths need
//   kernels of their own: the depth is compiled in.
//
// Conventions
// - Strides count elements of the pointer's type (samples, residuals), not bytes.
// - Chroma is planar: a block of Cb or Cr is a block like any other, with its own call.
// - A block of coefficients or levels of size N = 1 << log2Size is N * N int16_t in raster order
//   (row * N + column) without a gap, 32-byte aligned. Residuals have a stride and need no
//   alignment. Sizes are 4, 8, 16, 32; arrays of functions by size have the index log2Size - 2.
// - No kernel allocates, keeps state or checks its arguments; what each may read and write beside
//   its block is said at the entry. Outputs do not overlap inputs but where it is said.

#ifndef HEVC_KERNELS_H
#define HEVC_KERNELS_H

#include <CVideoKernels.h>
#include <stddef.h>
#include <stdint.h>

// MARK: - Transforms, quantisation and scans

// What quantisation tells about a block of levels.
typedef struct OVTHEVCLevels {
  // A bit for each 4x4 group of coefficients that has a level other than 0: bit gy * 8 + gx for the
  // group at column 4 * gx, row 4 * gy, whatever the size of the block. 0 if all levels are 0.
  uint64_t groups;
  int32_t count;  // of levels that are not 0
  int32_t sum;    // of the levels' magnitudes
} OVTHEVCLevels;

// The order of coefficients in a 4x4 group and of groups in a block (scanIdx of 7.4.9.11).
enum {
  OVT_HEVC_SCAN_DIAGONAL = 0,    // up-right diagonal, 6.5.3
  OVT_HEVC_SCAN_HORIZONTAL = 1,  // 6.5.4
  OVT_HEVC_SCAN_VERTICAL = 2,    // 6.5.5
  OVT_HEVC_SCANS = 3,
};

// By [scan][position in the scan]: the place in a 4x4 group, row * 4 + column.
extern const uint8_t ovt_hevc_scan4x4[OVT_HEVC_SCANS][16];
// By [scan][log2Size - 2][position in the scan]: a group's place, gy * 8 + gx, as in
// OVTHEVCLevels.groups. A block has 1, 4, 16 or 64 groups; the rest is 0.
extern const uint8_t ovt_hevc_scan_groups[OVT_HEVC_SCANS][4][64];
// The inverse: by [scan][log2Size - 2][gy * 8 + gx], the group's position in the scan.
extern const uint8_t ovt_hevc_group_positions[OVT_HEVC_SCANS][4][64];
// The matrix of 8.6.4.2 for 32 points, transMatrix; row k * (32 / N), columns 0 to N - 1, is row k
// of the matrix for N points.
extern const int8_t ovt_hevc_matrix[32][32];

// Forward transform of a block of residuals (a matrix product by each direction, scaled so that the
// inverse of 8.6.4.2 gives the residual back).
//   coef      N * N coefficients.
//   residual  N rows of N, -(1 << bitDepth) + 1 to (1 << bitDepth) - 1; stride in int16_t.
//   bitDepth  8 to 10: the first stage (columns) rounds and shifts by log2Size + bitDepth - 9,
//             the second (rows) by log2Size + 6. No intermediate value leaves int16_t.
typedef void (*OVTHEVCForward)(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int bitDepth);

// Inverse transform (8.6.4.2): columns first, rounded by 7 bits and clipped to int16_t, then rows,
// rounded by 20 - bitDepth bits and clipped to int16_t (the standard does not clip here, but what
// is clipped is far beyond the range of samples, and the reconstructed sample is the same).
//   residual       N rows of N; stride in int16_t.
//   coef           N * N scaled coefficients; those at or beyond `columns` or `rows` are 0.
//   bitDepth       8 to 10.
//   columns, rows  1 to N: how much of the block has to be looked at. N is always right.
typedef void (*OVTHEVCInverse)(int16_t *residual, ptrdiff_t stride, const int16_t *coef, int bitDepth,
                               int columns, int rows);

typedef struct OVTHEVCResidualKernels {
  int cpu;  // mask of the sets in use (OVT_CPU_*)

  OVTHEVCForward forward[4];    // by log2Size - 2
  // Of 32x32, but only the 16x16 coefficients of the lowest frequencies; the others become 0.
  OVTHEVCForward forwardLow32;
  OVTHEVCForward forwardDST4x4; // for luma of intra 4x4 blocks (8.6.4.2, trType 1)
  OVTHEVCInverse inverse[4];
  OVTHEVCInverse inverseDST4x4;

  // Transform skip (8.6.4, transform_skip_flag 1; no rotation, no extended precision).
  // Forward: coef = residual << (15 - bitDepth - log2Size); inverse: the same shift back, rounded.
  // log2Size + bitDepth is at most 15. Both for N = 1 << log2Size.
  void (*forwardSkip)(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int log2Size, int bitDepth);
  void (*inverseSkip)(int16_t *residual, ptrdiff_t stride, const int16_t *coef, int log2Size, int bitDepth);

  // Quantisation with flat scaling:
  //   level = sign(coef) * min(32767, (|coef| * f[qP % 6] + (deadZone << (shift - 9))) >> shift),
  //   shift = 29 + qP / 6 - bitDepth - log2Size, f = {26214, 23302, 20560, 18396, 16384, 14564}.
  //   level     N * N levels; may be `coef`.
  //   qP        0 to 51 + 6 * (bitDepth - 8): the quantisation parameter with QpBdOffset (8.6.1).
  //   deadZone  what is added before rounding down, in 512ths of a step: 0 to 511 (256 rounds, about
  //             171 is usual for intra, 85 for inter blocks).
  //   result    what is said about the levels.
  void (*quantise)(int16_t *level, const int16_t *coef, int log2Size, int qP, int bitDepth, int deadZone,
                   OVTHEVCLevels *result);

  // Scaling of levels with flat factors (8.6.3 with m = 16), clipped to int16_t:
  //   coef = (level * 16 * (levelScale[qP % 6] << (qP / 6)) + (1 << (bdShift - 1))) >> bdShift,
  //   bdShift = bitDepth + log2Size - 5. Parameters as in `quantise`; coef may be `level`.
  void (*dequantise)(int16_t *coef, const int16_t *level, int log2Size, int qP, int bitDepth);

  // The levels of a 4x4 group in the order of a scan.
  //   out     16 levels.
  //   level   the group's first level; stride in int16_t (N in a block of levels).
  //   scan    OVT_HEVC_SCAN_*.
  // Returns a bit for each level that is not 0, bit i for out[i].
  uint32_t (*scanGroup)(int16_t out[16], const int16_t *level, ptrdiff_t stride, int scan);

  // What a block of levels has (OVTHEVCLevels), for levels that something else than `quantise`
  // made: -32767 to 32767.
  void (*describe)(const int16_t *level, int log2Size, OVTHEVCLevels *result);

  // Sum of squared differences of two blocks of n coefficients, n a multiple of 16 up to 1024: the
  // distortion in the transform domain. Differences fit int16_t.
  uint64_t (*ssdCoefficients)(const int16_t *a, const int16_t *b, int n);
} OVTHEVCResidualKernels;

// Fills the table with plain C and with what the sets of `mask` do better, as far as this CPU has
// them. Returns the mask of those in use.
int ovt_hevc_residual_kernels_init(OVTHEVCResidualKernels *kernels, int mask);

// Of OVTHEVCLevels.groups: the number of leading columns, and of rows, that can hold a level other
// than 0 (a multiple of 4, 0 for an empty block), as `inverse` takes them.
static inline int ovt_hevc_columns(uint64_t groups) {
  groups |= groups >> 32, groups |= groups >> 16, groups |= groups >> 8;
  const uint32_t row = groups & 0xFF;
  return row == 0 ? 0 : 4 * (32 - __builtin_clz(row));
}
static inline int ovt_hevc_rows(uint64_t groups) {
  return groups == 0 ? 0 : 4 * (8 - __builtin_clzll(groups) / 8);
}

// The residual of every sample of a block whose only coefficient is its first (8.6.4.2; not for
// DST).
//   dc        the scaled coefficient.
//   bitDepth  8 to 10.
static inline int ovt_hevc_dc_residual(int dc, int bitDepth) {
  const int shift = 20 - bitDepth, first = (64 * dc + 64) >> 7;
  return (64 * first + (1 << (shift - 1))) >> shift;
}

static inline void ovt_hevc_forward(const OVTHEVCResidualKernels *k, int log2Size, int16_t *coef,
                                    const int16_t *residual, ptrdiff_t stride, int bitDepth) {
  k->forward[log2Size - 2](coef, residual, stride, bitDepth);
}
static inline void ovt_hevc_inverse(const OVTHEVCResidualKernels *k, int log2Size, int16_t *residual,
                                    ptrdiff_t stride, const int16_t *coef, int bitDepth, int columns, int rows) {
  k->inverse[log2Size - 2](residual, stride, coef, bitDepth, columns, rows);
}

// MARK: - Rows of source pictures

// Rows of samples of 10 bits, which take two bytes each, least significant first, at any address.
//   n      the number of samples; of pairs of samples in rows that are split.
//   shift  6 where the ten bits are the upper ones of sixteen, 0 where they are the lower ones. What
//          is above 1023 then counts as 1023.
void ovt_hevc_row16(uint16_t *dst, const void *src, int n, int shift);
void ovt_hevc_split_row16(uint16_t *first, uint16_t *second, const void *src, int n,
                          int shift);
// The same to 8 bits: rounded, to at most 255.
void ovt_hevc_narrow_row(uint8_t *dst, const void *src, int n, int shift);
void ovt_hevc_narrow_split_row(uint8_t *first, uint8_t *second, const void *src, int n,
                               int shift);
// Samples of 8 bits times four.
void ovt_hevc_widen_row(uint16_t *dst, const uint8_t *src, int n);
void ovt_hevc_widen_split_row(uint16_t *first, uint16_t *second, const uint8_t *src, int n);
// Sum of squared differences of two rows of n samples of 10 bits.
uint64_t ovt_hevc_ssd_row16(const uint16_t *a, const uint16_t *b, int n);

// MARK: - Samples

// Sample adaptive offset: the directions of edge offset (SaoEoClass).
enum {
  OVT_HEVC_SAO_HORIZONTAL = 0,
  OVT_HEVC_SAO_VERTICAL = 1,
  OVT_HEVC_SAO_135 = 2,  // neighbours above left and below right
  OVT_HEVC_SAO_45 = 3,   // neighbours above right and below left
};

// Squares for which `satd8` has an entry.
enum { OVT_HEVC_SQUARE_8, OVT_HEVC_SQUARE_16, OVT_HEVC_SQUARE_32, OVT_HEVC_SQUARE_64, OVT_HEVC_SQUARES };

// The Swift name of a function as a static member of the table's type.
#define OVT_HEVC_MEMBER(NAME) __attribute__((swift_name("OVTHEVCKernels" OVT_HEVC_DEPTH_NAME "." NAME)))

#define OVT_HEVC_SAMPLE uint8_t
#define OVT_HEVC_NAMED(NAME) NAME##8
#define OVT_HEVC_DEPTH_NAME "8"
#include "hevc_sample_kernels.h"
#undef OVT_HEVC_SAMPLE
#undef OVT_HEVC_NAMED
#undef OVT_HEVC_DEPTH_NAME
#define OVT_HEVC_SAMPLE uint16_t
#define OVT_HEVC_NAMED(NAME) NAME##16
#define OVT_HEVC_DEPTH_NAME "16"
#include "hevc_sample_kernels.h"
#undef OVT_HEVC_SAMPLE
#undef OVT_HEVC_NAMED
#undef OVT_HEVC_DEPTH_NAME

#endif
