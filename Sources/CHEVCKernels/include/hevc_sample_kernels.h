// SPDX-License-Identifier: Apache-2.0
// The kernels that read or write samples. `hevc_kernels.h` includes this once for each type of
// samples: OVT_HEVC_SAMPLE is uint8_t (8 bits) or uint16_t (10 bits), and every name gets 8 or 16
// at its end: OVTHEVCKernels8, OVTHEVCKernels16. BitDepth below is 8 or 10.

// Intra prediction reads neighbours from `edge` (p[x][y] of 8.4.4.2), for a block of N = 1 <<
// log2Size: edge[0] is p[-1][-1], edge[1 + x] is p[x][-1] for x = 0 to 2 N - 1 (above, above
// right), and edge[-1 - y] is p[-1][y] for y = 0 to 2 N - 1 (left, below left); all are present, by
// the substitution of 8.4.4.2.2 where they have to be. 32 bytes on either side of them may be read.
typedef void (*OVT_HEVC_NAMED(OVTHEVCPredict))(OVT_HEVC_SAMPLE *dst, ptrdiff_t stride, const OVT_HEVC_SAMPLE *edge,
                                               int log2Size);

typedef int (*OVT_HEVC_NAMED(OVTHEVCCompare))(const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                                              const OVT_HEVC_SAMPLE *ref, ptrdiff_t refStride);
typedef void (*OVT_HEVC_NAMED(OVTHEVCCompareX4))(const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                                                 const OVT_HEVC_SAMPLE *ref0, const OVT_HEVC_SAMPLE *ref1,
                                                 const OVT_HEVC_SAMPLE *ref2, const OVT_HEVC_SAMPLE *ref3,
                                                 ptrdiff_t refStride, int out[4]);

// Interpolation to samples, and to intermediate values.
//   dst           width x height samples, or intermediate values; dstStride in elements.
//   src           the reference sample at the whole part of the vector (xInt, yInt); srcStride in samples.
//   width         luma: 4 to 64, a multiple of 4; chroma: 2 to 64, a multiple of 2.
//   height        1 to 64.
//   xFrac, yFrac  luma: quarters of a sample, 0 to 3; chroma: eighths, 0 to 7.
// Rows from 3 above to 4 below the block are read, and in each from 3 samples left of it to 4 right
// of it and up to 32 bytes further, whatever they hold (luma; chroma 1 above and left, 2 below and
// right, and 32 bytes).
typedef void (*OVT_HEVC_NAMED(OVTHEVCInterpolate))(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
                                                   const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, int width,
                                                   int height, int xFrac, int yFrac);
typedef void (*OVT_HEVC_NAMED(OVTHEVCInterpolateHigh))(int16_t *dst, ptrdiff_t dstStride,
                                                       const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, int width,
                                                       int height, int xFrac, int yFrac);

// Deblocking of an edge. Vertical edges lie between columns (pixels[-1] and pixels[0]), horizontal
// ones between rows (pixels[-stride] and pixels[0]); lines run across the edge. A luma edge has 8
// lines, of which the first four and the last four have each a tc; a chroma edge has 4 lines, in
// two halves of two (8 luma samples of an edge in 4:2:0). Samples of all lines may be written with
// what they hold.
//   beta  luma: β' of table 8-12 * (1 << (BitDepth - 8)).
//   tc    by half: tC' of table 8-12 * (1 << (BitDepth - 8)); 0 (as where bS is 0) filters nothing.
typedef void (*OVT_HEVC_NAMED(OVTHEVCDeblockLuma))(OVT_HEVC_SAMPLE *pixels, ptrdiff_t stride, int beta,
                                                   const int16_t tc[2]);
typedef void (*OVT_HEVC_NAMED(OVTHEVCDeblockChroma))(OVT_HEVC_SAMPLE *pixels, ptrdiff_t stride,
                                                     const int16_t tc[2]);

typedef struct OVT_HEVC_NAMED(OVTHEVCKernels) {
  OVTHEVCResidualKernels residual;  // the same for both depths

  // MARK: Comparison, by OVT_* shape, as in OVTVideoKernels, which has more for 8 bits

  // Any alignment; nothing beside the blocks is read.
  OVT_HEVC_NAMED(OVTHEVCCompare) sad[OVT_BLOCK_SHAPES];
  OVT_HEVC_NAMED(OVTHEVCCompareX4) sadX4[OVT_BLOCK_SHAPES];
  // sum(|H d H|) >> 1 over the 4x4 blocks of the shape.
  OVT_HEVC_NAMED(OVTHEVCCompare) satd[OVT_BLOCK_SHAPES];
  // To be read as uint32_t: 64x64 samples of 10 bits need all of its bits.
  OVT_HEVC_NAMED(OVTHEVCCompare) ssd[OVT_BLOCK_SHAPES];
  // By OVT_HEVC_SQUARE_*: the sum of (sum(|H d H|) + 2) >> 2 over the 8x8 blocks of a square, with
  // the Hadamard matrix of 8 rows.
  OVT_HEVC_NAMED(OVTHEVCCompare) satd8[OVT_HEVC_SQUARES];

  // (a + b + 1) >> 1 of two blocks in rows `stride` apart; widths 8, 16, 32, any alignment.
  void (*mean[3])(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const OVT_HEVC_SAMPLE *a, const OVT_HEVC_SAMPLE *b,
                  ptrdiff_t stride, int height);

  // MARK: Residuals. Width and height are multiples of 4 up to 64.
  // out = src - pred.
  void (*difference)(int16_t *out, ptrdiff_t outStride, const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                     const OVT_HEVC_SAMPLE *pred, ptrdiff_t predStride, int width, int height);
  // dst = Clip1(pred + residual) (8.6.7); dst may be pred with the same stride.
  void (*reconstruct)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const OVT_HEVC_SAMPLE *pred, ptrdiff_t predStride,
                      const int16_t *residual, ptrdiff_t residualStride, int width, int height);
  // The same with one residual for all samples, -32768 to 32767 (ovt_hevc_dc_residual).
  void (*reconstructDC)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const OVT_HEVC_SAMPLE *pred, ptrdiff_t predStride,
                        int residual, int width, int height);

  // MARK: Intra prediction (8.4.4.2), log2Size 2 to 5.
  // Smoothing of the neighbours (8.4.4.2.3): filtered[-2 N] to filtered[2 N], laid out as `edge`,
  // another buffer. The caller has decided that they are filtered (filterFlag). [1 2 1] / 4;
  // bilinear where `strong` is 1 (strong_intra_smoothing_enabled_flag, cIdx 0, N = 32) and both
  // sides are nearly straight (biIntFlag, which is found here).
  void (*smoothEdge)(OVT_HEVC_SAMPLE *filtered, const OVT_HEVC_SAMPLE *edge, int log2Size, int strong);
  OVT_HEVC_NAMED(OVTHEVCPredict) intraPlanar;  // 8.4.4.2.4
  // DC (8.4.4.2.5), modes 2 to 17 and 18 to 34 (8.4.4.2.6). filterEdges 1: the samples along the
  // edges are filtered, as the standard has it for luma (cIdx 0) and N < 32; it matters for DC, 10
  // and 26.
  void (*intraDC)(OVT_HEVC_SAMPLE *dst, ptrdiff_t stride, const OVT_HEVC_SAMPLE *edge, int log2Size,
                  int filterEdges);
  void (*intraHorizontal)(OVT_HEVC_SAMPLE *dst, ptrdiff_t stride, const OVT_HEVC_SAMPLE *edge, int log2Size,
                          int mode, int filterEdges);
  void (*intraVertical)(OVT_HEVC_SAMPLE *dst, ptrdiff_t stride, const OVT_HEVC_SAMPLE *edge, int log2Size,
                        int mode, int filterEdges);
  // dst[x * dstStride + y] = src[y * srcStride + x], log2Size 3 to 5. What a mode m from 2 to 17
  // predicts is what mode 36 - m predicts from the neighbours in reverse order (edge[-i] for
  // edge[i]), transposed.
  void (*transpose)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                    int log2Size);

  // MARK: Inter prediction (8.5.3.3).
  // predSamplesLX of 8.5.3.3.3, less 8192: so every value fits int16_t. Stride in int16_t.
  OVT_HEVC_NAMED(OVTHEVCInterpolateHigh) lumaHigh, chromaHigh;
  // The same, rounded to samples as for one reference without weights (8.5.3.3.4.2).
  OVT_HEVC_NAMED(OVTHEVCInterpolate) luma, chroma;
  // Luma at the three half-sample positions, as `luma` gives it for xFrac and yFrac 2, 0; 0, 2;
  // 2, 2 in planes[0], [1], [2]. All rows are `stride` apart; width is a multiple of 4, height 1 to
  // 64.
  void (*lumaHalves)(OVT_HEVC_SAMPLE *const planes[3], const OVT_HEVC_SAMPLE *src, ptrdiff_t stride, int width,
                     int height);
  // From intermediate values (less 8192, rows `stride` apart); width and height as for
  // interpolation. One reference; the average of two references (8.5.3.3.4.2).
  void (*round)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const int16_t *a, ptrdiff_t stride, int width, int height);
  void (*average)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const int16_t *a, const int16_t *b, ptrdiff_t stride,
                  int width, int height);
  // Explicit weights (8.5.3.3.4.3): log2WD is the denominator's logarithm (0 to 7) + 14 - BitDepth,
  // w -128 to 255, o the offset in samples of BitDepth.
  void (*weigh)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const int16_t *a, ptrdiff_t stride, int width, int height,
                int log2WD, int w, int o);
  void (*weighBoth)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const int16_t *a, const int16_t *b, ptrdiff_t stride,
                    int width, int height, int log2WD, int w0, int w1, int o0, int o1);

  // MARK: Deblocking (8.7.2.5): decisions and filters.
  OVT_HEVC_NAMED(OVTHEVCDeblockLuma) deblockLumaVertical, deblockLumaHorizontal;
  OVT_HEVC_NAMED(OVTHEVCDeblockChroma) deblockChromaVertical, deblockChromaHorizontal;

  // MARK: Sample adaptive offset (8.7.3). Any width and height from 1 to 64. `rec` is the deblocked
  // picture, not dst; for edges the samples around the block are read too, so that the caller
  // leaves out rows and columns at the borders of the picture. 32 bytes right of the blocks (and of
  // the rows above and below that are read) may be read. Offsets are scaled (SaoOffsetVal), -31 to
  // 31. Edge: offsets for edgeIdx 1, 2, 3, 4 (local minimum, concave, convex, maximum).
  void (*saoEdge)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const OVT_HEVC_SAMPLE *rec, ptrdiff_t recStride,
                  int width, int height, int direction, const int8_t offsets[4]);
  // Band: offsets for the four bands from `position` on (sao_band_position, 0 to 31).
  void (*saoBand)(OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride, const OVT_HEVC_SAMPLE *rec, ptrdiff_t recStride,
                  int width, int height, int position, const int8_t offsets[4]);
  // Statistics for the choice: adds to sums[i] src - rec of the samples of category i, and their
  // number to counts[i]. Edge: i is edgeIdx - 1. Band: i is the band, sample >> (BitDepth - 5).
  void (*saoEdgeStatistics)(int32_t sums[4], int32_t counts[4], const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                            const OVT_HEVC_SAMPLE *rec, ptrdiff_t recStride, int width, int height, int direction);
  void (*saoBandStatistics)(int32_t sums[32], int32_t counts[32], const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                            const OVT_HEVC_SAMPLE *rec, ptrdiff_t recStride, int width, int height);
} OVT_HEVC_NAMED(OVTHEVCKernels);

// Fills the table, with `residual`, as ovt_hevc_residual_kernels_init does. The entries of the
// 8-bit table that CVideoKernels has too (sad, sadX4, satd, ssd) are its own.
OVT_HEVC_MEMBER("fill(_:_:)")
int OVT_HEVC_NAMED(ovt_hevc_kernels_init)(OVT_HEVC_NAMED(OVTHEVCKernels) *kernels, int mask);

// Table look-ups that Swift can inline, as static functions of the table's type: so one protocol in
// Swift has both depths. The parameters are those of the entries.
OVT_HEVC_MEMBER("residual(_:)")
static inline const OVTHEVCResidualKernels *OVT_HEVC_NAMED(ovt_hevc_residual)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k) {
  return &k->residual;
}
OVT_HEVC_MEMBER("sad(_:_:_:_:_:_:)")
static inline int OVT_HEVC_NAMED(ovt_hevc_sad)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int shape,
                                               const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                                               const OVT_HEVC_SAMPLE *ref, ptrdiff_t refStride) {
  return k->sad[shape](src, srcStride, ref, refStride);
}
OVT_HEVC_MEMBER("sadX4(_:_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_sad_x4)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int shape, const OVT_HEVC_SAMPLE *src,
    ptrdiff_t srcStride, const OVT_HEVC_SAMPLE *ref0, const OVT_HEVC_SAMPLE *ref1,
    const OVT_HEVC_SAMPLE *ref2, const OVT_HEVC_SAMPLE *ref3, ptrdiff_t refStride,
    int32_t *out) {
  k->sadX4[shape](src, srcStride, ref0, ref1, ref2, ref3, refStride, out);
}
OVT_HEVC_MEMBER("satd(_:_:_:_:_:_:)")
static inline int OVT_HEVC_NAMED(ovt_hevc_satd)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int shape,
                                                const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                                                const OVT_HEVC_SAMPLE *ref, ptrdiff_t refStride) {
  return k->satd[shape](src, srcStride, ref, refStride);
}
OVT_HEVC_MEMBER("ssd(_:_:_:_:_:_:)")
static inline uint32_t OVT_HEVC_NAMED(ovt_hevc_ssd)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int shape,
                                                    const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                                                    const OVT_HEVC_SAMPLE *ref, ptrdiff_t refStride) {
  return (uint32_t)k->ssd[shape](src, srcStride, ref, refStride);
}
// log2Size 3 to 6.
OVT_HEVC_MEMBER("satd8(_:_:_:_:_:_:)")
static inline int OVT_HEVC_NAMED(ovt_hevc_satd8)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int log2Size,
                                                 const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride,
                                                 const OVT_HEVC_SAMPLE *ref, ptrdiff_t refStride) {
  return k->satd8[log2Size - 3](src, srcStride, ref, refStride);
}
OVT_HEVC_MEMBER("mean(_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_mean)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k,
                                                 OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
                                                 const OVT_HEVC_SAMPLE *a, const OVT_HEVC_SAMPLE *b,
                                                 ptrdiff_t stride, int width, int height) {
  k->mean[width == 32 ? 2 : width == 16](dst, dstStride, a, b, stride, height);
}
OVT_HEVC_MEMBER("difference(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_difference)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int16_t *out, ptrdiff_t outStride,
    const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, const OVT_HEVC_SAMPLE *pred,
    ptrdiff_t predStride, int width, int height) {
  k->difference(out, outStride, src, srcStride, pred, predStride, width, height);
}
OVT_HEVC_MEMBER("reconstruct(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_reconstruct)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
    const OVT_HEVC_SAMPLE *pred, ptrdiff_t predStride, const int16_t *residual,
    ptrdiff_t residualStride, int width, int height) {
  k->reconstruct(dst, dstStride, pred, predStride, residual, residualStride, width, height);
}
OVT_HEVC_MEMBER("reconstructDC(_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_reconstruct_dc)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
    const OVT_HEVC_SAMPLE *pred, ptrdiff_t predStride, int residual, int width, int height) {
  k->reconstructDC(dst, dstStride, pred, predStride, residual, width, height);
}
OVT_HEVC_MEMBER("smoothEdge(_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_smooth_edge)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *filtered,
    const OVT_HEVC_SAMPLE *edge, int log2Size, int strong) {
  k->smoothEdge(filtered, edge, log2Size, strong);
}
// Any mode: 0 planar, 1 DC, 2 to 34.
OVT_HEVC_MEMBER("intra(_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_intra)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int mode,
                                                  OVT_HEVC_SAMPLE *dst, ptrdiff_t stride,
                                                  const OVT_HEVC_SAMPLE *edge, int log2Size, int filterEdges) {
  if (mode == 0) k->intraPlanar(dst, stride, edge, log2Size);
  else if (mode == 1) k->intraDC(dst, stride, edge, log2Size, filterEdges);
  else if (mode < 18) k->intraHorizontal(dst, stride, edge, log2Size, mode, filterEdges);
  else k->intraVertical(dst, stride, edge, log2Size, mode, filterEdges);
}
OVT_HEVC_MEMBER("transpose(_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_transpose)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *dst,
                                                      ptrdiff_t dstStride, const OVT_HEVC_SAMPLE *src,
                                                      ptrdiff_t srcStride, int log2Size) {
  k->transpose(dst, dstStride, src, srcStride, log2Size);
}
OVT_HEVC_MEMBER("luma(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_luma)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k,
                                                 OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
                                                 const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, int width,
                                                 int height, int xFrac, int yFrac) {
  k->luma(dst, dstStride, src, srcStride, width, height, xFrac, yFrac);
}
OVT_HEVC_MEMBER("chroma(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_chroma)(const OVT_HEVC_NAMED(OVTHEVCKernels) *k,
                                                   OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
                                                   const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, int width,
                                                   int height, int xFrac, int yFrac) {
  k->chroma(dst, dstStride, src, srcStride, width, height, xFrac, yFrac);
}
OVT_HEVC_MEMBER("lumaHalves(_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_luma_halves)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *horizontal, OVT_HEVC_SAMPLE *vertical,
    OVT_HEVC_SAMPLE *both, const OVT_HEVC_SAMPLE *src, ptrdiff_t stride, int width, int height) {
  OVT_HEVC_SAMPLE *const planes[3] = {horizontal, vertical, both};
  k->lumaHalves(planes, src, stride, width, height);
}
OVT_HEVC_MEMBER("lumaHigh(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_luma_high)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int16_t *dst, ptrdiff_t dstStride,
    const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, int width, int height, int xFrac, int yFrac) {
  k->lumaHigh(dst, dstStride, src, srcStride, width, height, xFrac, yFrac);
}
OVT_HEVC_MEMBER("chromaHigh(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_chroma_high)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int16_t *dst, ptrdiff_t dstStride,
    const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, int width, int height, int xFrac, int yFrac) {
  k->chromaHigh(dst, dstStride, src, srcStride, width, height, xFrac, yFrac);
}
OVT_HEVC_MEMBER("average(_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_average)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
    const int16_t *a, const int16_t *b, ptrdiff_t stride, int width, int height) {
  k->average(dst, dstStride, a, b, stride, width, height);
}
OVT_HEVC_MEMBER("weigh(_:_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_weigh)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
    const int16_t *a, ptrdiff_t stride, int width, int height, int log2WD, int w, int o) {
  k->weigh(dst, dstStride, a, stride, width, height, log2WD, w, o);
}
OVT_HEVC_MEMBER("weighBoth(_:_:_:_:_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_weigh_both)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
    const int16_t *a, const int16_t *b, ptrdiff_t stride, int width, int height, int log2WD, int w0,
    int w1, int o0, int o1) {
  k->weighBoth(dst, dstStride, a, b, stride, width, height, log2WD, w0, w1, o0, o1);
}
// Edges between columns (isVertical 1) and between rows.
OVT_HEVC_MEMBER("deblockLuma(_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_deblock_luma)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int isVertical, OVT_HEVC_SAMPLE *pixels,
    ptrdiff_t stride, int beta, const int16_t *tc) {
  if (isVertical) k->deblockLumaVertical(pixels, stride, beta, tc);
  else k->deblockLumaHorizontal(pixels, stride, beta, tc);
}
OVT_HEVC_MEMBER("deblockChroma(_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_deblock_chroma)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int isVertical, OVT_HEVC_SAMPLE *pixels,
    ptrdiff_t stride, const int16_t *tc) {
  if (isVertical) k->deblockChromaVertical(pixels, stride, tc);
  else k->deblockChromaHorizontal(pixels, stride, tc);
}
OVT_HEVC_MEMBER("saoEdge(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_sao_edge)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
    const OVT_HEVC_SAMPLE *rec, ptrdiff_t recStride, int width, int height, int direction,
    const int8_t *offsets) {
  k->saoEdge(dst, dstStride, rec, recStride, width, height, direction, offsets);
}
OVT_HEVC_MEMBER("saoBand(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_sao_band)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, OVT_HEVC_SAMPLE *dst, ptrdiff_t dstStride,
    const OVT_HEVC_SAMPLE *rec, ptrdiff_t recStride, int width, int height, int position,
    const int8_t *offsets) {
  k->saoBand(dst, dstStride, rec, recStride, width, height, position, offsets);
}
OVT_HEVC_MEMBER("saoEdgeStatistics(_:_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_sao_edge_statistics)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int32_t *sums, int32_t *counts,
    const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, const OVT_HEVC_SAMPLE *rec,
    ptrdiff_t recStride, int width, int height, int direction) {
  k->saoEdgeStatistics(sums, counts, src, srcStride, rec, recStride, width, height, direction);
}
OVT_HEVC_MEMBER("saoBandStatistics(_:_:_:_:_:_:_:_:_:)")
static inline void OVT_HEVC_NAMED(ovt_hevc_sao_band_statistics)(
    const OVT_HEVC_NAMED(OVTHEVCKernels) *k, int32_t *sums, int32_t *counts,
    const OVT_HEVC_SAMPLE *src, ptrdiff_t srcStride, const OVT_HEVC_SAMPLE *rec,
    ptrdiff_t recStride, int width, int height) {
  k->saoBandStatistics(sums, counts, src, srcStride, rec, recStride, width, height);
}
