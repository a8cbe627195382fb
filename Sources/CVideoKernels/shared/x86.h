// SPDX-License-Identifier: Apache-2.0
// Helpers that the x86 files share, here and in the modules of codecs. SSE4 stands for SSE2 to
// SSE4.1.
#ifndef OVT_X86_H
#define OVT_X86_H

#include "sets.h"

#if OVT_X86

#include <immintrin.h>

#define SSE4 __attribute__((target("sse4.1")))
#define AVX2 __attribute__((target("avx2")))
#define AVX512_TARGET target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")
#define AVX512 __attribute__((AVX512_TARGET))
#define SSE4_INLINE static inline __attribute__((always_inline, target("sse4.1")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))
#define AVX512_INLINE static inline __attribute__((always_inline, AVX512_TARGET))

// An SSE4_INLINE body as a kernel of a set, named with its suffix.
#define KERNEL(SET, SUFFIX, RESULT, NAME, PARAMETERS, ...) \
  SET static RESULT NAME##SUFFIX PARAMETERS { return NAME(__VA_ARGS__); }

// MARK: - Loads and stores

SSE4_INLINE __m128i load16(const void *p) { return _mm_loadu_si128((const __m128i_u *)p); }
SSE4_INLINE __m128i load8(const void *p) { return _mm_loadl_epi64((const __m128i_u *)p); }
SSE4_INLINE __m128i load4(const void *p) { return _mm_loadu_si32(p); }
SSE4_INLINE void store16(void *p, __m128i v) { _mm_storeu_si128((__m128i_u *)p, v); }
SSE4_INLINE void store8(void *p, __m128i v) { _mm_storel_epi64((__m128i_u *)p, v); }
SSE4_INLINE void store4(void *p, __m128i v) { _mm_storeu_si32(p, v); }
SSE4_INLINE __m128i widen8(const void *p) { return _mm_cvtepu8_epi16(load8(p)); }
// Two rows of 8 bytes, or of 4, in one register.
SSE4_INLINE __m128i load8x2(const void *p, const void *q) { return _mm_unpacklo_epi64(load8(p), load8(q)); }
SSE4_INLINE __m128i load4x2(const void *p, const void *q) { return _mm_unpacklo_epi32(load4(p), load4(q)); }

AVX2_INLINE __m256i load32(const void *p) { return _mm256_loadu_si256((const __m256i_u *)p); }
AVX2_INLINE void store32(void *p, __m256i v) { _mm256_storeu_si256((__m256i_u *)p, v); }
AVX2_INLINE __m256i load16x2(const void *p, const void *q) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(p)), load16(q), 1);
}
AVX2_INLINE __m256i broadcast16(const void *p) { return _mm256_broadcastsi128_si256(load16(p)); }
AVX2_INLINE __m256i widen16(const void *p) { return _mm256_cvtepu8_epi16(load16(p)); }

AVX512_INLINE __m512i load64(const void *p) { return _mm512_loadu_si512(p); }
AVX512_INLINE void store64(void *p, __m512i v) { _mm512_storeu_si512(p, v); }

SSE4_INLINE __m128i splat(int v) { return _mm_set1_epi8((char)v); }

// MARK: - Sums of lanes

SSE4_INLINE int sum32(__m128i v) {  // of four int32_t
  v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
  v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1));
  return _mm_cvtsi128_si32(v);
}
SSE4_INLINE int sum64(__m128i v) {  // of the low halves of two int64_t
  return _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_unpackhi_epi64(v, v)));
}
AVX2_INLINE __m128i fold(__m256i v) {
  return _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

#endif  // OVT_X86
#endif
