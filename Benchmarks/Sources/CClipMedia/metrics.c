// SPDX-License-Identifier: Apache-2.0
#include "ClipMedia.h"

#include <stdlib.h>

uint64_t plane_squared_error(const uint8_t *a, int strideA, const uint8_t *b, int strideB, int width, int height) {
  uint64_t total = 0;
  for (int y = 0; y < height; y++) {
    uint32_t row = 0;  // 255 * 255 * 16384 fits
    for (int x = 0; x < width; x++) {
      int d = a[x] - b[x];
      row += (uint32_t)(d * d);
    }
    total += row;
    a += strideA;
    b += strideB;
  }
  return total;
}

// Sums over a block of 4x4 samples.
typedef struct Sums {
  uint32_t a, b, squares, product;
} Sums;

static Sums block(const uint8_t *a, int strideA, const uint8_t *b, int strideB) {
  Sums s = {0, 0, 0, 0};
  for (int y = 0; y < 4; y++) {
    for (int x = 0; x < 4; x++) {
      uint32_t p = a[x], q = b[x];
      s.a += p;
      s.b += q;
      s.squares += p * p + q * q;
      s.product += p * q;
    }
    a += strideA;
    b += strideB;
  }
  return s;
}

static double window(Sums s, Sums t, Sums u, Sums v) {
  const double n = 64, c1 = 0.01 * 0.01 * 255 * 255, c2 = 0.03 * 0.03 * 255 * 255;
  double a = (double)s.a + t.a + u.a + v.a, b = (double)s.b + t.b + u.b + v.b;
  double squares = (double)s.squares + t.squares + u.squares + v.squares;
  double product = (double)s.product + t.product + u.product + v.product;
  double meanA = a / n, meanB = b / n;
  double variances = squares / n - meanA * meanA - meanB * meanB;
  double covariance = product / n - meanA * meanB;
  return (2 * meanA * meanB + c1) * (2 * covariance + c2) /
         ((meanA * meanA + meanB * meanB + c1) * (variances + c2));
}

double plane_similarity(const uint8_t *a, int strideA, const uint8_t *b, int strideB, int width, int height) {
  int columns = width / 4, rows = height / 4;
  if (columns < 2 || rows < 2) return 1;
  Sums *line = malloc(sizeof(Sums) * (size_t)columns * 2);
  if (!line) return 0;
  double total = 0;
  for (int y = 0; y < rows; y++) {
    Sums *now = line + (size_t)(y & 1) * (size_t)columns, *before = line + (size_t)(~y & 1) * (size_t)columns;
    for (int x = 0; x < columns; x++) {
      now[x] = block(a + (size_t)y * 4 * (size_t)strideA + x * 4, strideA,
                     b + (size_t)y * 4 * (size_t)strideB + x * 4, strideB);
    }
    if (y == 0) continue;
    for (int x = 1; x < columns; x++) total += window(before[x - 1], before[x], now[x - 1], now[x]);
  }
  free(line);
  return total / ((double)(columns - 1) * (rows - 1));
}
