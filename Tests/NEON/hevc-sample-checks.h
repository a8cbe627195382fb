// SPDX-License-Identifier: Apache-2.0
// The checks of hevc-kernel-check.c for one depth; included once for each.

#define Arena NAMED(Arena)
#define start NAMED(start)
#define plain NAMED(plain)
#define simd NAMED(simd)
#define tables NAMED(tables)
#define compared NAMED(compared)
#define refill NAMED(refill)
#define samples NAMED(samples)
#define AT(PLANE) (m->PLANE + 8 * STRIDE + 32)

typedef struct __attribute__((aligned(64))) {
  SAMPLE src[ROWS * STRIDE], a[ROWS * STRIDE], b[ROWS * STRIDE], dst[ROWS * STRIDE];
  int16_t high[2][ROWS * STRIDE], coef[1024], level[1024], residual[64 * STRIDE], out[64 * STRIDE];
  OVTHEVCLevels levels;
  int16_t tc[2];
  int8_t offsets[4];
  int sums[32], counts[32];
  uint64_t result;
  int v[8];
} Arena;

static Arena start, plain, simd;
static NAMED(OVTHEVCKernels) tables[2];
static char compared[sizeof tables[0] / sizeof(void (*)(void))];

// Samples of one of six kinds: noise, black and white, nearly flat, all black, all white, a ramp.
static void samples(SAMPLE *p, int n) {
  const int top = (1 << DEPTH) - 1, kind = (int)(chance() % 8), middle = between(0, top);
  for (int i = 0; i < n; i++) {
    const int v = middle + between(-3, 3);
    p[i] = (SAMPLE)(kind == 0   ? (int)(chance() & (uint32_t)top)
                    : kind == 1 ? (chance() & 1 ? top : 0)
                    : kind == 2 ? 0
                    : kind == 3 ? top
                    : kind == 4 ? (i * 3 & top)
                                : (v < 0 ? 0 : v > top ? top : v));
  }
}

static void refill(void) {
  // Planes are drawn in turn, since an emulator is slow.
  SAMPLE *const planes[4] = {start.src, start.a, start.b, start.dst};
  const int first = round_ == 0 ? 0 : round_ % 4, last = round_ == 0 ? 3 : first;
  for (int i = first; i <= last; i++) samples(planes[i], ROWS * STRIDE);
  const int limit = (1 << DEPTH) - 1, kind = round_ % 3;
  for (int i = 0; i < 64 * STRIDE; i++)
    start.residual[i] = (int16_t)(kind == 0   ? between(-limit, limit)
                                  : kind == 1 ? (chance() & 1 ? limit : -limit)
                                              : between(-4, 4));
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < ROWS * STRIDE && round_ % 4 == 0; j++)
      start.high[i][j] = (int16_t)(round_ % 8 ? between(-25100, 25100) : between(-8192, 8200));
  start.result = 0;
}

static void NAMED(residual)(void) {
  for (int s = 0; s < 4; s++) {
    const int n = 4 << s;
    EACH(residual.forward[s], N, , f(m->coef, m->residual + 3, 64, DEPTH));
    EACH(residual.inverse[s], N * 3, m->v[0] = between(1, n); m->v[1] = between(1, n);
         coefficients(m->coef, n, round_ & 1 ? 32767 : 1500, m->v[0], m->v[1]),
         f(m->out + 3, 67, m->coef, DEPTH, m->v[0], m->v[1]));
  }
  EACH(residual.forwardLow32, N, , f(m->coef, m->residual + 3, 64, DEPTH));
  EACH(residual.forwardDST4x4, N, , f(m->coef, m->residual + 3, 64, DEPTH));
  EACH(residual.inverseDST4x4, N * 3, coefficients(m->coef, 4, round_ & 1 ? 32767 : 1500, 4, 4),
       f(m->out + 3, 67, m->coef, DEPTH, 4, 4));
  for (int log2 = 2; log2 < 6; log2++) {
    EACH(residual.forwardSkip, N, , f(m->coef, m->residual + 3, 64, log2, DEPTH));
    EACH(residual.inverseSkip, N, coefficients(m->coef, 1 << log2, 32767, 32, 32),
         f(m->out + 3, 67, m->coef, log2, DEPTH));
    EACH(residual.quantise, N * 4, coefficients(m->coef, 1 << log2, round_ & 1 ? 32767 : 1500, 1 << round_ % 6, 32);
         m->v[0] = between(0, 51 + 6 * (DEPTH - 8)); m->v[1] = between(0, 511),
         f(m->level, m->coef, log2, m->v[0], DEPTH, m->v[1], &m->levels));
    EACH(residual.dequantise, N * 2, coefficients(m->level, 1 << log2, round_ & 1 ? 32767 : 15, 32, 32);
         m->v[0] = between(0, 51 + 6 * (DEPTH - 8)), f(m->coef, m->level, log2, m->v[0], DEPTH));
    EACH(residual.describe, N, coefficients(m->level, 1 << log2, round_ & 1 ? 32767 : 1, 1 << round_ % 6, 32),
         f(m->level, log2, &m->levels));
  }
  EACH(residual.scanGroup, N, coefficients(m->level, 32, round_ & 1 ? 32767 : 1, 32, 32),
       m->result = f(m->coef, m->level + round_, 32, round_ % 3));
  EACH(residual.ssdCoefficients, N, coefficients(m->level, 32, 16000, 32, 32); coefficients(m->coef, 32, 16000, 32, 32),
       m->result = f(m->coef, m->level, (round_ & 1 ? 64 : 1) * (1 + round_ % 16) * (round_ & 1 ? 1 : 16)));
}

static void NAMED(compare)(void) {
  for (int i = 0; i < OVT_BLOCK_SHAPES; i++) {
    EACH(sad[i], N, , m->result = (uint64_t)f(AT(src), STRIDE, AT(a) + 5, STRIDE - 3));
    EACH(sadX4[i], N, , f(AT(src), STRIDE, AT(a) + 5, AT(b), AT(a) + 3, AT(b) - 2, STRIDE - 3, m->sums));
    EACH(satd[i], N, , m->result = (uint64_t)f(AT(src), STRIDE, AT(a) + 5, STRIDE - 3));
    EACH(ssd[i], N, , m->result = (uint64_t)f(AT(src), STRIDE, AT(a) + 5, STRIDE - 3));
  }
  for (int i = 0; i < 3; i++) EACH(mean[i], N, , f(AT(dst) + 1, STRIDE, AT(a) + 5, AT(b), STRIDE - 3, 16));
  for (int i = 0; i < OVT_HEVC_SQUARES; i++)
    EACH(satd8[i], N, , m->result = (uint64_t)f(AT(src), STRIDE, AT(a) + 5, STRIDE - 3));
  for (int w = 4; w <= 64; w += 4) {
    const int h = w > 20 ? 8 : w;
    EACH(difference, N / 4, , f(m->out + 3, 70, AT(src) + 1, STRIDE, AT(a), STRIDE - 1, w, h));
    EACH(reconstruct, N / 2, if (round_ % 5 == 0) coefficients(m->residual, 64, 32767, 64, 64),
         f(AT(dst) + 1, STRIDE, AT(a), STRIDE - 1, m->residual + 3, STRIDE, w, h));
    EACH(reconstructDC, N / 2, m->v[0] = round_ & 1 ? between(-50, 50) : between(-32768, 32767),
         f(AT(dst) + 1, STRIDE, AT(a), STRIDE - 1, m->v[0], w, h));
  }
}

static void NAMED(intra)(void) {
  for (int log2 = 2; log2 < 6; log2++) {
    EACH(smoothEdge, N * 2, , f(AT(dst), AT(a), log2, round_ & 1 && log2 == 5));
    EACH(intraPlanar, N, , f(AT(dst) + 1, STRIDE, AT(a), log2));
    EACH(intraDC, N, , f(AT(dst) + 1, STRIDE, AT(a), log2, round_ & 1));
    for (int mode = 2; mode < 18; mode++)
      EACH(intraHorizontal, N / 4, , f(AT(dst) + 1, STRIDE, AT(a), log2, mode, round_ & 1));
    for (int mode = 18; mode < 35; mode++)
      EACH(intraVertical, N / 4, , f(AT(dst) + 1, STRIDE, AT(a), log2, mode, round_ & 1));
    if (log2 > 2) EACH(transpose, N, , f(AT(dst) + 1, STRIDE, AT(a) + 1, STRIDE, log2));
  }
}

static void NAMED(inter)(void) {
  for (int w = 2; w <= 64; w += w < 20 ? 2 : 12) {
    const int h = w > 20 ? 5 : w + 1;
    for (int frac = 0; frac < 16 && w % 4 == 0; frac++) {
      EACH(luma, N / 4, , f(AT(dst) + 1, STRIDE, AT(a) + 1, STRIDE, w, h, frac & 3, frac >> 2));
      EACH(lumaHigh, N / 4, , f(m->high[0] + 1, 67, AT(a) + 1, STRIDE, w, h, frac & 3, frac >> 2));
    }
    if (w % 4 == 0)
      EACH(lumaHalves, N / 2, m->v[0] = between(1, 8),
           f(((SAMPLE *const[3]){AT(dst) + 1, AT(dst) + 9 * STRIDE, AT(dst) + 18 * STRIDE}), AT(a) + 1, STRIDE, w,
             m->v[0]));
    for (int frac = 0; frac < 64; frac += 1 + frac % 3) {
      EACH(chroma, N / 8, , f(AT(dst) + 1, STRIDE, AT(a) + 1, STRIDE, w, h, frac & 7, frac >> 3));
      EACH(chromaHigh, N / 8, , f(m->high[0] + 1, 67, AT(a) + 1, STRIDE, w, h, frac & 7, frac >> 3));
    }
    EACH(round, N / 2, , f(AT(dst) + 1, STRIDE, m->high[0] + 3, 67, w, h));
    EACH(average, N / 2, , f(AT(dst) + 1, STRIDE, m->high[0] + 3, m->high[1] + 1, 67, w, h));
    EACH(weigh, N, m->v[0] = 14 - DEPTH + between(0, 7); m->v[1] = between(-128, 255); m->v[2] = between(-128, 127),
         f(AT(dst) + 1, STRIDE, m->high[0] + 3, 67, w, h, m->v[0], m->v[1], m->v[2] * (1 << (DEPTH - 8))));
    EACH(weighBoth, N, m->v[0] = 14 - DEPTH + between(0, 7); m->v[1] = between(-128, 255); m->v[2] = between(-128, 127);
         m->v[3] = between(-128, 255); m->v[4] = between(-128, 127),
         f(AT(dst) + 1, STRIDE, m->high[0] + 3, m->high[1] + 1, 67, w, h, m->v[0], m->v[1], m->v[3],
           m->v[2] * (1 << (DEPTH - 8)), m->v[4] * (1 << (DEPTH - 8))));
  }
}

// A plane with a step at (32, 8), nearly flat next to it.
static void NAMED(step)(SAMPLE *p) {
  const int top = (1 << DEPTH) - 1, level = between(0, top), noise = between(0, 4);
  const int size = between(-30, 30) * (1 << (DEPTH - 8));
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < STRIDE; x++) {
      const int v = level + (x < 32 || y < 8 ? size : 0) + between(-noise, noise);
      p[y * STRIDE + x] = (SAMPLE)(v < 0 ? 0 : v > top ? top : v);
    }
}

static void NAMED(filters)(void) {
#define EDGE                                                                                   \
  if (round_ & 3) NAMED(step)(m->dst);                                                         \
  m->v[0] = between(0, 64) << (DEPTH - 8);                                                     \
  m->tc[0] = (int16_t)(between(0, 24) << (DEPTH - 8)), m->tc[1] = (int16_t)(between(0, 24) << (DEPTH - 8)); \
  if (chance() % 4 == 0) m->tc[chance() & 1] = 0
  EACH(deblockLumaVertical, N * 16, EDGE, f(AT(dst), STRIDE, m->v[0], m->tc));
  EACH(deblockLumaHorizontal, N * 16, EDGE, f(AT(dst), STRIDE, m->v[0], m->tc));
  EACH(deblockChromaVertical, N * 8, EDGE, f(AT(dst), STRIDE, m->tc));
  EACH(deblockChromaHorizontal, N * 8, EDGE, f(AT(dst), STRIDE, m->tc));
#define OFFSETS                                                          \
  for (int i = 0; i < 4; i++) m->offsets[i] = (int8_t)between(-31, 31);  \
  m->v[0] = between(1, 64), m->v[1] = between(1, 12)
  for (int i = 0; i < 4; i++) {
    EACH(saoEdge, N * 4, OFFSETS, f(AT(dst) + 1, STRIDE, AT(a), STRIDE - 1, m->v[0], m->v[1], i, m->offsets));
    EACH(saoEdgeStatistics, N * 4, OFFSETS; if (round_ & 1) m->v[1] = 64,
         f(m->sums, m->counts, AT(src), STRIDE, AT(a) + 1, STRIDE - 1, m->v[0], m->v[1], i));
  }
  EACH(saoBand, N * 8, OFFSETS, f(AT(dst) + 1, STRIDE, AT(a), STRIDE - 1, m->v[0], m->v[1], round_ % 32, m->offsets));
  // A histogram, which no set computes faster than plain C.
  compared[offsetof(NAMED(OVTHEVCKernels), saoBandStatistics) / sizeof(void (*)(void))] = 1;
}

static void NAMED(check)(void) {
  NAMED(ovt_hevc_kernels_init)(&tables[0], OVT_CPU_C);
  NAMED(ovt_hevc_kernels_init)(&tables[1], mask);
  NAMED(residual)(), NAMED(compare)(), NAMED(intra)(), NAMED(inter)(), NAMED(filters)();
  // The first word is the mask of the sets.
  for (size_t i = 1; i < sizeof compared; i++)
    if (!compared[i]) printf("FAILED: nothing compares entry %zu of the table for %d bits\n", i, DEPTH), failures++;
}

#undef Arena
#undef start
#undef plain
#undef simd
#undef tables
#undef compared
#undef refill
#undef samples
#undef AT
#undef EDGE
#undef OFFSETS
