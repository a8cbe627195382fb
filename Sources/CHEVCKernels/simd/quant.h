// SPDX-License-Identifier: Apache-2.0
// Quantisation and scaling (8.6.3) in the vectors that are included before.

#include "../quant.h"

// What a block has is gathered by four rows, whose groups are told from one mask.
typedef struct {
  W sum;
  V count, any;
} Gathered;

SIMD_INLINE void gather(Gathered *g, V magnitudes) {
  g->sum = wadd(g->sum, wmadd(magnitudes, vset(1)));
  g->count = vsub(g->count, vgreater(magnitudes, vzero()));
  g->any = vor(g->any, magnitudes);
}

// The groups of one or two rows of LANES columns that begin with column x.
SIMD_INLINE uint64_t groups(V any, int n, int x) {
  uint32_t m = vmask(vgreater(any, vzero()));
  if (n == 4) return m != 0;
  if (n == 8 && LANES == 16) m |= m >> 8, m &= 0xFF;
  m |= m >> 1, m |= m >> 2;
  return (uint64_t)((m & 1) | (m >> 3 & 2) | (m >> 6 & 4) | (m >> 9 & 8)) << x / 4;
}

// BODY computes `magnitudes` of the LANES values at i. PASS may skip `rows` rows of them, from
// column x of row 4 y on, which are zero.
#define EACH_BY_GROUPS(PASS, BODY)                                                                        \
  const int n = 1 << log2Size, width = n < LANES ? LANES : n, rows = n < LANES ? 4 * n / LANES : 4; \
  Gathered g = {wset(0), vzero(), vzero()};                                                         \
  uint64_t found = 0;                                                                               \
  for (int y = 0; y < n / 4; y++)                                                                   \
    for (int x = 0; x < width; x += LANES) {                                                        \
      PASS                                                                                          \
      g.any = vzero();                                                                              \
      for (int row = 0; row < rows; row++) {                                                        \
        const int i = 4 * y * n + row * width + x;                                                  \
        BODY                                                                                        \
        gather(&g, magnitudes);                                                                     \
      }                                                                                             \
      found |= groups(g.any, n, x) << 8 * y;                                                        \
    }                                                                                               \
  *result = (OVTHEVCLevels){found, vsum(g.count), wsum(g.sum)};

SIMD void quantise(int16_t *level, const int16_t *coef, int log2Size, int qP, int bitDepth, int deadZone,
                   OVTHEVCLevels *result) {
  const Quantiser q = quantiser(log2Size, qP, bitDepth, deadZone);
  const V factor = vset(q.factor);
  const Wide offset = wideSet(q.offset);
  // Magnitudes up to this one become 0.
  const int zero = ((1 << q.shift) - q.offset - 1) / q.factor, limit = zero < INT16_MAX ? zero : INT16_MAX;
  const V most = vset(limit), least = vset(-limit);
#define PASS_ZEROS                                                         \
  V high = vzero(), low = vzero();                                         \
  for (int row = 0; row < rows; row++) {                                   \
    const V c = vload(coef + 4 * y * n + row * width + x);                 \
    high = vmax(high, c), low = vmin(low, c);                              \
  }                                                                        \
  if (!vany(vor(vgreater(high, most), vgreater(least, low)))) {            \
    for (int row = 0; row < rows; row++) vstore(level + 4 * y * n + row * width + x, vzero()); \
    continue;                                                              \
  }
  EACH_BY_GROUPS(PASS_ZEROS, const V c = vload(coef + i);
                 const Wide products = wideAdd(wideMulUnsigned(vabs(c), factor), offset);
                 const V magnitudes = widePack(wideSrl(products, q.shift));
                 vstore(level + i, vsign(magnitudes, c));)
}

// -32768 has no magnitude in int16_t; no quantiser makes it.
SIMD void describe(const int16_t *level, int log2Size, OVTHEVCLevels *result) {
  EACH_BY_GROUPS(, const V magnitudes = vabs(vload(level + i));)
}

SIMD void dequantise(int16_t *coef, const int16_t *level, int log2Size, int qP, int bitDepth) {
  const Scaling s = scaling(log2Size, qP, bitDepth);
  const int factor = s.shift < 0 ? s.factor << -s.shift : s.factor, shift = s.shift < 0 ? 0 : s.shift;
  const int rounding = (1 << shift) >> 1;
  for (int i = 0; i < 1 << 2 * log2Size; i += LANES) {
    const V v = vload(level + i);
    // Most levels are 0.
    if (vany(v)) vstore(coef + i, widePack(wideSra(wideMul(v, vset(1), factor, rounding), shift)));
    else vstore(coef + i, vzero());
  }
}

SIMD uint64_t ssdCoefficients(const int16_t *a, const int16_t *b, int n) {
  V sum = vzero();
  for (int i = 0; i < n; i += LANES) {
    const V d = vsub(vload(a + i), vload(b + i));
    sum = longAdd(sum, wmadd(d, d));
  }
  return longSum(sum);
}

#define FILL_QUANT                                                                      \
  k->forwardSkip = forwardSkip, k->inverseSkip = inverseSkip;                           \
  k->quantise = quantise, k->describe = describe, k->dequantise = dequantise;           \
  k->ssdCoefficients = ssdCoefficients;
