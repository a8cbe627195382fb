// SPDX-License-Identifier: Apache-2.0
// Forward and inverse transforms (8.6.4.2) in the vectors that are included before. Columns lie in
// lanes, and are transformed first; a row is multiplied by pairs of its values with the matrix.

#include "../transform_pairs.h"

enum { HALF = LANES / 2 };  // the lanes of a W

OVT_INLINE const int16_t *oddPairs(int n) {
  return n == 4    ? ovt_hevc_odd_pairs4
         : n == 8  ? ovt_hevc_odd_pairs8
         : n == 16 ? ovt_hevc_odd_pairs16
                   : ovt_hevc_odd_pairs32;
}
OVT_INLINE const int16_t *evenPairs(int n) {
  return n == 8 ? ovt_hevc_even_pairs8 : n == 16 ? ovt_hevc_even_pairs16 : ovt_hevc_even_pairs32;
}
OVT_INLINE const int16_t *forwardPairs(int n) {
  return n == 4    ? ovt_hevc_forward_pairs4
         : n == 8  ? ovt_hevc_forward_pairs8
         : n == 16 ? ovt_hevc_forward_pairs16
                   : ovt_hevc_forward_pairs32;
}
// Rows of intermediate values.
OVT_INLINE int lineStride(int n) { return n < LANES ? LANES : n; }

static const int16_t sumPair[2] = {64, 64}, differencePair[2] = {64, -64};

// MARK: - Rows

// out[k] = sum of in[2 i], in[2 i + 1] times pairs[i][k] over `count` pairs, for the first `kept`
// of n rows and columns.
SIMD_INLINE void multiplyRows(int16_t *out, ptrdiff_t outStride, const int16_t *in, int n, int kept,
                              const int16_t *pairs, int count, int shift) {
  const int stride = lineStride(n), blocks = kept / HALF < 4 ? kept / HALF : 4;
  for (int y = 0; y < kept; y += 2, out += 2 * outStride, in += 2 * stride)
    for (int k = 0; k < kept; k += blocks * HALF) {
      W a[4], b[4];
      for (int j = 0; j < blocks; j++) a[j] = b[j] = wset(1 << (shift - 1));
      for (int i = 0; i < count; i++) {
        const V p = vpair(in + 2 * i), q = vpair(in + stride + 2 * i);
        for (int j = 0; j < blocks; j++) {
          const V c = vload(pairs + 2 * (i * n + k + j * HALF));
          a[j] = wadd(a[j], wmadd(c, p)), b[j] = wadd(b[j], wmadd(c, q));
        }
      }
      for (int j = 0; j < blocks; j += 2) {
        if (blocks == 1) {
          wstorePacked(out, wsra(a[0], shift)), wstorePacked(out + outStride, wsra(b[0], shift));
          break;
        }
        vstore(out + k + j * HALF, wpack(wsra(a[j], shift), wsra(a[j + 1], shift)));
        vstore(out + outStride + k + j * HALF, wpack(wsra(b[j], shift), wsra(b[j + 1], shift)));
      }
    }
}

// Rows of the inverse transform from 8 points on: even and odd coefficients apart, since the matrix
// is symmetric in the former and antisymmetric in the latter. Columns were split by vsplit.
SIMD_INLINE void inverseRows(int16_t *residual, ptrdiff_t stride, const int16_t *in, int n, int columns, int shift) {
  const int half = n / 2, blocks = half / HALF;
  const int16_t *const evens = evenPairs(n), *const odds = oddPairs(n);
  for (int y = 0; y < n; y++, residual += stride, in += lineStride(n)) {
    W even[4], odd[4];
    for (int j = 0; j < blocks; j++) even[j] = wset(1 << (shift - 1)), odd[j] = wset(0);
    for (int i = 0; 4 * i < columns; i++) {
      const int16_t *const from = in + i / 2 * 8 + i % 2 * 2;
      const V p = vpair(from), q = vpair(from + 4);
      for (int j = 0; j < blocks; j++) {
        even[j] = wadd(even[j], wmadd(vload(evens + 2 * (i * half + j * HALF)), p));
        odd[j] = wadd(odd[j], wmadd(vload(odds + 2 * (i * half + j * HALF)), q));
      }
    }
    for (int j = 0; j < blocks; j++) {
      wstorePacked(residual + j * HALF, wsra(wadd(even[j], odd[j]), shift));
      wstorePacked(residual + n - (j + 1) * HALF, wreverse(wsra(wsub(even[j], odd[j]), shift)));
    }
  }
}

// MARK: - Columns

// Each halving of the points leaves sums, whose transform is that of half as many points, and
// differences, from which the odd coefficients come. At up to 10 bits all fit int16_t. Of the n
// rows of coefficients the first `kept` are made, n or n / 2.
SIMD_INLINE void forwardColumns(int16_t *lines, const int16_t *residual, ptrdiff_t stride, int n, int kept,
                                int shift) {
  const Wide rounding = wideSet(1 << (shift - 1));
  for (int x = 0; x < n; x += LANES) {
    V a[32];
    for (int y = 0; y < n; y++) a[y] = vloadPart(residual + y * stride + x, n < LANES ? n : LANES);
    for (int points = n; points > 2; points /= 2) {
      const int half = points / 2, step = n / points;
      Zip odd[8];
      for (int i = 0; i < half; i += 2)
        odd[i / 2] = vzip(vsub(a[i], a[points - 1 - i]), vsub(a[i + 1], a[points - 2 - i]));
      for (int i = 0; i < half; i++) a[i] = vadd(a[i], a[points - 1 - i]);
      for (int k = 1; k * step < kept; k += 2) {
        Wide sum = rounding;
        for (int i = 0; i < half; i += 2)
          sum = wideAdd(sum, wideMulZip(odd[i / 2], vpair(forwardPairs(points) + 2 * (i / 2 * points + k))));
        vstore(lines + k * step * lineStride(n) + x, widePack(wideSra(sum, shift)));
      }
    }
    const Zip last = vzip(a[0], a[1]);
    vstore(lines + x, widePack(wideSra(wideAdd(wideMulZip(last, vpair(sumPair)), rounding), shift)));
    if (kept == n)
      vstore(lines + n / 2 * lineStride(n) + x,
             widePack(wideSra(wideAdd(wideMulZip(last, vpair(differencePair)), rounding), shift)));
  }
}

SIMD_INLINE void inverseColumns(int16_t *lines, const int16_t *coef, int n, int columns, int rows) {
  for (int x = 0; x < columns; x += LANES) {
    const int width = n < LANES ? n : LANES;
    Wide sums[32];
    const Zip first = vzip(vloadPart(coef + x, width), vloadPart(coef + n / 2 * n + x, width));
    sums[0] = wideAdd(wideMulZip(first, vpair(sumPair)), wideSet(64));
    sums[1] = wideAdd(wideMulZip(first, vpair(differencePair)), wideSet(64));
    for (int points = 4; points <= n; points *= 2) {
      const int half = points / 2, step = n / points;
      Zip odd[8];
      int count = 0;
      for (; (4 * count + 1) * step < rows && count < (points + 3) / 4; count++) {
        const int16_t *const from = coef + (4 * count + 1) * step * n + x;
        odd[count] = vzip(vloadPart(from, width), vloadPart(from + 2 * step * n, width));
      }
      for (int y = 0; y < half; y++) {
        Wide sum = wideSet(0);
        for (int i = 0; i < count; i++)
          sum = wideAdd(sum, wideMulZip(odd[i], vpair(oddPairs(points) + 2 * (i * half + y))));
        const Wide even = sums[y];
        sums[y] = wideAdd(even, sum), sums[points - 1 - y] = wideSub(even, sum);
      }
    }
    for (int y = 0; y < n; y++) {
      const V line = widePack(wideSra(sums[y], 7));
      vstore(lines + y * lineStride(n) + x, n > 4 ? vsplit(line) : line);
    }
  }
}

// MARK: - Kernels

#define SIZE(N, LOG2)                                                                                           \
  SIMD void forward##N(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int bitDepth) {                \
    _Alignas(32) int16_t lines[N * (N < LANES ? LANES : N)];                                                    \
    forwardColumns(lines, residual, stride, N, N, LOG2 + bitDepth - 9);                                         \
    multiplyRows(coef, N, lines, N, N, forwardPairs(N), N / 2, LOG2 + 6);                                       \
  }                                                                                                             \
  SIMD void inverse##N(int16_t *residual, ptrdiff_t stride, const int16_t *coef, int bitDepth, int columns,     \
                       int rows) {                                                                              \
    _Alignas(32) int16_t lines[N * (N < LANES ? LANES : N)];                                                    \
    inverseColumns(lines, coef, N, columns, rows);                                                              \
    if (N == 4) multiplyRows(residual, stride, lines, N, N, ovt_hevc_inverse_pairs4, 2, 20 - bitDepth);         \
    else inverseRows(residual, stride, lines, N, columns, 20 - bitDepth);                                       \
  }

SIMD void forwardLow32(int16_t *coef, const int16_t *residual, ptrdiff_t stride, int bitDepth) {
  _Alignas(32) int16_t lines[16 * 32];
  forwardColumns(lines, residual, stride, 32, 16, bitDepth - 4);
  memset(coef, 0, 32 * 32 * sizeof coef[0]);
  multiplyRows(coef, 32, lines, 32, 16, forwardPairs(32), 16, 11);
}
