// SPDX-License-Identifier: Apache-2.0
// Transforms, quantisation and scans of coefficients. SSE4.

#include "stages.h"
#if OVT_X86

#include "vector_sse4.h"

#include "simd/transform.h"
#include "simd/transform_small.h"
#include "simd/skip.h"
#include "simd/quant.h"

SIZE(4, 2)
SIZE(8, 3)
SIZE(16, 4)
SIZE(32, 5)

// Where the bytes of a group's two upper rows, and of its two lower rows, go (-128: nowhere).
#define UPPER(P) (char)((P) < 8 ? 2 * (P) : -128), (char)((P) < 8 ? 2 * (P) + 1 : -128)
#define LOWER(P) (char)((P) < 8 ? -128 : 2 * (P) - 16), (char)((P) < 8 ? -128 : 2 * (P) - 15)
#define EIGHT(DO, a, b, c, d, e, f, g, h) {DO(a), DO(b), DO(c), DO(d), DO(e), DO(f), DO(g), DO(h)}
#define SCAN(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                             \
  {EIGHT(UPPER, a, b, c, d, e, f, g, h), EIGHT(LOWER, a, b, c, d, e, f, g, h),           \
   EIGHT(UPPER, i, j, k, l, m, n, o, p), EIGHT(LOWER, i, j, k, l, m, n, o, p)}
static const _Alignas(16) char scans[OVT_HEVC_SCANS][4][16] = {
    SCAN(0, 4, 1, 8, 5, 2, 12, 9, 6, 3, 13, 10, 7, 14, 11, 15),
    SCAN(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    SCAN(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
};

SIMD uint32_t scanGroup(int16_t out[16], const int16_t *level, ptrdiff_t stride, int scan) {
  const V upper = load8x2(level, level + stride), lower = load8x2(level + 2 * stride, level + 3 * stride);
  const char(*const to)[16] = scans[scan];
  const V a = vor(_mm_shuffle_epi8(upper, load16(to[0])), _mm_shuffle_epi8(lower, load16(to[1])));
  const V b = vor(_mm_shuffle_epi8(upper, load16(to[2])), _mm_shuffle_epi8(lower, load16(to[3])));
  store16(out, a), store16(out + 8, b);
  return ~(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(vequal(a, vzero()), vequal(b, vzero()))) & 0xFFFF;
}

void ovt_hevc_residual_sse4(OVTHEVCResidualKernels *k) {
  k->forward[0] = forward4, k->forward[1] = forward8, k->forward[2] = forward16, k->forward[3] = forward32;
  k->inverse[0] = inverse4, k->inverse[1] = inverse8, k->inverse[2] = inverse16, k->inverse[3] = inverse32;
  k->forwardLow32 = forwardLow32;
  k->forwardDST4x4 = forwardSine, k->inverseDST4x4 = inverseSine;
  k->scanGroup = scanGroup;
  FILL_QUANT
}

#endif
