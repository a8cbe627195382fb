// SPDX-License-Identifier: Apache-2.0
// What the kernels in `simd` are written in, over NEON: V is 8 lanes of int16_t, W 4 lanes of
// int32_t. A Wide is twice as many int32_t as V has lanes, in an order that widePack takes back.
#ifndef OVT_HEVC_VECTOR_H
#define OVT_HEVC_VECTOR_H

#include "neon.h"
#include "stages.h"

#define SIMD static
#define SIMD_INLINE OVT_INLINE
#define OVT_HEVC_LANES 8

typedef int16x8_t V;
typedef int32x4_t W;
typedef struct {
  W lo, hi;
} Wide;
enum { LANES = OVT_HEVC_LANES };

// MARK: - Lanes of int16_t

SIMD_INLINE V vload(const int16_t *p) { return vld1q_s16(p); }
SIMD_INLINE void vstore(int16_t *p, V v) { vst1q_s16(p, v); }
SIMD_INLINE V vset(int a) { return vdupq_n_s16((int16_t)a); }
SIMD_INLINE V vzero(void) { return vdupq_n_s16(0); }
SIMD_INLINE V vadd(V a, V b) { return vaddq_s16(a, b); }
SIMD_INLINE V vsub(V a, V b) { return vsubq_s16(a, b); }
SIMD_INLINE V vadds(V a, V b) { return vqaddq_s16(a, b); }
SIMD_INLINE V vmul(V a, V b) { return vmulq_s16(a, b); }
SIMD_INLINE V vmin(V a, V b) { return vminq_s16(a, b); }
SIMD_INLINE V vmax(V a, V b) { return vmaxq_s16(a, b); }
SIMD_INLINE V vabs(V a) { return vabsq_s16(a); }
SIMD_INLINE V vsra(V a, int n) { return vshlq_s16(a, vset(-n)); }
SIMD_INLINE V vsrl(V a, int n) {
  return vreinterpretq_s16_u16(vshlq_u16(vreinterpretq_u16_s16(a), vset(-n)));
}
SIMD_INLINE V vsll(V a, int n) { return vshlq_s16(a, vset(n)); }
SIMD_INLINE V vgreater(V a, V b) { return vreinterpretq_s16_u16(vcgtq_s16(a, b)); }
SIMD_INLINE V vequal(V a, V b) { return vreinterpretq_s16_u16(vceqq_s16(a, b)); }
SIMD_INLINE V vand(V a, V b) { return vandq_s16(a, b); }
SIMD_INLINE V vor(V a, V b) { return vorrq_s16(a, b); }
// b where the mask is 0.
SIMD_INLINE V vwithout(V mask, V b) { return vbicq_s16(b, mask); }
// a where the mask is set, else b.
SIMD_INLINE V vselect(V mask, V a, V b) { return vbslq_s16(vreinterpretq_u16_s16(mask), a, b); }
// a with the sign of s; 0 where s is 0.
SIMD_INLINE V vsign(V a, V s) {
  return vwithout(vequal(s, vzero()), vselect(vgreater(vzero(), s), vnegq_s16(a), a));
}
SIMD_INLINE int vany(V a) { return vmaxvq_u16(vreinterpretq_u16_s16(a)) != 0; }
// A bit for each lane that is not 0, of a mask.
SIMD_INLINE uint32_t vmask(V isNot) {
  static const int16_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  return (uint32_t)vaddvq_s16(vand(isNot, vld1q_s16(bits)));
}
SIMD_INLINE V vlookBytes(V table, uint8x16_t index) {
  return vreinterpretq_s16_u8(vqtbl1q_u8(vreinterpretq_u8_s16(table), index));
}
// Lane i is table[index[i]], index 0 to 7.
SIMD_INLINE V vlook(V table, V index) {
  return vlookBytes(table, vreinterpretq_u8_s16(vadd(vmul(index, vset(0x0202)), vset(0x0100))));
}
SIMD_INLINE V vreverse(V a) {
  const V halves = vrev64q_s16(a);
  return vextq_s16(halves, halves, 4);
}
// The halves, exchanged.
SIMD_INLINE V vswap(V a) { return vextq_s16(a, a, 4); }
// Of each four lanes the first, and the last, four times.
SIMD_INLINE V vfirsts(V a) { return vcombine_s16(vdup_laneq_s16(a, 0), vdup_laneq_s16(a, 4)); }
SIMD_INLINE V vlasts(V a) { return vcombine_s16(vdup_laneq_s16(a, 3), vdup_laneq_s16(a, 7)); }
// Eight lanes, again where there are more; 0, 1, 2 and so on.
SIMD_INLINE V vrepeat(const int16_t p[8]) { return vld1q_s16(p); }
SIMD_INLINE V vnumbers(void) {
  static const int16_t numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  return vld1q_s16(numbers);
}

// MARK: - Parts of a vector: n lanes, 2, 4 or 8

// Four bytes and four zeros.
SIMD_INLINE uint8x8_t four(const uint8_t *p) {
  uint32_t row;
  memcpy(&row, p, 4);
  return vreinterpret_u8_u32(vset_lane_u32(row, vdup_n_u32(0), 0));
}
SIMD_INLINE V vloadPart(const int16_t *p, int n) {
  if (n >= 8) return vld1q_s16(p);
  if (n == 4) return vcombine_s16(vld1_s16(p), vdup_n_s16(0));
  return vcombine_s16(vreinterpret_s16_u8(four((const uint8_t *)p)), vdup_n_s16(0));
}
SIMD_INLINE void vstorePart(int16_t *p, V v, int n) {
  if (n >= 8) vst1q_s16(p, v);
  else if (n == 4) vst1_s16(p, vget_low_s16(v));
  else store4((uint8_t *)p, vreinterpret_u8_s16(vget_low_s16(v)));
}
SIMD_INLINE V vwiden(uint8x8_t bytes) { return vreinterpretq_s16_u16(vmovl_u8(bytes)); }
SIMD_INLINE V vloadBytes(const uint8_t *p) { return vwiden(vld1_u8(p)); }
SIMD_INLINE V vloadBytesPart(const uint8_t *p, int n) {
  if (n >= 8) return vloadBytes(p);
  if (n == 4) return vwiden(four(p));
  uint16_t two;
  memcpy(&two, p, 2);
  return vwiden(vreinterpret_u8_u16(vset_lane_u16(two, vdup_n_u16(0), 0)));
}
SIMD_INLINE void vstoreBytesPart(uint8_t *p, V v, int n) {  // clipped to 0 to 255
  const uint8x8_t bytes = vqmovun_s16(v);
  if (n >= 8) vst1_u8(p, bytes);
  else if (n == 4) store4(p, bytes);
  else {
    const uint16_t two = vget_lane_u16(vreinterpret_u16_u8(bytes), 0);
    memcpy(p, &two, 2);
  }
}

// MARK: - Lanes of int32_t

SIMD_INLINE W wset(int a) { return vdupq_n_s32(a); }
SIMD_INLINE W wadd(W a, W b) { return vaddq_s32(a, b); }
SIMD_INLINE W wsub(W a, W b) { return vsubq_s32(a, b); }
SIMD_INLINE W wsra(W a, int n) { return vshlq_s32(a, vdupq_n_s32(-n)); }
SIMD_INLINE int wsum(W a) { return vaddvq_s32(a); }
// The sums of pairs of products: a[0] b[0] + a[1] b[1], and so on.
SIMD_INLINE W wmadd(V a, V b) {
  return vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
}
// a, b again and again; p[0], p[1] again and again.
SIMD_INLINE V vpairOf(int a, int b) {
  return vreinterpretq_s16_u32(vdupq_n_u32((uint32_t)b << 16 | ((uint32_t)a & 0xFFFF)));
}
SIMD_INLINE V vpair(const int16_t *p) {
  uint32_t both;
  memcpy(&both, p, 4);
  return vreinterpretq_s16_u32(vdupq_n_u32(both));
}
// LANES values of int16_t, saturated, from two W in their order.
SIMD_INLINE V wpack(W a, W b) { return vcombine_s16(vqmovn_s32(a), vqmovn_s32(b)); }
// LANES / 2 values, saturated.
SIMD_INLINE void wstorePacked(int16_t *p, W a) { vst1_s16(p, vqmovn_s32(a)); }
SIMD_INLINE W wreverse(W a) {
  const W halves = vrev64q_s32(a);
  return vextq_s32(halves, halves, 2);
}
// (sum + 2) >> 2 of the four int32_t that come of eight lanes.
SIMD_INLINE int roundedBlockSums(W a) { return (vaddvq_s32(a) + 2) >> 2; }

// MARK: - Wide

SIMD_INLINE Wide wideSet(int a) { return (Wide){wset(a), wset(a)}; }
SIMD_INLINE Wide wideAdd(Wide a, Wide b) { return (Wide){wadd(a.lo, b.lo), wadd(a.hi, b.hi)}; }
SIMD_INLINE Wide wideSub(Wide a, Wide b) { return (Wide){wsub(a.lo, b.lo), wsub(a.hi, b.hi)}; }
// a ca + b cb.
SIMD_INLINE Wide wideMul(V a, V b, int ca, int cb) {
  const int16_t x = (int16_t)ca, y = (int16_t)cb;
  return (Wide){vmlal_n_s16(vmull_n_s16(vget_low_s16(a), x), vget_low_s16(b), y),
                vmlal_high_n_s16(vmull_high_n_s16(a, x), b, y)};
}
SIMD_INLINE Wide wideSra(Wide a, int n) { return (Wide){wsra(a.lo, n), wsra(a.hi, n)}; }
SIMD_INLINE V widePack(Wide a) { return wpack(a.lo, a.hi); }  // saturates
// Products of unsigned 16-bit lanes, as int32_t.
SIMD_INLINE Wide wideMulUnsigned(V a, V b) {
  const uint16x8_t x = vreinterpretq_u16_s16(a), y = vreinterpretq_u16_s16(b);
  return (Wide){vreinterpretq_s32_u32(vmull_u16(vget_low_u16(x), vget_low_u16(y))),
                vreinterpretq_s32_u32(vmull_high_u16(x, y))};
}
SIMD_INLINE W wsrl(W a, int n) {
  return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-n)));
}
SIMD_INLINE Wide wideSrl(Wide a, int n) { return (Wide){wsrl(a.lo, n), wsrl(a.hi, n)}; }
// The sum of all lanes.
SIMD_INLINE int vsum(V a) { return vaddlvq_s16(a); }

// MARK: - Pairs of lanes

typedef struct {
  V lo, hi;
} Zip;
SIMD_INLINE Zip vzip(V a, V b) { return (Zip){vzip1q_s16(a, b), vzip2q_s16(a, b)}; }
// a c[0] + b c[1] for the lanes a, b of each pair.
SIMD_INLINE Wide wideMulZip(Zip z, V pair) { return (Wide){wmadd(z.lo, pair), wmadd(z.hi, pair)}; }
// Of each eight lanes those of even number first.
SIMD_INLINE V vsplit(V a) {
  return vcombine_s16(vget_low_s16(vuzp1q_s16(a, a)), vget_low_s16(vuzp2q_s16(a, a)));
}

// MARK: - Sums in 64 bits

SIMD_INLINE V longAdd(V sum, W a) {  // of values from 0 to 2^32 - 1
  return vreinterpretq_s16_u64(vpadalq_u32(vreinterpretq_u64_s16(sum), vreinterpretq_u32_s32(a)));
}
SIMD_INLINE uint64_t longSum(V sum) { return vaddvq_u64(vreinterpretq_u64_s16(sum)); }

// MARK: - Filters of bytes

// a in the low byte of each lane, b in the high one.
SIMD_INLINE V vbytes(V a, V b) { return vor(a, vshlq_n_s16(b, 8)); }
// Two weights of int8_t for what vbytes makes.
SIMD_INLINE V vweights(int a, int b) { return vset((int)((uint32_t)(b & 0xFF) << 8 | (uint32_t)(a & 0xFF))); }
SIMD_INLINE V lowWeight(V weights) { return vshrq_n_s16(vshlq_n_s16(weights, 8), 8); }
SIMD_INLINE V highWeight(V weights) { return vshrq_n_s16(weights, 8); }
SIMD_INLINE V vweigh(V bytes, V weights) {
  const V low = vand(bytes, vset(255)), high = vsrl(bytes, 8);
  return vmlaq_s16(vmul(low, lowWeight(weights)), high, highWeight(weights));
}
// The sums of 8 (4) bytes from p on, from p + 1 on, and so on, weighed by `weights`; sums fit
// int16_t.
SIMD_INLINE V filterBytes(const uint8_t *p, const V *weights, int count) {
  V sum = vzero();
  for (int i = 0; i < count / 2; i++) {
    sum = vmlaq_s16(sum, vloadBytes(p + 2 * i), lowWeight(weights[i]));
    sum = vmlaq_s16(sum, vloadBytes(p + 2 * i + 1), highWeight(weights[i]));
  }
  return sum;
}

#endif
