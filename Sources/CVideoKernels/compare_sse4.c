// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks: SAD, SATD, SSD, variance. SSE4.

#include "compare_x86.h"
#include "larger.h"

#if OVT_X86

// MARK: - SAD

SSE4_INLINE __m128i sadRows16(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m128i sum = _mm_setzero_si128();
  for (int y = 0; y < height; y++)
    sum = _mm_add_epi32(sum, _mm_sad_epu8(load16(src + y * srcStride), load16(ref + y * stride)));
  return sum;
}

SSE4_INLINE __m128i sadRows4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m128i sum = _mm_setzero_si128();
  for (int y = 0; y < height; y += 4, src += 4 * srcStride, ref += 4 * stride) {
    const __m128i s = _mm_unpacklo_epi64(load4x2(src, src + srcStride), load4x2(src + 2 * srcStride, src + 3 * srcStride));
    const __m128i r =
        _mm_unpacklo_epi64(load4x2(ref, ref + stride), load4x2(ref + 2 * stride, ref + 3 * stride));
    sum = _mm_add_epi32(sum, _mm_sad_epu8(s, r));
  }
  return sum;
}

SSE4 static int sadOfAverageSse4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  __m128i sum = _mm_setzero_si128();
  for (int y = 0; y < 16; y++, a += stride, b += stride)
    sum = _mm_add_epi32(sum, _mm_sad_epu8(load16(src + y * srcStride), _mm_avg_epu8(load16(a), load16(b))));
  return sum64(sum);
}

#define SAD_SSE4(W, H)                                                                                  \
  SSE4 static int sad##W##x##H##Sse4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {        \
    return sum64(sadRows##W(src, srcStride, ref, stride, H));                                                      \
  }                                                                                                     \
  SSE4 static void sadX4_##W##x##H##Sse4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0, const uint8_t *r1,      \
                                         const uint8_t *r2, const uint8_t *r3, ptrdiff_t stride,        \
                                         int out[4]) {                                                  \
    storeX4(out, sadRows##W(src, srcStride, r0, stride, H), sadRows##W(src, srcStride, r1, stride, H),                        \
            sadRows##W(src, srcStride, r2, stride, H), sadRows##W(src, srcStride, r3, stride, H));                            \
  }
SAD_SSE4(16, 16)
SAD_SSE4(16, 8)
SAD_SSE4(8, 16)
SAD_SSE4(8, 8)
SAD_SSE4(8, 4)
SAD_SSE4(4, 8)
SAD_SSE4(4, 4)

// MARK: - SATD

// Four rows after their first butterfly: the sum over them, in int16 lanes (each at most 2 * 2040).
SSE4_INLINE __m128i satdRows(__m128i r0, __m128i r1, __m128i r2, __m128i r3) {
  const __m128i a = _mm_add_epi16(r0, r1), b = _mm_sub_epi16(r0, r1);
  const __m128i c = _mm_add_epi16(r2, r3), d = _mm_sub_epi16(r2, r3);
  return _mm_add_epi16(pairMax(_mm_add_epi16(a, c), _mm_sub_epi16(a, c)),
                       pairMax(_mm_add_epi16(b, d), _mm_sub_epi16(b, d)));
}

SSE4_INLINE __m128i butterfly8(const uint8_t *src, const uint8_t *ref) {
  const __m128i weights = butterflyWeights8();
  const __m128i s = load8(src), r = load8(ref);
  return _mm_sub_epi16(_mm_maddubs_epi16(_mm_unpacklo_epi64(s, s), weights),
                       _mm_maddubs_epi16(_mm_unpacklo_epi64(r, r), weights));
}

SSE4_INLINE __m128i satd8x4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return satdRows(butterfly8(src, ref), butterfly8(src + srcStride, ref + stride),
                  butterfly8(src + 2 * srcStride, ref + 2 * stride), butterfly8(src + 3 * srcStride, ref + 3 * stride));
}

// 16 samples: sums and differences of neighbours in two registers.
SSE4_INLINE __m128i satd16x4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int isNV12) {
  const __m128i plus = _mm_set1_epi8(1), minus = _mm_set1_epi16(-255);
  const __m128i split = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  __m128i p[4], m[4];
  for (int y = 0; y < 4; y++) {
    __m128i s = load16(src + y * srcStride), r = load16(ref + y * stride);
    if (isNV12) s = _mm_shuffle_epi8(s, split), r = _mm_shuffle_epi8(r, split);
    p[y] = _mm_sub_epi16(_mm_maddubs_epi16(s, plus), _mm_maddubs_epi16(r, plus));
    m[y] = _mm_sub_epi16(_mm_maddubs_epi16(s, minus), _mm_maddubs_epi16(r, minus));
  }
  return _mm_add_epi16(satdRows(p[0], p[1], p[2], p[3]), satdRows(m[0], m[1], m[2], m[3]));
}

#define SATD_SSE4(W, H)                                                                             \
  SSE4 static int satd##W##x##H##Sse4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {   \
    __m128i sum = _mm_setzero_si128();                                                              \
    for (int y = 0; y < H; y += 4) sum = _mm_add_epi16(sum, SATD_STRIP_##W(src + y * srcStride, srcStride, ref + y * stride, stride)); \
    return sum16(sum);                                                                              \
  }
// 16x16: a lane's sum is at most 4 * 2 * 2 * 2040 = 32640.
#define SATD_STRIP_16(src, srcStride, ref, stride) satd16x4(src, srcStride, ref, stride, 0)
#define SATD_STRIP_8(src, srcStride, ref, stride) satd8x4(src, srcStride, ref, stride)
SATD_SSE4(16, 16)
SATD_SSE4(16, 8)
SATD_SSE4(8, 16)
SATD_SSE4(8, 8)
SATD_SSE4(8, 4)

SSE4 static int satdNV12Sse4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {
  return sum16(_mm_add_epi16(satd16x4(src, srcStride, ref, stride, 1), satd16x4(src + 4 * srcStride, srcStride, ref + 4 * stride, stride, 1)));
}

// MARK: - SSD

SSE4_INLINE __m128i ssd8(__m128i src, __m128i ref) {
  const __m128i d = _mm_sub_epi16(_mm_cvtepu8_epi16(src), _mm_cvtepu8_epi16(ref));
  return _mm_madd_epi16(d, d);
}

// All 16 samples of two registers.
SSE4_INLINE __m128i ssd16(__m128i src, __m128i ref) {
  const __m128i zero = _mm_setzero_si128();
  const __m128i d = _mm_sub_epi16(_mm_unpackhi_epi8(src, zero), _mm_unpackhi_epi8(ref, zero));
  return _mm_add_epi32(ssd8(src, ref), _mm_madd_epi16(d, d));
}

SSE4_INLINE __m128i ssdRows16(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m128i sum = _mm_setzero_si128();
  for (int y = 0; y < height; y++) sum = _mm_add_epi32(sum, ssd16(load16(src + y * srcStride), load16(ref + y * stride)));
  return sum;
}

SSE4_INLINE __m128i ssdRows8(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m128i sum = _mm_setzero_si128();
  for (int y = 0; y < height; y++) sum = _mm_add_epi32(sum, ssd8(load8(src + y * srcStride), load8(ref + y * stride)));
  return sum;
}

SSE4_INLINE __m128i ssdRows4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int height) {
  __m128i sum = _mm_setzero_si128();
  for (int y = 0; y < height; y += 2, src += 2 * srcStride, ref += 2 * stride)
    sum = _mm_add_epi32(sum, ssd8(load4x2(src, src + srcStride), load4x2(ref, ref + stride)));
  return sum;
}

#define SSD_SSE4(W, H)                                                                            \
  SSE4 static int ssd##W##x##H##Sse4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride) {  \
    return sum32(ssdRows##W(src, srcStride, ref, stride, H));                                                \
  }
SSD_SSE4(16, 16)
SSD_SSE4(16, 8)
SSD_SSE4(8, 16)
SSD_SSE4(8, 8)
SSD_SSE4(8, 4)
SSD_SSE4(4, 8)
SSD_SSE4(4, 4)

// A pair of Cb and Cr is one 16-bit lane: the even bytes are Cb, the odd ones Cr.
SSE4 static void ssdNV12Sse4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref, ptrdiff_t stride, int out[2]) {
  const __m128i low = _mm_set1_epi16(255);
  __m128i u = _mm_setzero_si128(), v = u;
  for (int y = 0; y < 8; y++) {
    const __m128i s = load16(src + y * srcStride), r = load16(ref + y * stride);
    const __m128i du = _mm_sub_epi16(_mm_and_si128(s, low), _mm_and_si128(r, low));
    const __m128i dv = _mm_sub_epi16(_mm_srli_epi16(s, 8), _mm_srli_epi16(r, 8));
    u = _mm_add_epi32(u, _mm_madd_epi16(du, du));
    v = _mm_add_epi32(v, _mm_madd_epi16(dv, dv));
  }
  out[0] = sum32(u), out[1] = sum32(v);
}

// MARK: - Whole rows and pictures

SSE4 static uint64_t variance16x16Sse4(const uint8_t *pixels, ptrdiff_t stride) {
  const __m128i zero = _mm_setzero_si128();
  __m128i sum = zero, squares = zero;
  for (int y = 0; y < 16; y++, pixels += stride) {
    const __m128i row = load16(pixels);
    const __m128i a = _mm_unpacklo_epi8(row, zero), b = _mm_unpackhi_epi8(row, zero);
    sum = _mm_add_epi32(sum, _mm_sad_epu8(row, zero));
    squares = _mm_add_epi32(squares, _mm_add_epi32(_mm_madd_epi16(a, a), _mm_madd_epi16(b, b)));
  }
  return (uint64_t)(uint32_t)sum32(squares) << 32 | (uint32_t)sum64(sum);
}

SSE4 static uint64_t ssdRowSse4(const uint8_t *a, const uint8_t *b, int n) {
  __m128i sum = _mm_setzero_si128();
  int x = 0;
  for (; x + 16 <= n; x += 16) sum = _mm_add_epi32(sum, ssd16(load16(a + x), load16(b + x)));
  return sumWide(sum) + ssdTail(a, b, x, n);
}

SSE4 static int satdOfAverageSse4(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
  uint8_t rows[16 * 16];
  for (int y = 0; y < 16; y++, a += stride, b += stride)
    store16(rows + y * 16, _mm_avg_epu8(load16(a), load16(b)));
  return satd16x16Sse4(src, srcStride, rows, 16);
}

// MARK: - The table

SHARED_KERNELS(SSE4, Sse4)

LARGER_SHAPES(LARGER_SAD, SSE4, Sse4)
LARGER_SHAPES(LARGER_SUMS, SSE4, Sse4)

#define FILL_SSE4(W, H)                            \
  k->sad[OVT_##W##x##H] = sad##W##x##H##Sse4;      \
  k->sadX4[OVT_##W##x##H] = sadX4_##W##x##H##Sse4; \
  k->satd[OVT_##W##x##H] = satd##W##x##H##Sse4;    \
  k->ssd[OVT_##W##x##H] = ssd##W##x##H##Sse4;

void ovt_compare_sse4(OVTVideoKernels *k) {
  FILL_SSE4(16, 16)
  FILL_SSE4(16, 8)
  FILL_SSE4(8, 16)
  FILL_SSE4(8, 8)
  FILL_SSE4(8, 4)
  FILL_SSE4(4, 8)
  FILL_SSE4(4, 4)
  FILL_SSE4(32, 32)
  FILL_SSE4(32, 16)
  FILL_SSE4(16, 32)
  FILL_SSE4(64, 32)
  FILL_SSE4(32, 64)
  FILL_SSE4(64, 64)
  k->sadOfAverage = sadOfAverageSse4;
  k->satdOfAverage = satdOfAverageSse4;
  k->ssdNV12 = ssdNV12Sse4;
  k->satdNV12 = satdNV12Sse4;
  k->variance16x16 = variance16x16Sse4;
  k->ssdRow = ssdRowSse4;
}

#endif
