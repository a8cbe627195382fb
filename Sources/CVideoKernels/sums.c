// SPDX-License-Identifier: Apache-2.0
// Sums of samples and of their squares. Every x86-64 has SSE2 and every 64-bit ARM NEON, so there
// is nothing to choose.

#include "stages.h"

#if OVT_X86
#include <emmintrin.h>
#elif OVT_ARM64
#include <arm_neon.h>
#endif

// Each adds what it does of n samples that follow one another, or of the first of n pairs, and
// returns how many.
#if OVT_X86

OVT_INLINE uint32_t lanes(__m128i v) {
  v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
  return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1)));
}

static int addSamples(const uint8_t *p, int n, uint32_t *sum, uint32_t *squares) {
  const __m128i zero = _mm_setzero_si128();
  __m128i s = zero, q = zero, r = zero;
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m128i v = _mm_loadu_si128((const __m128i_u *)(p + i));
    const __m128i low = _mm_unpacklo_epi8(v, zero), high = _mm_unpackhi_epi8(v, zero);
    s = _mm_add_epi32(s, _mm_sad_epu8(v, zero));
    q = _mm_add_epi32(q, _mm_madd_epi16(low, low)), r = _mm_add_epi32(r, _mm_madd_epi16(high, high));
  }
  *sum += lanes(s), *squares += lanes(_mm_add_epi32(q, r));
  return i;
}

// The second sample of the last pair is not read.
static int addFirsts(const uint8_t *p, int n, uint32_t *sum, uint32_t *squares) {
  const __m128i zero = _mm_setzero_si128(), first = _mm_set1_epi16(255);
  __m128i s = zero, q = zero;
  int i = 0;
  for (; i + 8 < n; i += 8) {
    const __m128i v = _mm_and_si128(_mm_loadu_si128((const __m128i_u *)(p + 2 * i)), first);
    s = _mm_add_epi32(s, _mm_sad_epu8(v, zero)), q = _mm_add_epi32(q, _mm_madd_epi16(v, v));
  }
  *sum += lanes(s), *squares += lanes(q);
  return i;
}

// Of blocks of 32 samples side by side.
static int addBlocks(const uint8_t *p, int blocks, uint32_t *sums, uint32_t *squares, const uint8_t *next) {
  const __m128i zero = _mm_setzero_si128();
  __m128i q = zero, r = zero;
  for (int i = 0; i < blocks; i++, p += 32, next += 32) {
    if (!(i & 1)) __builtin_prefetch(next);
    const __m128i a = _mm_loadu_si128((const __m128i_u *)p), b = _mm_loadu_si128((const __m128i_u *)(p + 16));
    const __m128i s = _mm_add_epi32(_mm_sad_epu8(a, zero), _mm_sad_epu8(b, zero));
    sums[i] += (uint32_t)_mm_cvtsi128_si32(s) + (uint32_t)_mm_cvtsi128_si32(_mm_unpackhi_epi64(s, s));
    const __m128i a0 = _mm_unpacklo_epi8(a, zero), a1 = _mm_unpackhi_epi8(a, zero);
    const __m128i b0 = _mm_unpacklo_epi8(b, zero), b1 = _mm_unpackhi_epi8(b, zero);
    q = _mm_add_epi32(q, _mm_add_epi32(_mm_madd_epi16(a0, a0), _mm_madd_epi16(a1, a1)));
    r = _mm_add_epi32(r, _mm_add_epi32(_mm_madd_epi16(b0, b0), _mm_madd_epi16(b1, b1)));
  }
  *squares += lanes(_mm_add_epi32(q, r));
  return blocks;
}

#elif OVT_ARM64

OVT_INLINE void addVector(uint8x16_t v, uint32x4_t *s, uint32x4_t *q) {
  *s = vpadalq_u16(*s, vpaddlq_u8(v));
  *q = vpadalq_u16(*q, vmull_u8(vget_low_u8(v), vget_low_u8(v)));
  *q = vpadalq_u16(*q, vmull_high_u8(v, v));
}

static int addSamples(const uint8_t *p, int n, uint32_t *sum, uint32_t *squares) {
  uint32x4_t s = vdupq_n_u32(0), q = s;
  int i = 0;
  for (; i + 16 <= n; i += 16) addVector(vld1q_u8(p + i), &s, &q);
  *sum += vaddvq_u32(s), *squares += vaddvq_u32(q);
  return i;
}

// The second sample of the last pair is not read.
static int addFirsts(const uint8_t *p, int n, uint32_t *sum, uint32_t *squares) {
  uint32x4_t s = vdupq_n_u32(0), q = s;
  int i = 0;
  for (; i + 16 < n; i += 16) addVector(vld2q_u8(p + 2 * i).val[0], &s, &q);
  *sum += vaddvq_u32(s), *squares += vaddvq_u32(q);
  return i;
}

static int addBlocks(const uint8_t *p, int blocks, uint32_t *sums, uint32_t *squares, const uint8_t *next) {
  uint32x4_t q = vdupq_n_u32(0);
  for (int i = 0; i < blocks; i++, p += 32, next += 32) {
    if (!(i & 1)) __builtin_prefetch(next);
    uint32x4_t s = vdupq_n_u32(0);
    addVector(vld1q_u8(p), &s, &q), addVector(vld1q_u8(p + 16), &s, &q);
    sums[i] += vaddvq_u32(s);
  }
  *squares += vaddvq_u32(q);
  return blocks;
}

#else

static int addBlocks(const uint8_t *p, int blocks, uint32_t *sums, uint32_t *squares, const uint8_t *next) {
  (void)p, (void)blocks, (void)sums, (void)squares, (void)next;
  return 0;
}
static int addSamples(const uint8_t *p, int n, uint32_t *sum, uint32_t *squares) {
  (void)p, (void)n, (void)sum, (void)squares;
  return 0;
}
static int addFirsts(const uint8_t *p, int n, uint32_t *sum, uint32_t *squares) {
  (void)p, (void)n, (void)sum, (void)squares;
  return 0;
}

#endif

void ovt_sums(const uint8_t *p, int n, int step, uint32_t *sum, uint32_t *squares) {
  uint32_t s = 0, q = 0;
  int i = step == 1 ? addSamples(p, n, &s, &q) : step == 2 ? addFirsts(p, n, &s, &q) : 0;
  for (; i < n; i++) s += p[i * step], q += (uint32_t)p[i * step] * p[i * step];
  *sum += s;
  *squares += q;
}

void ovt_block_sums(const uint8_t *p, int blocks, uint32_t *sums, uint32_t *squares, const uint8_t *next) {
  for (int i = addBlocks(p, blocks, sums, squares, next); i < blocks; i++) ovt_sums(p + 32 * i, 32, 1, sums + i, squares);
}
