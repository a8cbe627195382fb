// SPDX-License-Identifier: Apache-2.0
// Residuals and reconstruction (8.6.7). Plain C, for the depth that is included before.

static void difference(int16_t *out, ptrdiff_t outStride, const Sample *src, ptrdiff_t srcStride, const Sample *pred,
                       ptrdiff_t predStride, int width, int height) {
  for (int y = 0; y < height; y++, out += outStride, src += srcStride, pred += predStride)
    for (int x = 0; x < width; x++) out[x] = (int16_t)(src[x] - pred[x]);
}

static void reconstruct(Sample *dst, ptrdiff_t dstStride, const Sample *pred, ptrdiff_t predStride,
                        const int16_t *residual, ptrdiff_t residualStride, int width, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, pred += predStride, residual += residualStride)
    for (int x = 0; x < width; x++) dst[x] = clipSample(pred[x] + residual[x]);
}

static void reconstructDC(Sample *dst, ptrdiff_t dstStride, const Sample *pred, ptrdiff_t predStride, int residual,
                          int width, int height) {
  for (int y = 0; y < height; y++, dst += dstStride, pred += predStride)
    for (int x = 0; x < width; x++) dst[x] = clipSample(pred[x] + residual);
}

static void fillResidual(Kernels *k) {
  k->difference = difference;
  k->reconstruct = reconstruct;
  k->reconstructDC = reconstructDC;
}
