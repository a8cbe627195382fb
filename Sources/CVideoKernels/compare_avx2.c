// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks: SAD, SATD, SSD, variance. AVX2.

#include "compare_x86.h"
#include "larger.h"

#if OVT_X86

// MARK: - SAD

// Two rows of the source. In a block of its own, such as a macroblock cache, they follow one
// another.
AVX2_INLINE __m256i twoSourceRows(const uint8_t *src, ptrdiff_t srcStride) {
  return srcStride == 16 ? load32(src) : load16x2(src, src + srcStride);
}

// A call for each case, so that the stride is not compared for each pair of rows.
#define BY_STRIDE(FUNCTION, ...) \
  (srcStride == 16 ? FUNCTION(src, 16, __VA_ARGS__) : FUNCTION(src, srcStride, __VA_ARGS__))

AVX2_INLINE __m256i sadTwoRows(__m256i src, const uint8_t *ref, ptrdiff_t stride) {
  return _mm256_sad_epu8(src, load16x2(ref, ref + stride));
}

AVX2_INLINE int sad16Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m256i a = _mm256_setzero_si256(), b = a;
  for (int y = 0; y < height; y += 4, src += 4 * srcStride, ref += 4 * stride) {
    a = _mm256_add_epi32(a, sadTwoRows(twoSourceRows(src, srcStride), ref, stride));
    b = _mm256_add_epi32(b, sadTwoRows(twoSourceRows(src + 2 * srcStride, srcStride), ref + 2 * stride, stride));
  }
  return sum64(fold(_mm256_add_epi32(a, b)));
}

AVX2_INLINE void sad16X4Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0, const uint8_t *r1, const uint8_t *r2,
                             const uint8_t *r3, ptrdiff_t stride, int out[4], int height) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  for (int y = 0; y < height; y += 2, src += 2 * srcStride) {
    const __m256i s = twoSourceRows(src, srcStride);
    a = _mm256_add_epi32(a, sadTwoRows(s, r0, stride)), r0 += 2 * stride;
    b = _mm256_add_epi32(b, sadTwoRows(s, r1, stride)), r1 += 2 * stride;
    c = _mm256_add_epi32(c, sadTwoRows(s, r2, stride)), r2 += 2 * stride;
    d = _mm256_add_epi32(d, sadTwoRows(s, r3, stride)), r3 += 2 * stride;
  }
  storeX4(out, fold(a), fold(b), fold(c), fold(d));
}

// Eight samples wide: the source rows are gathered once for four candidates.
AVX2_INLINE void sad8X4Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0, const uint8_t *r1, const uint8_t *r2,
                            const uint8_t *r3, ptrdiff_t stride, int out[4], int height) {
  __m128i a = _mm_setzero_si128(), b = a, c = a, d = a;
  for (int y = 0; y < height; y += 2, src += 2 * srcStride) {
    const __m128i s = load8x2(src, src + srcStride);
    a = _mm_add_epi32(a, _mm_sad_epu8(s, load8x2(r0, r0 + stride))), r0 += 2 * stride;
    b = _mm_add_epi32(b, _mm_sad_epu8(s, load8x2(r1, r1 + stride))), r1 += 2 * stride;
    c = _mm_add_epi32(c, _mm_sad_epu8(s, load8x2(r2, r2 + stride))), r2 += 2 * stride;
    d = _mm_add_epi32(d, _mm_sad_epu8(s, load8x2(r3, r3 + stride))), r3 += 2 * stride;
  }
  storeX4(out, a, b, c, d);
}

AVX2_INLINE __m256i averageTwoRows(const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  return _mm256_avg_epu8(load16x2(a, a + stride), load16x2(b, b + stride));
}

AVX2_INLINE int sadOfAverage(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  __m256i s = _mm256_setzero_si256(), t = s;
  for (int y = 0; y < 16; y += 4, src += 4 * srcStride, a += 4 * stride, b += 4 * stride) {
    s = _mm256_add_epi32(s, _mm256_sad_epu8(twoSourceRows(src, srcStride), averageTwoRows(a, b, stride)));
    t = _mm256_add_epi32(
        t, _mm256_sad_epu8(twoSourceRows(src + 2 * srcStride, srcStride), averageTwoRows(a + 2 * stride, b + 2 * stride, stride)));
  }
  return sum64(fold(_mm256_add_epi32(s, t)));
}

AVX2 static int sadOfAverageAvx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  return BY_STRIDE(sadOfAverage, a, b, stride);
}

#define SAD_AVX2(H)                                                                                       \
  AVX2 static int sad16x##H##Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {             \
    return BY_STRIDE(sad16Avx2, ref, stride, H);                                                                \
  }                                                                                                       \
  AVX2 static int sad8x##H##Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {              \
    return sum64(sadRows8(src, srcStride, ref, stride, H));                                                          \
  }                                                                                                       \
  AVX2 static void sadX4_16x##H##Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0, const uint8_t *r1,           \
                                      const uint8_t *r2, const uint8_t *r3, ptrdiff_t stride,             \
                                      int out[4]) {                                                       \
    BY_STRIDE(sad16X4Avx2, r0, r1, r2, r3, stride, out, H);                                                     \
  }                                                                                                       \
  AVX2 static void sadX4_8x##H##Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0, const uint8_t *r1,            \
                                     const uint8_t *r2, const uint8_t *r3, ptrdiff_t stride, int out[4]) { \
    sad8X4Avx2(src, srcStride, r0, r1, r2, r3, stride, out, H);                                                      \
  }
SAD_AVX2(16)
SAD_AVX2(8)

// 32 samples of a row at a time, or two rows of 16.
AVX2_INLINE int sadWide(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int width,
                        int height) {
  if (width == 16) return sad16Avx2(src, srcStride, ref, stride, height);
  __m256i a = _mm256_setzero_si256(), b = a;
  for (int y = 0; y < height; y += 2, src += 2 * srcStride, ref += 2 * stride)
    for (int x = 0; x < width; x += 32) {
      a = _mm256_add_epi32(a, _mm256_sad_epu8(load32(src + x), load32(ref + x)));
      b = _mm256_add_epi32(b, _mm256_sad_epu8(load32(src + srcStride + x), load32(ref + stride + x)));
    }
  return sum64(fold(_mm256_add_epi32(a, b)));
}

AVX2_INLINE void sadX4Wide(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0, const uint8_t *r1,
                           const uint8_t *r2, const uint8_t *r3, ptrdiff_t stride, int out[4], int width, int height) {
  if (width == 16) {
    sad16X4Avx2(src, srcStride, r0, r1, r2, r3, stride, out, height);
    return;
  }
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  for (int y = 0; y < height; y++, src += srcStride) {
    for (int x = 0; x < width; x += 32) {
      const __m256i s = load32(src + x);
      a = _mm256_add_epi32(a, _mm256_sad_epu8(s, load32(r0 + x)));
      b = _mm256_add_epi32(b, _mm256_sad_epu8(s, load32(r1 + x)));
      c = _mm256_add_epi32(c, _mm256_sad_epu8(s, load32(r2 + x)));
      d = _mm256_add_epi32(d, _mm256_sad_epu8(s, load32(r3 + x)));
    }
    r0 += stride, r1 += stride, r2 += stride, r3 += stride;
  }
  storeX4(out, fold(a), fold(b), fold(c), fold(d));
}

#define SAD_WIDE(SET, SUFFIX, W, H)                                                                                 \
  SET static int sad##W##x##H##SUFFIX(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) { \
    return sadWide(src, srcStride, ref, stride, W, H);                                                              \
  }                                                                                                                 \
  SET static void sadX4_##W##x##H##SUFFIX(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0,               \
                                          const uint8_t *r1, const uint8_t *r2, const uint8_t *r3,                  \
                                          ptrdiff_t stride, int out[4]) {                                           \
    sadX4Wide(src, srcStride, r0, r1, r2, r3, stride, out, W, H);                                                   \
  }
LARGER_SHAPES(SAD_WIDE, AVX2, Avx2)

// MARK: - SATD

AVX2_INLINE __m256i pairMax256(__m256i a, __m256i b) {
  a = _mm256_abs_epi16(a), b = _mm256_abs_epi16(b);
  return _mm256_max_epi16(_mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa),
                          _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa));
}

AVX2_INLINE __m256i satdRows256(__m256i r0, __m256i r1, __m256i r2, __m256i r3) {
  const __m256i a = _mm256_add_epi16(r0, r1), b = _mm256_sub_epi16(r0, r1);
  const __m256i c = _mm256_add_epi16(r2, r3), d = _mm256_sub_epi16(r2, r3);
  return _mm256_add_epi16(pairMax256(_mm256_add_epi16(a, c), _mm256_sub_epi16(a, c)),
                          pairMax256(_mm256_add_epi16(b, d), _mm256_sub_epi16(b, d)));
}

AVX2_INLINE int sum16x16(__m256i v) { return sum32(fold(_mm256_madd_epi16(v, _mm256_set1_epi16(1)))); }

// A row of 16 samples in both halves of two registers: their sums in the lower half, their
// differences in the upper.
AVX2_INLINE __m256i butterflyRow(__m256i s, __m256i r) {
  const __m256i weights = _mm256_setr_m128i(_mm_set1_epi8(1), _mm_set1_epi16(-255));
  return _mm256_sub_epi16(_mm256_maddubs_epi16(s, weights), _mm256_maddubs_epi16(r, weights));
}

AVX2_INLINE __m256i butterfly16(const uint8_t *src, const uint8_t *ref, int isNV12) {
  __m256i s = broadcast16(src), r = broadcast16(ref);
  if (isNV12) {
    const __m256i split =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    s = _mm256_shuffle_epi8(s, split), r = _mm256_shuffle_epi8(r, split);
  }
  return butterflyRow(s, r);
}

AVX2_INLINE __m256i satd16x4Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int isNV12) {
  return satdRows256(butterfly16(src, ref, isNV12), butterfly16(src + srcStride, ref + stride, isNV12),
                     butterfly16(src + 2 * srcStride, ref + 2 * stride, isNV12),
                     butterfly16(src + 3 * srcStride, ref + 3 * stride, isNV12));
}

AVX2 static int satd16x16Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  __m256i sum = satd16x4Avx2(src, srcStride, ref, stride, 0);
  for (int y = 4; y < 16; y += 4)
    sum = _mm256_add_epi16(sum, satd16x4Avx2(src + y * srcStride, srcStride, ref + y * stride, stride, 0));
  return sum16x16(sum);
}

AVX2_INLINE __m256i butterflyOfAverage(const uint8_t *src, const uint8_t *a, const uint8_t *b) {
  return butterflyRow(broadcast16(src), _mm256_avg_epu8(broadcast16(a), broadcast16(b)));
}

AVX2 static int satdOfAverageAvx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  __m256i sum = _mm256_setzero_si256();
  for (int y = 0; y < 16; y += 4, src += 4 * srcStride, a += 4 * stride, b += 4 * stride)
    sum = _mm256_add_epi16(
        sum, satdRows256(butterflyOfAverage(src, a, b), butterflyOfAverage(src + srcStride, a + stride, b + stride),
                         butterflyOfAverage(src + 2 * srcStride, a + 2 * stride, b + 2 * stride),
                         butterflyOfAverage(src + 3 * srcStride, a + 3 * stride, b + 3 * stride)));
  return sum16x16(sum);
}

AVX2 static int satd16x8Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16x16(_mm256_add_epi16(satd16x4Avx2(src, srcStride, ref, stride, 0),
                                   satd16x4Avx2(src + 4 * srcStride, srcStride, ref + 4 * stride, stride, 0)));
}

AVX2 static int satdNV12Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16x16(_mm256_add_epi16(satd16x4Avx2(src, srcStride, ref, stride, 1),
                                   satd16x4Avx2(src + 4 * srcStride, srcStride, ref + 4 * stride, stride, 1)));
}

// Eight samples of a row twice in the lower half, of the row four below in the upper half.
AVX2_INLINE __m256i twice8(const uint8_t *p, ptrdiff_t stride) {
  return _mm256_blend_epi32(_mm256_broadcastq_epi64(load8(p)), _mm256_broadcastq_epi64(load8(p + 4 * stride)),
                            0xf0);
}

AVX2_INLINE __m256i butterfly8x2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  const __m256i weights = _mm256_broadcastsi128_si256(butterflyWeights8());
  return _mm256_sub_epi16(_mm256_maddubs_epi16(twice8(src, srcStride), weights),
                          _mm256_maddubs_epi16(twice8(ref, stride), weights));
}

AVX2_INLINE __m256i satd8x8Half(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return satdRows256(butterfly8x2(src, srcStride, ref, stride), butterfly8x2(src + srcStride, srcStride, ref + stride, stride),
                     butterfly8x2(src + 2 * srcStride, srcStride, ref + 2 * stride, stride),
                     butterfly8x2(src + 3 * srcStride, srcStride, ref + 3 * stride, stride));
}

AVX2 static int satd8x8Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16x16(satd8x8Half(src, srcStride, ref, stride));
}

AVX2 static int satd8x16Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16x16(_mm256_add_epi16(satd8x8Half(src, srcStride, ref, stride),
                                   satd8x8Half(src + 8 * srcStride, srcStride, ref + 8 * stride, stride)));
}

// MARK: - SSD

AVX2_INLINE __m256i ssdRow16(const uint8_t *a, const uint8_t *b) {
  const __m256i d = _mm256_sub_epi16(widen16(a), widen16(b));
  return _mm256_madd_epi16(d, d);
}

AVX2_INLINE int ssd16Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m256i a = _mm256_setzero_si256(), b = a;
  for (int y = 0; y < height; y += 2, src += 2 * srcStride, ref += 2 * stride) {
    a = _mm256_add_epi32(a, ssdRow16(src, ref));
    b = _mm256_add_epi32(b, ssdRow16(src + srcStride, ref + stride));
  }
  return sum32(fold(_mm256_add_epi32(a, b)));
}

AVX2_INLINE int ssd8Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m256i sum = _mm256_setzero_si256();
  for (int y = 0; y < height; y += 2, src += 2 * srcStride, ref += 2 * stride) {
    const __m256i d = _mm256_sub_epi16(_mm256_cvtepu8_epi16(load8x2(src, src + srcStride)),
                                       _mm256_cvtepu8_epi16(load8x2(ref, ref + stride)));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(d, d));
  }
  return sum32(fold(sum));
}

AVX2 static int ssd16x16Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return ssd16Avx2(src, srcStride, ref, stride, 16);
}
AVX2 static int ssd16x8Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return ssd16Avx2(src, srcStride, ref, stride, 8);
}
AVX2 static int ssd8x16Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return ssd8Avx2(src, srcStride, ref, stride, 16);
}
AVX2 static int ssd8x8Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return ssd8Avx2(src, srcStride, ref, stride, 8);
}

AVX2 static void ssdNV12Avx2(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int out[2]) {
  const __m256i low = _mm256_set1_epi16(255);
  __m256i u = _mm256_setzero_si256(), v = u;
  for (int y = 0; y < 8; y += 2, ref += 2 * stride) {
    const __m256i s = load16x2(src + y * srcStride, src + (y + 1) * srcStride), r = load16x2(ref, ref + stride);
    const __m256i du = _mm256_sub_epi16(_mm256_and_si256(s, low), _mm256_and_si256(r, low));
    const __m256i dv = _mm256_sub_epi16(_mm256_srli_epi16(s, 8), _mm256_srli_epi16(r, 8));
    u = _mm256_add_epi32(u, _mm256_madd_epi16(du, du));
    v = _mm256_add_epi32(v, _mm256_madd_epi16(dv, dv));
  }
  const __m128i a = fold(u), b = fold(v);
  const __m128i sum = _mm_hadd_epi32(_mm_hadd_epi32(a, b), a);
  store8(out, sum);
}

// MARK: - Whole rows and pictures

AVX2 static uint64_t variance16x16Avx2(const uint8_t *pixels, ptrdiff_t stride) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i sum = zero, squares = zero;
  for (int y = 0; y < 16; y += 2, pixels += 2 * stride) {
    const __m256i rows = load16x2(pixels, pixels + stride);
    const __m256i a = _mm256_unpacklo_epi8(rows, zero), b = _mm256_unpackhi_epi8(rows, zero);
    sum = _mm256_add_epi32(sum, _mm256_sad_epu8(rows, zero));
    squares = _mm256_add_epi32(squares, _mm256_add_epi32(_mm256_madd_epi16(a, a), _mm256_madd_epi16(b, b)));
  }
  return (uint64_t)(uint32_t)sum32(fold(squares)) << 32 | (uint32_t)sum64(fold(sum));
}

AVX2 static uint64_t ssdRowAvx2(const uint8_t *a, const uint8_t *b, int n) {
  __m256i s = _mm256_setzero_si256(), t = s;
  int x = 0;
  for (; x + 32 <= n; x += 32) {
    s = _mm256_add_epi32(s, ssdRow16(a + x, b + x));
    t = _mm256_add_epi32(t, ssdRow16(a + x + 16, b + x + 16));
  }
  return sumWide(fold(_mm256_add_epi32(s, t))) + ssdTail(a, b, x, n);
}

// MARK: - The table

SHARED_KERNELS(AVX2, Avx2)

LARGER_SHAPES(LARGER_SUMS, AVX2, Avx2)

#define FILL_AVX2(W, H)                            \
  k->sad[OVT_##W##x##H] = sad##W##x##H##Avx2;      \
  k->sadX4[OVT_##W##x##H] = sadX4_##W##x##H##Avx2; \
  k->satd[OVT_##W##x##H] = satd##W##x##H##Avx2;    \
  k->ssd[OVT_##W##x##H] = ssd##W##x##H##Avx2;

void ovt_compare_avx2(OVTVideoKernels *k) {
  FILL_AVX2(16, 16)
  FILL_AVX2(16, 8)
  FILL_AVX2(8, 16)
  FILL_AVX2(8, 8)
  FILL_AVX2(32, 32)
  FILL_AVX2(32, 16)
  FILL_AVX2(16, 32)
  FILL_AVX2(64, 32)
  FILL_AVX2(32, 64)
  FILL_AVX2(64, 64)
  k->satd[OVT_4x8] = satd4x8Avx2;
  k->satd[OVT_4x4] = satd4x4Avx2;
  k->sadOfAverage = sadOfAverageAvx2;
  k->satdOfAverage = satdOfAverageAvx2;
  k->ssdNV12 = ssdNV12Avx2;
  k->satdNV12 = satdNV12Avx2;
  k->variance16x16 = variance16x16Avx2;
  k->ssdRow = ssdRowAvx2;
}

#endif
