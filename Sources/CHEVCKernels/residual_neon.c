// SPDX-License-Identifier: Apache-2.0
// Transforms, quantisation and scans of coefficients. NEON.

#include "stages.h"
#if OVT_ARM64

#include "vector_neon.h"

#include "simd/transform.h"
#include "simd/transform_small.h"
#include "simd/skip.h"
#include "simd/quant.h"

SIZE(4, 2)
SIZE(8, 3)
SIZE(16, 4)
SIZE(32, 5)

static uint32_t scanGroup(int16_t out[16], const int16_t *level, ptrdiff_t stride, int scan) {
  const V upper = vcombine_s16(vld1_s16(level), vld1_s16(level + stride));
  const V lower = vcombine_s16(vld1_s16(level + 2 * stride), vld1_s16(level + 3 * stride));
  const uint8x16x2_t group = {{vreinterpretq_u8_s16(upper), vreinterpretq_u8_s16(lower)}};
  const V places = vwiden(vld1_u8(ovt_hevc_scan4x4[scan])), morePlaces = vwiden(vld1_u8(ovt_hevc_scan4x4[scan] + 8));
  // A level's two bytes.
  const V a = vadd(vmul(places, vset(0x0202)), vset(0x0100)), b = vadd(vmul(morePlaces, vset(0x0202)), vset(0x0100));
  const V first = vreinterpretq_s16_u8(vqtbl2q_u8(group, vreinterpretq_u8_s16(a)));
  const V second = vreinterpretq_s16_u8(vqtbl2q_u8(group, vreinterpretq_u8_s16(b)));
  vstore(out, first), vstore(out + 8, second);
  return ~(vmask(vequal(first, vzero())) | vmask(vequal(second, vzero())) << 8) & 0xFFFF;
}

void ovt_hevc_residual_neon(OVTHEVCResidualKernels *k) {
  k->forward[0] = forward4, k->forward[1] = forward8, k->forward[2] = forward16, k->forward[3] = forward32;
  k->inverse[0] = inverse4, k->inverse[1] = inverse8, k->inverse[2] = inverse16, k->inverse[3] = inverse32;
  k->forwardLow32 = forwardLow32;
  k->forwardDST4x4 = forwardSine, k->inverseDST4x4 = inverseSine;
  k->scanGroup = scanGroup;
  FILL_QUANT
}

#endif
