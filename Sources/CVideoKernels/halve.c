// SPDX-License-Identifier: Apache-2.0
// Half-size pictures. Every x86-64 has SSE2 and every 64-bit ARM NEON, so there is nothing to
// choose.

#include "stages.h"

#if OVT_X86
#include <emmintrin.h>

// Sums of pairs of the 16 samples at `a` and of those at `b`.
OVT_INLINE __m128i pairs(const uint8_t *a, const uint8_t *b) {
  const __m128i even = _mm_set1_epi16(255);
  const __m128i p = _mm_loadu_si128((const __m128i_u *)a), q = _mm_loadu_si128((const __m128i_u *)b);
  const __m128i first = _mm_add_epi16(_mm_and_si128(p, even), _mm_and_si128(q, even));
  return _mm_add_epi16(first, _mm_add_epi16(_mm_srli_epi16(p, 8), _mm_srli_epi16(q, 8)));
}

static int halveVectors(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n) {
  const __m128i round = _mm_set1_epi16(2);
  int i = 0;
  // The next two rows of a picture, as a rule.
  const uintptr_t next = 2 * ((uintptr_t)b - (uintptr_t)a);
  for (; i + 16 <= n; i += 16) {
    if (!(i & 16)) {
      __builtin_prefetch((const void *)((uintptr_t)a + 2 * i + next));
      __builtin_prefetch((const void *)((uintptr_t)b + 2 * i + next));
    }
    const __m128i low = _mm_srli_epi16(_mm_add_epi16(pairs(a + 2 * i, b + 2 * i), round), 2);
    const __m128i high = _mm_srli_epi16(_mm_add_epi16(pairs(a + 2 * i + 16, b + 2 * i + 16), round), 2);
    _mm_storeu_si128((__m128i_u *)(dst + i), _mm_packus_epi16(low, high));
  }
  return i;
}

#elif OVT_ARM64
#include <arm_neon.h>

static int halveVectors(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n) {
  int i = 0;
  for (; i + 8 <= n; i += 8)
    vst1_u8(dst + i, vrshrn_n_u16(vpadalq_u8(vpaddlq_u8(vld1q_u8(a + 2 * i)), vld1q_u8(b + 2 * i)), 2));
  return i;
}

#else

static int halveVectors(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n) {
  (void)dst, (void)a, (void)b, (void)n;
  return 0;
}

#endif

void ovt_halve_row(uint8_t *restrict dst, const uint8_t *restrict a, const uint8_t *restrict b, int n) {
  for (int i = halveVectors(dst, a, b, n); i < n; i++)
    dst[i] = (uint8_t)((a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1] + 2) >> 2);
}
