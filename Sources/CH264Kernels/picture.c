// Pictures, a row at a time. Plain C.

#include "stages.h"

static void interleaveRow(uint8_t *dst, const uint8_t *u, const uint8_t *v, int n) {
  for (int x = 0; x < n; x++) dst[2 * x] = u[x], dst[2 * x + 1] = v[x];
}

static void interleave8x8Planes(uint8_t *dst, const uint8_t *u, ptrdiff_t uStride, const uint8_t *v, ptrdiff_t vStride) {
  for (int y = 0; y < 8; y++, dst += 16, u += uStride, v += vStride) interleaveRow(dst, u, v, 8);
}

static void deinterleaveRow(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  for (int x = 0; x < n; x++) u[x] = src[2 * x], v[x] = src[2 * x + 1];
}

static void halveRow(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n) {
  for (int x = 0; x < n; x++) dst[x] = (uint8_t)((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2);
}

void ovt_picture_c(OVTKernels *k) {
  k->interleaveRow = interleaveRow;
  k->interleave8x8Planes = interleave8x8Planes;
  k->deinterleaveRow = deinterleaveRow;
  k->halveRow = halveRow;
}
