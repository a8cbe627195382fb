// SPDX-License-Identifier: Apache-2.0
// Inter prediction samples (8.4.2.2): chroma and half-sample planes. AVX2.

#include "motion_x86.h"

#if OVT_X86

// MARK: - Chroma

// Two rows in the halves of a register.
AVX2_INLINE void neighbours16x2(const uint8_t *src, ptrdiff_t stride, __m256i *low, __m256i *high) {
  const __m256i left = load16x2(src, src + stride), right = load16x2(src + 2, src + stride + 2);
  *low = _mm256_unpacklo_epi8(left, right);
  *high = _mm256_unpackhi_epi8(left, right);
}

AVX2 static void chroma8Avx2(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,
                             int xFrac, int yFrac, int height) {
  if ((xFrac | yFrac) == 0) {
    for (int y = 0; y < height; y++, dst += dstStride, src += srcStride) store16(dst, load16(src));
    return;
  }
  const __m256i ab = _mm256_set1_epi16(weightPair(xFrac, 8 - yFrac));
  const __m256i cd = _mm256_set1_epi16(weightPair(xFrac, yFrac)), rounding = _mm256_set1_epi16(512);
  for (int y = 0; y < height; y += 2, dst += 2 * dstStride, src += 2 * srcStride) {
    __m256i low, high, lowBelow, highBelow;
    neighbours16x2(src, srcStride, &low, &high);
    neighbours16x2(src + srcStride, srcStride, &lowBelow, &highBelow);
    low = _mm256_add_epi16(_mm256_maddubs_epi16(low, ab), _mm256_maddubs_epi16(lowBelow, cd));
    high = _mm256_add_epi16(_mm256_maddubs_epi16(high, ab), _mm256_maddubs_epi16(highBelow, cd));
    const __m256i out =
        _mm256_packus_epi16(_mm256_mulhrs_epi16(low, rounding), _mm256_mulhrs_epi16(high, rounding));
    store16(dst, _mm256_castsi256_si128(out));
    store16(dst + dstStride, _mm256_extracti128_si256(out, 1));
  }
}

// MARK: - Half-sample planes

typedef struct {
  __m256i low, high;
} Taps256;

AVX2_INLINE Taps256 taps256(const uint8_t *s, ptrdiff_t step) {
  const __m256i outer = _mm256_set1_epi16(bytePair(1, -5)), outerBack = _mm256_set1_epi16(bytePair(-5, 1));
  const __m256i inner = _mm256_set1_epi16(bytePair(20, 20));
  const __m256i e = load32(s - 2 * step), f = load32(s - step), g = load32(s);
  const __m256i h = load32(s + step), i = load32(s + 2 * step), j = load32(s + 3 * step);
  Taps256 t;
  t.low = _mm256_add_epi16(_mm256_add_epi16(_mm256_maddubs_epi16(_mm256_unpacklo_epi8(e, f), outer),
                                            _mm256_maddubs_epi16(_mm256_unpacklo_epi8(i, j), outerBack)),
                           _mm256_maddubs_epi16(_mm256_unpacklo_epi8(g, h), inner));
  t.high = _mm256_add_epi16(_mm256_add_epi16(_mm256_maddubs_epi16(_mm256_unpackhi_epi8(e, f), outer),
                                             _mm256_maddubs_epi16(_mm256_unpackhi_epi8(i, j), outerBack)),
                            _mm256_maddubs_epi16(_mm256_unpackhi_epi8(g, h), inner));
  return t;
}

// The horizontal taps without unpacking: pairs from even positions on are the even samples, those
// from odd positions on the odd ones.
AVX2_INLINE __m256i tapsEverySecond(const uint8_t *s) {
  const __m256i outer = _mm256_set1_epi16(bytePair(1, -5)), outerBack = _mm256_set1_epi16(bytePair(-5, 1));
  const __m256i inner = _mm256_set1_epi16(bytePair(20, 20));
  return _mm256_add_epi16(
      _mm256_add_epi16(_mm256_maddubs_epi16(load32(s - 2), outer), _mm256_maddubs_epi16(load32(s + 2), outerBack)),
      _mm256_maddubs_epi16(load32(s), inner));
}

AVX2_INLINE __m256i centre16(const int16_t *v, __m256i v2) {
  const __m256i a = _mm256_add_epi16(load32(v), load32(v + 5));
  const __m256i b = _mm256_add_epi16(load32(v + 1), load32(v + 4)), c = _mm256_add_epi16(v2, load32(v + 3));
  const __m256i d = _mm256_adds_epi16(_mm256_sub_epi16(_mm256_srai_epi16(_mm256_sub_epi16(a, b), 2), b), c);
  return _mm256_mulhrs_epi16(_mm256_add_epi16(_mm256_srai_epi16(d, 2), c), _mm256_set1_epi16(512));
}

// Packs 32 int16_t in order.
AVX2_INLINE __m256i packInOrder(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0xd8);
}

AVX2 static void halfSampleAvx2(uint8_t *b, uint8_t *h, uint8_t *j, const uint8_t *src, ptrdiff_t stride, int width,
                                int height, int16_t *scratch) {
  const __m256i round5 = _mm256_set1_epi16(1024);  // pmulhrsw: (v + 16) >> 5
  const __m256i zip =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  for (int y = 0; y < height; y++, src += stride, b += stride, h += stride, j += stride) {
    for (int x = 0; x < width + 5; x += 32) {
      const Taps256 t = taps256(src + x - 2, stride);
      store32(scratch + x, _mm256_permute2x128_si256(t.low, t.high, 0x20));
      store32(scratch + x + 16, _mm256_permute2x128_si256(t.low, t.high, 0x31));
    }
    for (int x = 0; x < width; x += 32) {
      const int16_t *v = scratch + x;
      const __m256i even = _mm256_mulhrs_epi16(tapsEverySecond(src + x), round5);
      const __m256i odd = _mm256_mulhrs_epi16(tapsEverySecond(src + x + 1), round5);
      const __m256i first = load32(v + 2), second = load32(v + 18);
      store32(b + x, _mm256_shuffle_epi8(_mm256_packus_epi16(even, odd), zip));
      store32(h + x, packInOrder(_mm256_mulhrs_epi16(first, round5), _mm256_mulhrs_epi16(second, round5)));
      store32(j + x, packInOrder(centre16(v, first), centre16(v + 16, second)));
    }
  }
}

// MARK: - The table

void ovt_motion_avx2(OVTKernels *k) {
  k->chroma[0] = chroma8Avx2;
  k->halfSample = halfSampleAvx2;
}

#endif
