// SPDX-License-Identifier: Apache-2.0
// Comparison by Hadamard transforms of 8x8 in the vectors that are included before; LANES / 8
// blocks at a time. Up to 10 bits five of the six stages fit int16_t, and of the last one, a + b
// and a - b, the magnitudes are twice the larger of those of a and b.

SIMD_INLINE void butterflies(V v[8], int half) {
  for (int i = 0; i < 8; i++)
    if (!(i & half)) {
      const V a = v[i], b = v[i + half];
      v[i] = vadd(a, b), v[i + half] = vsub(a, b);
    }
}

SIMD_INLINE int satd8(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride, int size) {
  int total = 0;
  const int n = size < LANES ? size : LANES;
  for (int top = 0; top < size; top += 8)
    for (int left = 0; left < size; left += LANES) {
      V v[8];
      for (int y = 0; y < 8; y++)
        v[y] = vsub(sampleLoadPart(src + (top + y) * srcStride + left, n),
                    sampleLoadPart(ref + (top + y) * stride + left, n));
      butterflies(v, 1), butterflies(v, 2), butterflies(v, 4);
      transpose8(v);
      butterflies(v, 1), butterflies(v, 2);
      W sum = wset(0);
      for (int i = 0; i < 4; i++) sum = wadd(sum, wmadd(vmax(vabs(v[i]), vabs(v[i + 4])), vset(1)));
      total += roundedBlockSums(wadd(sum, sum));
    }
  return total;
}

#define SQUARE(N)                                                                                        \
  SIMD int satdOf8In##N(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride) {   \
    return satd8(src, srcStride, ref, stride, N);                                                        \
  }
SQUARE(8)
SQUARE(16)
SQUARE(32)
SQUARE(64)

#define FILL_HADAMARD                                                                          \
  if (LANES == 8) k->satd8[OVT_HEVC_SQUARE_8] = satdOf8In8;                                    \
  k->satd8[OVT_HEVC_SQUARE_16] = satdOf8In16, k->satd8[OVT_HEVC_SQUARE_32] = satdOf8In32;      \
  k->satd8[OVT_HEVC_SQUARE_64] = satdOf8In64;
