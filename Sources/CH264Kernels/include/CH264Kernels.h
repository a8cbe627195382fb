// SPDX-License-Identifier: Apache-2.0
// Leaf kernels of the H.264 engine: sample arithmetic with no decisions. What other codecs need too
// (comparison, copies, the choice of instruction sets) is in CVideoKernels, whose conventions hold
// here.
//
// Conventions
// - All samples are 8 bit. Strides are in bytes. Chroma is NV12: Cb and Cr interleaved, so an
//   8x8 chroma block is 8 rows of 16 bytes.
// - `src` is the source macroblock (or a part of it) in the macroblock cache: row stride 16,
//   16-byte aligned rows for luma 16x16 and for NV12 chroma (8 rows of 16 bytes).
// - `ref`, `pred` and `dst` point into pictures or scratch with the stride given.
// - A 4x4 coefficient block is 16 int16_t in raster order (row * 4 + column); an 8x8 block 64.
//   Blocks of a macroblock follow one another in luma4x4BlkIdx order (6.4.3), 8x8 in raster order.
// - Coefficient buffers are 32-byte aligned.
// - Clauses named are those of ITU-T H.264.

#ifndef CH264KERNELS_H
#define CH264KERNELS_H

#include <CVideoKernels.h>
#include <stddef.h>
#include <stdint.h>

#include "EngineTables.h"
#include "H264Tables.h"

// Reads the neighbours from the picture around `dst` (row above, column to the left) and writes
// there.
typedef void (*OVTPredictInPlace)(uint8_t *dst, ptrdiff_t stride);
// Reads the neighbours from `edge`: edge[0] is the sample above left, edge[1...] the row above and
// above right, edge[-1], edge[-2], ... the column to the left from top to bottom. The memory from
// edge[-8] to edge[23] may be read, whatever it holds: an edge lives in a buffer of 32 bytes or
// more.
typedef void (*OVTPredictFromEdge)(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge);

// The parameters for deblocking a macroblock's edges in one direction (8.7.2): edge 0 is the border
// to the neighbour, edges 1, 2, 3 lie 4, 8, 12 luma samples inside. Chroma has edges 0 and 2
// (4:2:0).
typedef struct OVTEdges {
  // A byte for each quarter of an edge, the lowest first: bS 0 to 3; the border may have 4 in all
  // four.
  uint32_t bS[4];
  // By [0] for the border, [1] for the edges inside. Nothing is filtered where alpha or beta is 0.
  uint8_t alpha[2], beta[2];
  // A row of table 8-17: tC0 for bS 1, 2, 3 in bytes 1, 2, 3 (byte 0 is not used).
  uint8_t tC0[2][4];
} OVTEdges;

typedef struct OVTKernels {
  OVTVideoKernels video;  // what codecs share, with the mask of the sets in use

  // Motion compensation (8.4.2.2).
  // NV12 chroma, eighth-sample (8.4.2.2.2): width in sample pairs by index: 0 = 8, 1 = 4, 2 = 2.
  void (*chroma[3])(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,
                    int xFrac, int yFrac, int height);
  // Half-sample planes (8.4.2.2.1): for `width` x `height` samples from `src` computes b (half a
  // sample right), h (half down) and j (both; from unrounded intermediates), each with 6 taps.
  // Reads 2 samples left / above and 3 right / below of the area. All four planes share the stride.
  // `scratch` holds width + 64 int16_t, 32-byte aligned. May write up to 31 samples beyond width in
  // each row (the planes are padded) but never reads beyond width + 3 + 31.
  void (*halfSample)(uint8_t *b, uint8_t *h, uint8_t *j, const uint8_t *src, ptrdiff_t stride, int width,
                     int height, int16_t *scratch);

  // Residual transform (8.5): difference of src (stride 16) and pred, transformed.
  void (*forward4x4)(int16_t coef[16], const uint8_t *src, const uint8_t *pred, ptrdiff_t predStride);
  void (*forward4x4x16)(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t predStride);
  void (*forward8x8)(int16_t coef[64], const uint8_t *src, const uint8_t *pred, ptrdiff_t predStride);
  void (*forward8x8x4)(int16_t coef[256], const uint8_t *src, const uint8_t *pred, ptrdiff_t predStride);
  // NV12: coef[0..63] are the four 4x4 blocks of Cb (raster order), coef[64..127] those of Cr.
  void (*forwardNV12)(int16_t coef[128], const uint8_t *src, const uint8_t *pred, ptrdiff_t predStride);
  // Reconstruction: dst += inverse transform, clipped (8.5.12, 8.5.13). Clears nothing. As 8.5
  // demands, no intermediate value may leave the range of int16_t.
  void (*inverse4x4)(uint8_t *dst, ptrdiff_t stride, const int16_t coef[16]);
  void (*inverse4x4DC)(uint8_t *dst, ptrdiff_t stride, int dc);  // only coef[0] is not zero
  void (*inverse4x4x4)(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]);  // an 8x8 area
  void (*inverse4x4x16)(uint8_t *dst, ptrdiff_t stride, const int16_t coef[256]);
  void (*inverse8x8)(uint8_t *dst, ptrdiff_t stride, const int16_t coef[64]);
  void (*inverseNV12)(uint8_t *dst, ptrdiff_t stride, const int16_t coef[128]);
  // Hadamard of the 16 DC coefficients of an Intra_16x16 macroblock, raster order of 4x4 blocks:
  // forward: (H x H + 1) >> 1; inverse: H x H, no rounding.
  void (*hadamard4x4Forward)(int16_t dc[16]);
  void (*hadamard4x4Inverse)(int16_t dc[16]);

  // Quantisation in place: level = ((|c| + bias) * mf) >> 16 with c's sign. |c| + bias < 65536.
  // Returns 1 if any level is not zero, else 0 (for the x4: a bit for each 4x4 block).
  int (*quant4x4)(int16_t coef[16], const uint16_t mf[16], const uint16_t bias[16]);
  int (*quant4x4x4)(int16_t coef[64], const uint16_t mf[16], const uint16_t bias[16]);
  int (*quant8x8)(int16_t coef[64], const uint16_t mf[64], const uint16_t bias[64]);
  // Whether a macroblock's residual, 4x4 transformed and quantised so, leaves no level at all. `mf`
  // and `bias` are symmetric (row, column). NV12: mfDC and biasDC for the Hadamard-transformed DC
  // of Cb and of Cr (8.5.11.1).
  int (*isEmpty16x16)(const uint8_t *src, const uint8_t *pred, ptrdiff_t predStride, const uint16_t mf[16],
                      const uint16_t bias[16]);
  int (*isEmptyNV12)(const uint8_t *src, const uint8_t *pred, ptrdiff_t predStride, const uint16_t mf[16],
                     const uint16_t bias[16], int mfDC, int biasDC);
  // The same multiplier for every coefficient (DC blocks): n = 4 (Chroma DC) or 16 (Intra_16x16
  // DC).
  int (*quantDC)(int16_t *coef, int n, int mf, int bias);
  // Scaling in place with the flat matrix: c * scale[i] (4x4; scale holds normAdjust << (qP / 6));
  // 8x8: (c * scale[i] + (1 << (shift - 1))) >> shift when shift > 0, else c * scale[i].
  // A 4x4 product keeps its low 16 bits, an 8x8 result is clipped to int16_t.
  void (*scale4x4)(int16_t coef[16], const int16_t scale[16]);
  void (*scale4x4x4)(int16_t coef[64], const int16_t scale[16]);
  void (*scale8x8)(int16_t coef[64], const int16_t scale[64], int shift);
  // Zig-zag scan (8.5.6, 8.5.7; frame scan): raster block to scan order.
  void (*scan4x4)(int16_t level[16], const int16_t coef[16]);
  void (*scan8x8)(int16_t level[64], const int16_t coef[64]);
  // 8x8 levels in scan order dealt to four 4x4 lists for CAVLC: out[16 * i + k] = level[4 * k + i].
  void (*interleave8x8)(int16_t out[64], const int16_t level[64]);

  // Intra prediction (8.3). Intra_16x16: 0 vertical, 1 horizontal, 2 DC, 3 plane, 4 DC left only,
  // 5 DC top only, 6 DC 128. Chroma NV12: 0 DC, 1 horizontal, 2 vertical, 3 plane, 4 DC left only,
  // 5 DC top only, 6 DC 128. Intra_4x4 and Intra_8x8: modes 0 to 8 of the standard, 9 DC left only,
  // 10 DC top only, 11 DC 128.
  OVTPredictInPlace intra16x16[7];
  OVTPredictInPlace intraChroma[7];
  OVTPredictFromEdge intra4x4[12];
  OVTPredictFromEdge intra8x8[12];  // `edge` already filtered
  // Reference sample filtering for Intra_8x8 (8.3.2.2.1): edge layout as above with 16 samples
  // above (missing above-right ones already replaced by the caller) and 8 to the left. `available`:
  // bit 0 left, bit 1 top, bit 2 top left. `filtered` and `edge` are two buffers; samples that are
  // not available have no influence, and `filtered` holds nothing of use in their places.
  void (*filterEdge8x8)(uint8_t *filtered, const uint8_t *edge, int available);

  // Deblocking (8.7) of all edges of a macroblock in one direction, in the order of the standard.
  // Vertical edges are filtered along rows (samples left and right of an edge), horizontal ones
  // along columns. Luma edges are 16 samples long, NV12 chroma edges 8 pairs: what may differ for
  // Cb and Cr differs only through chroma_qp_index_offset, which this encoder keeps equal.
  void (*deblockLumaVerticalEdges)(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges);
  void (*deblockLumaHorizontalEdges)(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges);
  void (*deblockChromaVerticalEdges)(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges);
  void (*deblockChromaHorizontalEdges)(uint8_t *pixels, ptrdiff_t stride, const OVTEdges *edges);
} OVTKernels;

// Fills the table with plain C and with what the sets of `mask` do better, as far as this CPU has
// them. Returns the mask of those in use.
int ovt_kernels_init(OVTKernels *kernels, int mask);

// The part of a table that codecs share; it lives as long as the table.
static inline const OVTVideoKernels *ovt_video_kernels(const OVTKernels *k) { return &k->video; }

// Table look-ups that Swift can inline. Those that compare take the source from the macroblock
// cache, whose rows are 16 bytes apart.
enum { OVT_CACHE_STRIDE = 16 };
static inline int ovt_sad(const OVTKernels *k, int shape, const uint8_t *src, const uint8_t *ref, ptrdiff_t stride) {
  return k->video.sad[shape](src, OVT_CACHE_STRIDE, ref, stride);
}
static inline void ovt_sad_x4(const OVTKernels *k, int shape, const uint8_t *src, const uint8_t *r0,
                              const uint8_t *r1, const uint8_t *r2, const uint8_t *r3, ptrdiff_t stride, int32_t *out) {
  k->video.sadX4[shape](src, OVT_CACHE_STRIDE, r0, r1, r2, r3, stride, out);
}
static inline int ovt_satd(const OVTKernels *k, int shape, const uint8_t *src, const uint8_t *ref, ptrdiff_t stride) {
  return k->video.satd[shape](src, OVT_CACHE_STRIDE, ref, stride);
}
static inline int ovt_ssd(const OVTKernels *k, int shape, const uint8_t *src, const uint8_t *ref, ptrdiff_t stride) {
  return k->video.ssd[shape](src, OVT_CACHE_STRIDE, ref, stride);
}
// Against the average of two references (16x16): quarter-sample positions (8.4.2.2.1).
static inline int ovt_sad_of_average(const OVTKernels *k, const uint8_t *src, const uint8_t *a, const uint8_t *b,
                                     ptrdiff_t stride) {
  return k->video.sadOfAverage(src, OVT_CACHE_STRIDE, a, b, stride);
}
static inline int ovt_satd_of_average(const OVTKernels *k, const uint8_t *src, const uint8_t *a, const uint8_t *b,
                                      ptrdiff_t stride) {
  return k->video.satdOfAverage(src, OVT_CACHE_STRIDE, a, b, stride);
}
static inline void ovt_ssd_nv12(const OVTKernels *k, const uint8_t *src, const uint8_t *ref, ptrdiff_t stride,
                                int32_t *out) {
  k->video.ssdNV12(src, OVT_CACHE_STRIDE, ref, stride, out);
}
static inline int ovt_satd_nv12(const OVTKernels *k, const uint8_t *src, const uint8_t *ref, ptrdiff_t stride) {
  return k->video.satdNV12(src, OVT_CACHE_STRIDE, ref, stride);
}
// Weighted prediction (8.4.2.3.2) in place: clip(((s w + 2^(shift - 1)) >> shift) + o), shift
// 1...7. The second one is for rows of `width` bytes of NV12, with a weight and an offset for Cb
// and for Cr.
void ovt_weight(uint8_t *p, ptrdiff_t stride, int width, int height, int shift, int w, int o);
void ovt_weight_nv12(uint8_t *p, ptrdiff_t stride, int width, int height, int shift, int w0, int o0, int w1, int o1);
// Two predictions weighted by 64ths (8.4.2.3.2, implicit weights): clip((a w0 + b w1 + 32) >> 6),
// w0 + w1 = 64.
void ovt_weigh_both(uint8_t *restrict dst, ptrdiff_t dstStride, const uint8_t *restrict a, const uint8_t *restrict b,
                    ptrdiff_t srcStride, int width, int height, int w0, int w1);
// The same with explicit weights and the rounded mean of both offsets, logWD = shift 0...7:
// clip(((a w0 + b w1 + 2^shift) >> (shift + 1)) + o). The second one is for rows of `width` bytes
// of NV12.
typedef struct {
  int w0, w1, o;
} OVTPairWeight;
void ovt_weigh_pair(uint8_t *restrict dst, ptrdiff_t dstStride, const uint8_t *restrict a, const uint8_t *restrict b,
                    ptrdiff_t srcStride, int width, int height, int shift, OVTPairWeight weight);
void ovt_weigh_pair_nv12(uint8_t *restrict dst, ptrdiff_t dstStride, const uint8_t *restrict a,
                         const uint8_t *restrict b, ptrdiff_t srcStride, int width, int height, int shift,
                         OVTPairWeight cb, OVTPairWeight cr);
static inline void ovt_copy(const OVTKernels *k, int width, uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src,
                            ptrdiff_t srcStride, int height) {
  k->video.copy[width](dst, dstStride, src, srcStride, height);
}
static inline void ovt_average(const OVTKernels *k, int width, uint8_t *dst, ptrdiff_t dstStride, const uint8_t *a,
                               const uint8_t *b, ptrdiff_t srcStride, int height) {
  k->video.average[width](dst, dstStride, a, b, srcStride, height);
}
static inline void ovt_chroma(const OVTKernels *k, int width, uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src,
                              ptrdiff_t srcStride, int xFrac, int yFrac, int height) {
  k->chroma[width](dst, dstStride, src, srcStride, xFrac, yFrac, height);
}
static inline void ovt_intra16x16(const OVTKernels *k, int mode, uint8_t *dst, ptrdiff_t stride) {
  k->intra16x16[mode](dst, stride);
}
static inline void ovt_intra_chroma(const OVTKernels *k, int mode, uint8_t *dst, ptrdiff_t stride) {
  k->intraChroma[mode](dst, stride);
}
static inline void ovt_intra4x4(const OVTKernels *k, int mode, uint8_t *dst, ptrdiff_t stride, const uint8_t *edge) {
  k->intra4x4[mode](dst, stride, edge);
}
static inline void ovt_intra8x8(const OVTKernels *k, int mode, uint8_t *dst, ptrdiff_t stride, const uint8_t *edge) {
  k->intra8x8[mode](dst, stride, edge);
}

#endif
