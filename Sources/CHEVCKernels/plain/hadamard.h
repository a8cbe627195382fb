// SPDX-License-Identifier: Apache-2.0
// Comparison by Hadamard transforms of 8x8. Plain C, for the depth that is included before.

// One of 8 points; the order of the results does not matter for a sum of magnitudes.
OVT_INLINE void hadamard8(int *v, int step) {
  for (int half = 1; half < 8; half *= 2)
    for (int i = 0; i < 8; i++)
      if (!(i & half)) {
        const int a = v[i * step], b = v[(i + half) * step];
        v[i * step] = a + b, v[(i + half) * step] = a - b;
      }
}

OVT_INLINE int satd8(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride, int size) {
  int total = 0;
  for (int top = 0; top < size; top += 8)
    for (int left = 0; left < size; left += 8) {
      int d[64], sum = 0;
      for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
          d[8 * y + x] = src[(top + y) * srcStride + left + x] - ref[(top + y) * stride + left + x];
      for (int i = 0; i < 8; i++) hadamard8(d + 8 * i, 1);
      for (int i = 0; i < 8; i++) hadamard8(d + i, 8);
      for (int i = 0; i < 64; i++) sum += ovt_abs(d[i]);
      total += (sum + 2) >> 2;
    }
  return total;
}

#define SQUARE(N)                                                                                              \
  static int satdOf8In##N(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride) {          \
    return satd8(src, srcStride, ref, stride, N);                                                              \
  }
SQUARE(8)
SQUARE(16)
SQUARE(32)
SQUARE(64)

static void fillHadamard8x8(Kernels *k) {
  k->satd8[OVT_HEVC_SQUARE_8] = satdOf8In8, k->satd8[OVT_HEVC_SQUARE_16] = satdOf8In16;
  k->satd8[OVT_HEVC_SQUARE_32] = satdOf8In32, k->satd8[OVT_HEVC_SQUARE_64] = satdOf8In64;
}
