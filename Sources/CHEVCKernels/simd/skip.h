// SPDX-License-Identifier: Apache-2.0
// Transform skip (8.6.4) in the vectors that are included before.

SIMD void forwardSkip(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int log2Size, int bitDepth) {
  const int n = 1 << log2Size, shift = 15 - bitDepth - log2Size, width = n < LANES ? n : LANES;
  for (int y = 0; y < n; y++, residual += stride, coef += n)
    for (int x = 0; x < n; x += LANES) vstorePart(coef + x, vsll(vloadPart(residual + x, width), shift), width);
}

// The sum with the rounding may leave int16_t, so the last bit is kept apart.
SIMD void inverseSkip(int16_t *residual, ptrdiff_t stride, const int16_t *coef, int log2Size, int bitDepth) {
  const int n = 1 << log2Size, shift = 15 - bitDepth - log2Size, width = n < LANES ? n : LANES;
  for (int y = 0; y < n; y++, residual += stride, coef += n)
    for (int x = 0; x < n; x += LANES) {
      V v = vloadPart(coef + x, width);
      if (shift > 0) {
        v = vsra(v, shift - 1);
        v = vadd(vsra(v, 1), vand(v, vset(1)));
      }
      vstorePart(residual + x, v, width);
    }
}
