// Pictures, a row at a time. SSE4 and AVX2.

#include "x86.h"

#if OVT_X86

// The last samples of a row that is no multiple of the step are done by a step that ends with the row
// and does some of them again; rows shorter than a step go sample by sample.

OVT_INLINE int lastStep(int x, int n, int step) { return x + step <= n ? x : n - step; }

// MARK: - Interleaving

SSE4_INLINE void interleave16(uint8_t *dst, const uint8_t *u, const uint8_t *v) {
  const __m128i a = load16(u), b = load16(v);
  store16(dst, _mm_unpacklo_epi8(a, b));
  store16(dst + 16, _mm_unpackhi_epi8(a, b));
}

SSE4_INLINE void interleaveRowBy16(uint8_t *dst, const uint8_t *u, const uint8_t *v, int n) {
  if (n < 16) {
    for (int x = 0; x < n; x++) dst[2 * x] = u[x], dst[2 * x + 1] = v[x];
    return;
  }
  for (int x = 0; x < n; x += 16) {
    const int at = lastStep(x, n, 16);
    interleave16(dst + 2 * at, u + at, v + at);
  }
}

SSE4 static void interleaveRowSse4(uint8_t *dst, const uint8_t *u, const uint8_t *v, int n) {
  interleaveRowBy16(dst, u, v, n);
}

AVX2 static void interleaveRowAvx2(uint8_t *dst, const uint8_t *u, const uint8_t *v, int n) {
  if (n < 32) {
    interleaveRowBy16(dst, u, v, n);
    return;
  }
  for (int x = 0; x < n; x += 32) {
    const int at = lastStep(x, n, 32);
    const __m256i a = load32(u + at), b = load32(v + at);
    const __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
    store32(dst + 2 * at, _mm256_permute2x128_si256(low, high, 0x20));
    store32(dst + 2 * at + 32, _mm256_permute2x128_si256(low, high, 0x31));
  }
}

SSE4_INLINE void interleave8x8Planes(uint8_t *dst, const uint8_t *u, ptrdiff_t uStride, const uint8_t *v,
                                     ptrdiff_t vStride) {
  for (int y = 0; y < 8; y++, dst += 16, u += uStride, v += vStride)
    store16(dst, _mm_unpacklo_epi8(load8(u), load8(v)));
}

// MARK: - Deinterleaving

SSE4_INLINE void deinterleaveRowBy16(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  if (n < 16) {
    for (int x = 0; x < n; x++) u[x] = src[2 * x], v[x] = src[2 * x + 1];
    return;
  }
  const __m128i low = _mm_set1_epi16(255);
  for (int x = 0; x < n; x += 16) {
    const int at = lastStep(x, n, 16);
    const __m128i a = load16(src + 2 * at), b = load16(src + 2 * at + 16);
    store16(u + at, _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)));
    store16(v + at, _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
  }
}

SSE4 static void deinterleaveRowSse4(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  deinterleaveRowBy16(u, v, src, n);
}

AVX2_INLINE __m256i packInOrder(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0xd8);
}

AVX2 static void deinterleaveRowAvx2(uint8_t *u, uint8_t *v, const uint8_t *src, int n) {
  if (n < 32) {
    deinterleaveRowBy16(u, v, src, n);
    return;
  }
  const __m256i low = _mm256_set1_epi16(255);
  for (int x = 0; x < n; x += 32) {
    const int at = lastStep(x, n, 32);
    const __m256i a = load32(src + 2 * at), b = load32(src + 2 * at + 32);
    store32(u + at, packInOrder(_mm256_and_si256(a, low), _mm256_and_si256(b, low)));
    store32(v + at, packInOrder(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)));
  }
}

// MARK: - Half resolution

SSE4_INLINE __m128i halve8(const uint8_t *a, const uint8_t *b) {
  const __m128i one = _mm_set1_epi8(1);
  const __m128i sum = _mm_add_epi16(_mm_maddubs_epi16(load16(a), one), _mm_maddubs_epi16(load16(b), one));
  return _mm_mulhrs_epi16(sum, _mm_set1_epi16(8192));  // (sum + 2) >> 2
}

SSE4_INLINE void halveRowBy16(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n) {
  if (n < 16) {
    for (int x = 0; x < n; x++)
      dst[x] = (uint8_t)((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2);
    return;
  }
  for (int x = 0; x < n; x += 16) {
    const int at = lastStep(x, n, 16);
    store16(dst + at, _mm_packus_epi16(halve8(a + 2 * at, b + 2 * at), halve8(a + 2 * at + 16, b + 2 * at + 16)));
  }
}

SSE4 static void halveRowSse4(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n) {
  halveRowBy16(dst, a, b, n);
}

AVX2_INLINE __m256i halve16(const uint8_t *a, const uint8_t *b) {
  const __m256i one = _mm256_set1_epi8(1);
  const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(load32(a), one), _mm256_maddubs_epi16(load32(b), one));
  return _mm256_mulhrs_epi16(sum, _mm256_set1_epi16(8192));
}

AVX2 static void halveRowAvx2(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n) {
  if (n < 32) {
    halveRowBy16(dst, a, b, n);
    return;
  }
  for (int x = 0; x < n; x += 32) {
    const int at = lastStep(x, n, 32);
    store32(dst + at, packInOrder(halve16(a + 2 * at, b + 2 * at), halve16(a + 2 * at + 32, b + 2 * at + 32)));
  }
}

// MARK: - The table

ON_BOTH_PATHS(void, interleave8x8Planes,
              (uint8_t *dst, const uint8_t *u, ptrdiff_t uStride, const uint8_t *v, ptrdiff_t vStride), dst, u,
              uStride, v, vStride)

void ovt_picture_sse4(OVTKernels *k) {
  k->interleave8x8Planes = interleave8x8PlanesSse4;
  k->interleaveRow = interleaveRowSse4;
  k->deinterleaveRow = deinterleaveRowSse4;
  k->halveRow = halveRowSse4;
}

void ovt_picture_avx2(OVTKernels *k) {
  k->interleave8x8Planes = interleave8x8PlanesAvx2;
  k->interleaveRow = interleaveRowAvx2;
  k->deinterleaveRow = deinterleaveRowAvx2;
  k->halveRow = halveRowAvx2;
}

#endif
