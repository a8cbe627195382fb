// SPDX-License-Identifier: Apache-2.0
// Inter prediction samples (8.4.2.2): chroma and half-sample planes. SSE4.

#include "motion_x86.h"

#if OVT_X86

// MARK: - Chroma

SSE4_INLINE __m128i roundChroma(__m128i above, __m128i below) {
  return _mm_mulhrs_epi16(_mm_add_epi16(above, below), _mm_set1_epi16(512));  // (sum + 32) >> 6
}

SSE4 static void chroma8Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,
                             int xFrac, int yFrac, int height) {
  if ((xFrac | yFrac) == 0) {
    for (int y = 0; y < height; y++, dst += dstStride, src += srcStride) store16(dst, load16(src));
    return;
  }
  const __m128i ab = _mm_set1_epi16(weightPair(xFrac, 8 - yFrac)), cd = _mm_set1_epi16(weightPair(xFrac, yFrac));
  __m128i left = load16(src), right = load16(src + 2);
  __m128i low = _mm_unpacklo_epi8(left, right), high = _mm_unpackhi_epi8(left, right);
  for (int y = 0; y < height; y++, dst += dstStride) {
    src += srcStride;
    left = load16(src), right = load16(src + 2);
    const __m128i lowBelow = _mm_unpacklo_epi8(left, right), highBelow = _mm_unpackhi_epi8(left, right);
    store16(dst, _mm_packus_epi16(roundChroma(_mm_maddubs_epi16(low, ab), _mm_maddubs_epi16(lowBelow, cd)),
                                  roundChroma(_mm_maddubs_epi16(high, ab), _mm_maddubs_epi16(highBelow, cd))));
    low = lowBelow, high = highBelow;
  }
}

SSE4_INLINE __m128i neighbours8(const uint8_t *src) { return _mm_unpacklo_epi8(load8(src), load8(src + 2)); }

SSE4 static void chroma4Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,
                             int xFrac, int yFrac, int height) {
  const __m128i ab = _mm_set1_epi16(weightPair(xFrac, 8 - yFrac)), cd = _mm_set1_epi16(weightPair(xFrac, yFrac));
  __m128i row = neighbours8(src);
  for (int y = 0; y < height; y += 2, dst += 2 * dstStride) {
    const __m128i next = neighbours8(src + srcStride), last = neighbours8(src + 2 * srcStride);
    src += 2 * srcStride;
    const __m128i out =
        _mm_packus_epi16(roundChroma(_mm_maddubs_epi16(row, ab), _mm_maddubs_epi16(next, cd)),
                         roundChroma(_mm_maddubs_epi16(next, ab), _mm_maddubs_epi16(last, cd)));
    store8(dst, out);
    store8(dst + dstStride, _mm_unpackhi_epi64(out, out));
    row = last;
  }
}

// Two rows of two pairs each.
SSE4_INLINE __m128i neighbours4(const uint8_t *src, ptrdiff_t stride) {
  const __m128i rows = load8x2(src, src + stride);
  return _mm_shuffle_epi8(rows, _mm_setr_epi8(0, 2, 1, 3, 2, 4, 3, 5, 8, 10, 9, 11, 10, 12, 11, 13));
}

SSE4 static void chroma2Sse4(uint8_t *dst, ptrdiff_t dstStride, const uint8_t *src, ptrdiff_t srcStride,
                             int xFrac, int yFrac, int height) {
  const __m128i ab = _mm_set1_epi16(weightPair(xFrac, 8 - yFrac)), cd = _mm_set1_epi16(weightPair(xFrac, yFrac));
  for (int y = 0; y < height; y += 2, dst += 2 * dstStride, src += 2 * srcStride) {
    const __m128i sum = roundChroma(_mm_maddubs_epi16(neighbours4(src, srcStride), ab),
                                    _mm_maddubs_epi16(neighbours4(src + srcStride, srcStride), cd));
    const __m128i out = _mm_packus_epi16(sum, sum);
    store4(dst, out);
    store4(dst + dstStride, _mm_srli_si128(out, 4));
  }
}

// MARK: - Half-sample planes

// A row in two passes: the vertical intermediates of all of it into `scratch` (which begins at x =
// -2), then the three planes. j is (a - 5b + 20c + 512) >> 10 with a, b, c the sums of outer,
// middle and inner taps. As floors nest, that is ((((a - b) >> 2) - b + c) >> 2) + c, plus 32, >>
// 6, all in 16 bits: only the addition of c may overflow, and where it saturates the result is
// beyond 0 or 255 by far.

SSE4_INLINE __m128i tapsLow(__m128i e, __m128i f, __m128i g, __m128i h, __m128i i, __m128i j) {
  return _mm_add_epi16(
      _mm_add_epi16(_mm_maddubs_epi16(_mm_unpacklo_epi8(e, f), _mm_set1_epi16(bytePair(1, -5))),
                    _mm_maddubs_epi16(_mm_unpacklo_epi8(i, j), _mm_set1_epi16(bytePair(-5, 1)))),
      _mm_maddubs_epi16(_mm_unpacklo_epi8(g, h), _mm_set1_epi16(bytePair(20, 20))));
}

SSE4_INLINE __m128i tapsHigh(__m128i e, __m128i f, __m128i g, __m128i h, __m128i i, __m128i j) {
  return _mm_add_epi16(
      _mm_add_epi16(_mm_maddubs_epi16(_mm_unpackhi_epi8(e, f), _mm_set1_epi16(bytePair(1, -5))),
                    _mm_maddubs_epi16(_mm_unpackhi_epi8(i, j), _mm_set1_epi16(bytePair(-5, 1)))),
      _mm_maddubs_epi16(_mm_unpackhi_epi8(g, h), _mm_set1_epi16(bytePair(20, 20))));
}

SSE4_INLINE __m128i centre8(const int16_t *v, __m128i v2) {
  const __m128i a = _mm_add_epi16(load16(v), load16(v + 5)), b = _mm_add_epi16(load16(v + 1), load16(v + 4));
  const __m128i c = _mm_add_epi16(v2, load16(v + 3));
  const __m128i d = _mm_adds_epi16(_mm_sub_epi16(_mm_srai_epi16(_mm_sub_epi16(a, b), 2), b), c);
  return _mm_mulhrs_epi16(_mm_add_epi16(_mm_srai_epi16(d, 2), c), _mm_set1_epi16(512));
}

SSE4 static void halfSampleSse4(uint8_t *b, uint8_t *h, uint8_t *j, const uint8_t *src, ptrdiff_t stride, int width,
                                int height, int16_t *scratch) {
  const __m128i round5 = _mm_set1_epi16(1024);  // pmulhrsw: (v + 16) >> 5
  for (int y = 0; y < height; y++, src += stride, b += stride, h += stride, j += stride) {
    for (int x = 0; x < width + 5; x += 16) {
      const uint8_t *s = src + x - 2;
      const __m128i r0 = load16(s - 2 * stride), r1 = load16(s - stride), r2 = load16(s);
      const __m128i r3 = load16(s + stride), r4 = load16(s + 2 * stride), r5 = load16(s + 3 * stride);
      store16(scratch + x, tapsLow(r0, r1, r2, r3, r4, r5));
      store16(scratch + x + 8, tapsHigh(r0, r1, r2, r3, r4, r5));
    }
    for (int x = 0; x < width; x += 16) {
      const uint8_t *s = src + x;
      const int16_t *v = scratch + x;
      const __m128i s0 = load16(s - 2), s1 = load16(s - 1), s2 = load16(s), s3 = load16(s + 1), s4 = load16(s + 2),
                    s5 = load16(s + 3);
      const __m128i low = load16(v + 2), high = load16(v + 10);
      store16(b + x, _mm_packus_epi16(_mm_mulhrs_epi16(tapsLow(s0, s1, s2, s3, s4, s5), round5),
                                      _mm_mulhrs_epi16(tapsHigh(s0, s1, s2, s3, s4, s5), round5)));
      store16(h + x, _mm_packus_epi16(_mm_mulhrs_epi16(low, round5), _mm_mulhrs_epi16(high, round5)));
      store16(j + x, _mm_packus_epi16(centre8(v, low), centre8(v + 8, high)));
    }
  }
}

// MARK: - The table

void ovt_motion_sse4(OVTKernels *k) {
  k->chroma[0] = chroma8Sse4;
  k->chroma[1] = chroma4Sse4;
  k->chroma[2] = chroma2Sse4;
  k->halfSample = halfSampleSse4;
}

#endif
