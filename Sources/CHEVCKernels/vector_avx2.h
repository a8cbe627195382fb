// SPDX-License-Identifier: Apache-2.0
// What the kernels in `simd` are written in, over AVX2: V is 16 lanes of int16_t, W 8 lanes of
// int32_t. A Wide is twice as many int32_t as V has lanes, in an order that widePack takes back.
#ifndef OVT_HEVC_VECTOR_H
#define OVT_HEVC_VECTOR_H

#include "stages.h"
#include "x86.h"

#define SIMD AVX2 static
#define SIMD_INLINE AVX2_INLINE
#define SHAPE_SET AVX2
#define OVT_HEVC_LANES 16

typedef __m256i V;
typedef __m256i W;
typedef struct {
  W lo, hi;
} Wide;
enum { LANES = OVT_HEVC_LANES };

// MARK: - Lanes of int16_t

SIMD_INLINE V vload(const int16_t *p) { return load32(p); }
SIMD_INLINE void vstore(int16_t *p, V v) { store32(p, v); }
SIMD_INLINE V vset(int a) { return _mm256_set1_epi16((short)a); }
SIMD_INLINE V vzero(void) { return _mm256_setzero_si256(); }
SIMD_INLINE V vadd(V a, V b) { return _mm256_add_epi16(a, b); }
SIMD_INLINE V vsub(V a, V b) { return _mm256_sub_epi16(a, b); }
SIMD_INLINE V vadds(V a, V b) { return _mm256_adds_epi16(a, b); }
SIMD_INLINE V vmul(V a, V b) { return _mm256_mullo_epi16(a, b); }
SIMD_INLINE V vmin(V a, V b) { return _mm256_min_epi16(a, b); }
SIMD_INLINE V vmax(V a, V b) { return _mm256_max_epi16(a, b); }
SIMD_INLINE V vabs(V a) { return _mm256_abs_epi16(a); }
SIMD_INLINE V vsra(V a, int n) { return _mm256_sra_epi16(a, _mm_cvtsi32_si128(n)); }
SIMD_INLINE V vsrl(V a, int n) { return _mm256_srl_epi16(a, _mm_cvtsi32_si128(n)); }
SIMD_INLINE V vsll(V a, int n) { return _mm256_sll_epi16(a, _mm_cvtsi32_si128(n)); }
SIMD_INLINE V vgreater(V a, V b) { return _mm256_cmpgt_epi16(a, b); }
SIMD_INLINE V vequal(V a, V b) { return _mm256_cmpeq_epi16(a, b); }
SIMD_INLINE V vand(V a, V b) { return _mm256_and_si256(a, b); }
SIMD_INLINE V vor(V a, V b) { return _mm256_or_si256(a, b); }
// b where the mask is 0.
SIMD_INLINE V vwithout(V mask, V b) { return _mm256_andnot_si256(mask, b); }
// a where the mask is set, else b.
SIMD_INLINE V vselect(V mask, V a, V b) { return _mm256_blendv_epi8(b, a, mask); }
// a with the sign of s; 0 where s is 0.
SIMD_INLINE V vsign(V a, V s) { return _mm256_sign_epi16(a, s); }
SIMD_INLINE int vany(V a) { return !_mm256_testz_si256(a, a); }
// A bit for each lane that is not 0, of a mask.
SIMD_INLINE uint32_t vmask(V isNot) {
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(isNot), _mm256_extracti128_si256(isNot, 1));
  return (uint32_t)_mm_movemask_epi8(bytes);
}
// Lane i is table[index[i]], index 0 to 7; the table's halves are alike.
SIMD_INLINE V vlook(V table, V index) {
  const V bytes = _mm256_add_epi16(_mm256_mullo_epi16(index, _mm256_set1_epi16(0x0202)), _mm256_set1_epi16(0x0100));
  return _mm256_shuffle_epi8(table, bytes);
}
SIMD_INLINE V vreverse(V a) {
  const V order = _mm256_broadcastsi128_si256(_mm_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1));
  return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(a, order), 0x4e);
}

// Eight lanes, again where there are more; 0, 1, 2 and so on.
SIMD_INLINE V vrepeat(const int16_t p[8]) { return broadcast16(p); }
SIMD_INLINE V vnumbers(void) { return _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }

// MARK: - Parts of a vector: n lanes, 2, 4, 8 or 16

SIMD_INLINE V vloadPart(const int16_t *p, int n) {
  if (n >= 16) return load32(p);
  return _mm256_castsi128_si256(n == 8 ? load16(p) : n == 4 ? load8(p) : load4(p));
}
SIMD_INLINE void vstorePart(int16_t *p, V v, int n) {
  const __m128i low = _mm256_castsi256_si128(v);
  if (n >= 16) store32(p, v);
  else if (n == 8) store16(p, low);
  else if (n == 4) store8(p, low);
  else store4(p, low);
}
SIMD_INLINE V vloadBytes(const uint8_t *p) { return _mm256_cvtepu8_epi16(load16(p)); }
SIMD_INLINE V vloadBytesPart(const uint8_t *p, int n) {
  if (n >= 16) return vloadBytes(p);
  if (n == 8) return _mm256_cvtepu8_epi16(load8(p));
  if (n == 4) return _mm256_cvtepu8_epi16(load4(p));
  uint16_t two;
  memcpy(&two, p, 2);
  return _mm256_cvtepu8_epi16(_mm_cvtsi32_si128(two));
}
SIMD_INLINE void vstoreBytesPart(uint8_t *p, V v, int n) {  // clipped to 0 to 255
  const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  if (n >= 16) store16(p, bytes);
  else if (n == 8) store8(p, bytes);
  else if (n == 4) store4(p, bytes);
  else {
    const uint16_t two = (uint16_t)_mm_cvtsi128_si32(bytes);
    memcpy(p, &two, 2);
  }
}

// MARK: - Lanes of int32_t

SIMD_INLINE W wset(int a) { return _mm256_set1_epi32(a); }
SIMD_INLINE W wadd(W a, W b) { return _mm256_add_epi32(a, b); }
SIMD_INLINE W wsub(W a, W b) { return _mm256_sub_epi32(a, b); }
SIMD_INLINE W wsra(W a, int n) { return _mm256_sra_epi32(a, _mm_cvtsi32_si128(n)); }
SIMD_INLINE int wsum(W a) { return sum32(fold(a)); }
// The sums of pairs of products: a[0] b[0] + a[1] b[1], and so on.
SIMD_INLINE W wmadd(V a, V b) { return _mm256_madd_epi16(a, b); }
// p[0], p[1] again and again.
SIMD_INLINE V vpair(const int16_t *p) {
  int32_t both;
  memcpy(&both, p, 4);
  return _mm256_set1_epi32(both);
}
// a, b again and again.
SIMD_INLINE V vpairOf(int a, int b) {
  return _mm256_set1_epi32((int)((uint32_t)b << 16 | ((uint32_t)a & 0xFFFF)));
}
// LANES values of int16_t, saturated, from two W in their order.
SIMD_INLINE V wpack(W a, W b) { return _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8); }
// LANES / 2 values, saturated.
SIMD_INLINE void wstorePacked(int16_t *p, W a) {
  store16(p, _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1)));
}
SIMD_INLINE W wreverse(W a) { return _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)); }

// MARK: - Wide

SIMD_INLINE Wide wideSet(int a) { return (Wide){wset(a), wset(a)}; }
SIMD_INLINE Wide wideAdd(Wide a, Wide b) { return (Wide){wadd(a.lo, b.lo), wadd(a.hi, b.hi)}; }
SIMD_INLINE Wide wideSub(Wide a, Wide b) { return (Wide){wsub(a.lo, b.lo), wsub(a.hi, b.hi)}; }
// a ca + b cb.
SIMD_INLINE Wide wideMul(V a, V b, int ca, int cb) {
  const V c = _mm256_set1_epi32((int)((uint32_t)cb << 16 | ((uint32_t)ca & 0xFFFF)));
  return (Wide){_mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), c), _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), c)};
}
SIMD_INLINE Wide wideSra(Wide a, int n) { return (Wide){wsra(a.lo, n), wsra(a.hi, n)}; }
SIMD_INLINE V widePack(Wide a) { return _mm256_packs_epi32(a.lo, a.hi); }  // saturates
// Products of unsigned 16-bit lanes, as int32_t.
SIMD_INLINE Wide wideMulUnsigned(V a, V b) {
  const V lo = _mm256_mullo_epi16(a, b), hi = _mm256_mulhi_epu16(a, b);
  return (Wide){_mm256_unpacklo_epi16(lo, hi), _mm256_unpackhi_epi16(lo, hi)};
}
SIMD_INLINE Wide wideSrl(Wide a, int n) {
  const __m128i count = _mm_cvtsi32_si128(n);
  return (Wide){_mm256_srl_epi32(a.lo, count), _mm256_srl_epi32(a.hi, count)};
}
// The sum of all lanes.
SIMD_INLINE int vsum(V a) { return wsum(_mm256_madd_epi16(a, vset(1))); }

// MARK: - Pairs of lanes

typedef struct {
  V lo, hi;
} Zip;
SIMD_INLINE Zip vzip(V a, V b) { return (Zip){_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)}; }
// a c[0] + b c[1] for the lanes a, b of each pair.
SIMD_INLINE Wide wideMulZip(Zip z, V pair) { return (Wide){wmadd(z.lo, pair), wmadd(z.hi, pair)}; }
// Of each eight lanes those of even number first.
SIMD_INLINE V vsplit(V a) {
  return _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(
                                    _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)));
}

// MARK: - Sums in 64 bits

SIMD_INLINE V longAdd(V sum, W a) {  // of values from 0 to 2^32 - 1
  return _mm256_add_epi64(sum, _mm256_add_epi64(_mm256_unpacklo_epi32(a, vzero()), _mm256_unpackhi_epi32(a, vzero())));
}
SIMD_INLINE uint64_t longSum(V sum) {
  const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(half, _mm_unpackhi_epi64(half, half)));
}
// The halves of each eight lanes, exchanged.
SIMD_INLINE V vswap(V a) { return _mm256_shuffle_epi32(a, 0x4e); }
// (sum + 2) >> 2 of each four int32_t, which come of eight lanes, added.
SIMD_INLINE int roundedBlockSums(W a) {
  a = wadd(a, _mm256_shuffle_epi32(a, 0x4e));
  a = wsra(wadd(wadd(a, _mm256_shuffle_epi32(a, 0xb1)), wset(2)), 2);
  return _mm_cvtsi128_si32(fold(a));
}

// MARK: - Filters of bytes

// a in the low byte of each lane, b in the high one.
SIMD_INLINE V vbytes(V a, V b) { return vor(a, vsll(b, 8)); }
// Two weights of int8_t for what vbytes makes.
SIMD_INLINE V vweights(int a, int b) { return vset((int)((uint32_t)(b & 0xFF) << 8 | (uint32_t)(a & 0xFF))); }
SIMD_INLINE V vweigh(V bytes, V weights) { return _mm256_maddubs_epi16(bytes, weights); }
// Bytes i and i + 1, i + 1 and i + 2, and so on.
SIMD_INLINE V neighbours(V bytes, int i) {
  const V first = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8));
  return _mm256_shuffle_epi8(bytes, _mm256_add_epi8(first, _mm256_set1_epi8((char)i)));
}
// The sums of 8 (4) bytes from p on, from p + 1 on, and so on, weighed by `weights`; sums fit
// int16_t.
SIMD_INLINE V filterBytes(const uint8_t *p, const V *weights, int count) {
  const V bytes = load16x2(p, p + 8);
  V sum = vweigh(neighbours(bytes, 0), weights[0]);
  sum = vadd(sum, vweigh(neighbours(bytes, 2), weights[1]));
  if (count == 4) return sum;
  sum = vadd(sum, vweigh(neighbours(bytes, 4), weights[2]));
  return vadd(sum, vweigh(neighbours(bytes, 6), weights[3]));
}

#endif
