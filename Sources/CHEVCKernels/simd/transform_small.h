// SPDX-License-Identifier: Apache-2.0
// The sine transform of 4x4 (8.6.4.2) in vectors of eight lanes, and transform skip.

static const int16_t sineRows[4][4] = {{29, 55, 74, 84}, {74, 74, 0, -74}, {84, -29, -74, 55}, {55, -84, 74, -29}};
static const int16_t sineColumns[4][4] = {{29, 74, 84, 55}, {55, 74, -29, -84}, {74, 0, -74, 74}, {84, -74, 55, -29}};

// Four rows of four, multiplied from the left.
SIMD_INLINE void sineLeft(int16_t *lines, const int16_t *in, ptrdiff_t stride, const int16_t matrix[4][4], int shift) {
  const Zip a = vzip(vloadPart(in, 4), vloadPart(in + stride, 4));
  const Zip b = vzip(vloadPart(in + 2 * stride, 4), vloadPart(in + 3 * stride, 4));
  for (int k = 0; k < 4; k++) {
    const Wide sum = wideAdd(wideMulZip(a, vpair(matrix[k])), wideMulZip(b, vpair(matrix[k] + 2)));
    vstore(lines + k * LANES, widePack(wideSra(wideAdd(sum, wideSet(1 << (shift - 1))), shift)));
  }
}

SIMD void forwardSine(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int bitDepth) {
  _Alignas(32) int16_t lines[4 * LANES];
  sineLeft(lines, residual, stride, sineRows, bitDepth - 7);
  multiplyRows(coef, 4, lines, 4, 4, ovt_hevc_forward_pairs_sine, 2, 8);
}

SIMD void inverseSine(int16_t *residual, ptrdiff_t stride, const int16_t *coef, int bitDepth, int columns, int rows) {
  (void)columns, (void)rows;
  _Alignas(32) int16_t lines[4 * LANES];
  sineLeft(lines, coef, 4, sineColumns, 7);
  multiplyRows(residual, stride, lines, 4, 4, ovt_hevc_inverse_pairs_sine, 2, 20 - bitDepth);
}
