// SPDX-License-Identifier: Apache-2.0
// Residuals and reconstruction (8.6.7) in the vectors that are included before.

SIMD void difference(int16_t *out, ptrdiff_t outStride, const Sample *src, ptrdiff_t srcStride, const Sample *pred,
                     ptrdiff_t predStride, int width, int height) {
  EACH_STRIP(width)
    for (int y = 0; y < height; y++)
      vstorePart(out + y * outStride + x,
                 vsub(sampleLoadPart(src + y * srcStride + x, n), sampleLoadPart(pred + y * predStride + x, n)), n);
}

SIMD void reconstruct(Sample *dst, ptrdiff_t dstStride, const Sample *pred, ptrdiff_t predStride,
                      const int16_t *residual, ptrdiff_t residualStride, int width, int height) {
  EACH_STRIP(width)
    for (int y = 0; y < height; y++)
      sampleStore(dst + y * dstStride + x,
                  vadds(sampleLoadPart(pred + y * predStride + x, n), vloadPart(residual + y * residualStride + x, n)),
                  n);
}

SIMD void reconstructDC(Sample *dst, ptrdiff_t dstStride, const Sample *pred, ptrdiff_t predStride, int residual,
                        int width, int height) {
  const V dc = vset(residual);
  EACH_STRIP(width)
    for (int y = 0; y < height; y++)
      sampleStore(dst + y * dstStride + x, vadds(sampleLoadPart(pred + y * predStride + x, n), dc), n);
}

#define FILL_RESIDUAL \
  k->difference = difference, k->reconstruct = reconstruct, k->reconstructDC = reconstructDC;
