// SPDX-License-Identifier: Apache-2.0
// Constant tables of ITU-T H.264 and small inline helpers of the entropy coder.
//
// The tables live in C so that Swift reads them by address, with no lazy initialiser and no bounds
// check. The accessors are inlined.

#ifndef H264TABLES_H
#define H264TABLES_H

#include <stdint.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

extern const int8_t ovt_cabac_init_table[4 * 460 * 2];
extern const uint8_t ovt_significant8x8_table[64];
extern const uint8_t ovt_last8x8_table[64];
extern const uint16_t ovt_coeff_token_table[5 * 17 * 4];
extern const uint16_t ovt_total_zeros_table[16 * 16];
extern const uint16_t ovt_total_zeros_dc_table[4 * 4];
extern const uint16_t ovt_run_before_table[8 * 16];
extern const uint8_t ovt_coded_block_pattern_table[2 * 48];
extern const uint16_t ovt_level_code_table[7 * 128];
extern const uint8_t ovt_deblock_alpha_table[52];
extern const uint8_t ovt_deblock_beta_table[52];
extern const uint8_t ovt_deblock_tc0_table[52 * 3];
extern const uint8_t ovt_zigzag8x8_table[64];
extern const uint8_t ovt_zigzag4x4_table[16];

// (m, n) pairs by ctxIdx 0...459; `column` is 0 for I slices, 1 + cabac_init_idc for P.
static inline const int8_t *ovt_cabac_init(int column) { return ovt_cabac_init_table + column * 920; }
// ctxIdxInc of significant_coeff_flag and last_significant_coeff_flag of 8x8 blocks by position.
static inline const uint8_t *ovt_significant8x8(void) { return ovt_significant8x8_table; }
static inline const uint8_t *ovt_last8x8(void) { return ovt_last8x8_table; }
// code << 8 | length by TotalCoeff * 4 + TrailingOnes. Class: 0 nC < 2, 1 nC < 4, 2 nC < 8, 3 nC >=
// 8, 4 chroma DC.
static inline const uint16_t *ovt_coeff_token(int class) { return ovt_coeff_token_table + class * 68; }
// code << 8 | length by TotalCoeff * 16 + total_zeros; for chroma DC by TotalCoeff * 4 +
// total_zeros.
static inline const uint16_t *ovt_total_zeros(void) { return ovt_total_zeros_table; }
static inline const uint16_t *ovt_total_zeros_dc(void) { return ovt_total_zeros_dc_table; }
// code << 8 | length by min(zerosLeft, 7) * 16 + run_before.
static inline const uint16_t *ovt_run_before(void) { return ovt_run_before_table; }
// codeNum of me(v) by coded_block_pattern; `inter` 0 or 1.
static inline const uint8_t *ovt_coded_block_pattern(int inter) { return ovt_coded_block_pattern_table + inter * 48; }
// By suffixLength * 128 + level + 64: code << 8 | length << 3 | next suffixLength; 0: an escape.
static inline const uint16_t *ovt_level_code(void) { return ovt_level_code_table; }
// Deblocking thresholds by indexA / indexB 0...51; tC0 by indexA * 3 + bS - 1.
static inline const uint8_t *ovt_deblock_alpha(void) { return ovt_deblock_alpha_table; }
static inline const uint8_t *ovt_deblock_beta(void) { return ovt_deblock_beta_table; }
static inline const uint8_t *ovt_deblock_tc0(void) { return ovt_deblock_tc0_table; }
// Raster index of each scan position (frame scan).
static inline const uint8_t *ovt_zigzag8x8(void) { return ovt_zigzag8x8_table; }
static inline const uint8_t *ovt_zigzag4x4(void) { return ovt_zigzag4x4_table; }

#if defined(__ARM_NEON) && !defined(__SSE2__)
// Of 16 levels a bit each, not yet added.
static inline uint8x16_t ovt_level_bits16(const int16_t *levels) {
  const int16x8_t a = vld1q_s16(levels), b = vld1q_s16(levels + 8);
  const uint8x16_t set = vcombine_u8(vmovn_u16(vtstq_s16(a, a)), vmovn_u16(vtstq_s16(b, b)));
  return vandq_u8(set, vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201)));
}
#endif

// A bit for each of 16 levels that is not zero.
static inline uint32_t ovt_nonzero_levels16(const int16_t *levels) {
#if defined(__SSE2__)
  const __m128i low = _mm_loadu_si128((const __m128i *)levels);
  const __m128i high = _mm_loadu_si128((const __m128i *)(levels + 8));
  const __m128i zero = _mm_cmpeq_epi8(_mm_packs_epi16(low, high), _mm_setzero_si128());
  return (uint32_t)_mm_movemask_epi8(zero) ^ 0xFFFFu;
#elif defined(__ARM_NEON)
  const uint8x16_t bits = ovt_level_bits16(levels);
  return (uint32_t)vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
#else
  uint32_t mask = 0;
  for (int i = 0; i < 16; i++) mask |= (uint32_t)(levels[i] != 0) << i;
  return mask;
#endif
}

// A bit for each of 64 levels that is not zero.
static inline uint64_t ovt_nonzero_levels64(const int16_t *levels) {
#if defined(__ARM_NEON) && !defined(__SSE2__)
  const uint8x16_t a = vpaddq_u8(ovt_level_bits16(levels), ovt_level_bits16(levels + 16));
  const uint8x16_t b = vpaddq_u8(ovt_level_bits16(levels + 32), ovt_level_bits16(levels + 48));
  const uint8x16_t sums = vpaddq_u8(a, b);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
#else
  return (uint64_t)ovt_nonzero_levels16(levels) | (uint64_t)ovt_nonzero_levels16(levels + 16) << 16 |
         (uint64_t)ovt_nonzero_levels16(levels + 32) << 32 | (uint64_t)ovt_nonzero_levels16(levels + 48) << 48;
#endif
}

// A bit for each of 4 levels that is not zero.
static inline uint32_t ovt_nonzero_levels4(const int16_t *levels) {
  return (uint32_t)(levels[0] != 0) | (uint32_t)(levels[1] != 0) << 1 | (uint32_t)(levels[2] != 0) << 2 |
         (uint32_t)(levels[3] != 0) << 3;
}

// A bit for each of the 24 counts of a macroblock that is not zero.
static inline uint32_t ovt_nonzero_counts24(const uint8_t *counts) {
#if defined(__SSE2__)
  const __m128i luma = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)counts), _mm_setzero_si128());
  const __m128i chroma = _mm_cmpeq_epi8(_mm_loadl_epi64((const __m128i *)(counts + 16)), _mm_setzero_si128());
  return ((uint32_t)_mm_movemask_epi8(luma) | (uint32_t)(_mm_movemask_epi8(chroma) & 0xFF) << 16) ^ 0xFFFFFFu;
#else
  uint32_t mask = 0;
  for (int i = 0; i < 24; i++) mask |= (uint32_t)(counts[i] != 0) << i;
  return mask;
#endif
}

// Sum of the magnitudes of `count` levels, a multiple of 8.
static inline uint32_t ovt_sum_magnitudes(const int16_t *levels, int count) {
  uint32_t sum = 0;
#if defined(__SSE2__)
  __m128i total = _mm_setzero_si128();
  for (int i = 0; i < count; i += 8) {
    const __m128i v = _mm_loadu_si128((const __m128i_u *)(levels + i));
    // Saturated, so that the least of all is a magnitude too.
    const __m128i size = _mm_max_epi16(v, _mm_subs_epi16(_mm_setzero_si128(), v));
    total = _mm_add_epi32(total, _mm_madd_epi16(size, _mm_set1_epi16(1)));
  }
  total = _mm_add_epi32(total, _mm_srli_si128(total, 8));
  sum = (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(total, _mm_srli_si128(total, 4)));
#elif defined(__ARM_NEON)
  uint32x4_t total = vdupq_n_u32(0);
  for (int i = 0; i < count; i += 8)
    total = vpadalq_u16(total, vreinterpretq_u16_s16(vqabsq_s16(vld1q_s16(levels + i))));
  sum = vaddvq_u32(total);
#else
  for (int i = 0; i < count; i++) sum += (uint32_t)(levels[i] < 0 ? -levels[i] : levels[i]);
#endif
  return sum;
}

#endif
