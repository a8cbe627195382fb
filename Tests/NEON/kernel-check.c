// SPDX-License-Identifier: Apache-2.0
// Compares every entry of the NEON tables of CVideoKernels and CH264Kernels with its plain C twin,
// bit for bit; run by scripts/check-neon. Each call gets an arena of its own, alike at first: after
// it the whole arena must be alike, so that what is written outside an output shows.

#include <stdio.h>
#include <stddef.h>
#include <string.h>

#include "CH264Kernels.h"
#include "H264Tables.h"

typedef struct __attribute__((aligned(64))) {
  uint8_t src[4096 + 64], guard0[64], a[8192], guard1[64], b[8192], guard2[64], p[3][8192];
  int16_t coef[512], scale[64], level[128];
  uint16_t mf[64], bias[64];
  int16_t scratch[2048];
  int out[16];
  OVTEdges edges;
  uint64_t result;
} Arena;

static Arena start, plain, simd;
static OVTKernels tables[2];
enum { FIRST = offsetof(OVTKernels, video.sad), ENTRIES = (sizeof(OVTKernels) - FIRST) / sizeof(void (*)(void)) };
static char compared[ENTRIES];
static int failures, twins, round_;
static uint64_t seed = 0x9e3779b97f4a7c15;

static uint32_t chance(void) {  // xorshift64*
  seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
  return (uint32_t)((seed * 0x2545f4914f6cdd1d) >> 32);
}
static int between(int low, int high) { return low + (int)(chance() % (uint32_t)(high - low + 1)); }

// Samples of one of six kinds: noise, black and white, nearly flat, all black, all white, a ramp.
static void samples(uint8_t *p, size_t n) {
  const int kind = round_ % 6, middle = between(0, 255);
  for (size_t i = 0; i < n; i++) {
    const int v = middle + between(-3, 3);
    p[i] = (uint8_t)(kind == 0   ? chance()
                     : kind == 1 ? (chance() & 1 ? 255 : 0)
                     : kind == 2 ? (v < 0 ? 0 : v > 255 ? 255 : v)
                     : kind == 3 ? 0
                     : kind == 4 ? 255
                                 : (int)(i * 3));
  }
}
// Coefficients up to `limit`: dense, sparse, extreme, or one alone.
static void coefficients(int16_t *c, int n, int limit) {
  const int kind = round_ % 4;
  for (int i = 0; i < n; i++)
    c[i] = (int16_t)(kind == 0                          ? between(-limit, limit)
                     : kind == 1                        ? (chance() % 8 ? 0 : between(-limit, limit))
                     : kind == 2                        ? (chance() & 1 ? limit : -limit)
                     : i % 16 == (round_ / 4) % 16      ? between(-limit, limit)
                                                        : 0);
}
static void refill(void) {
  // Once from scratch, since an emulator is slow; what follows is drawn again each time.
  if (round_ == 0)
    for (size_t i = 0; i < sizeof start; i++) ((uint8_t *)&start)[i] = (uint8_t)chance();
  for (int i = 0; i < 512; i++) start.coef[i] = (int16_t)chance();
  for (int i = 0; i < 64; i++) start.scale[i] = (int16_t)chance();
  samples(start.src, sizeof start.src);
  samples(start.a, sizeof start.a);
  if (chance() % 4 == 0) round_ += 6, samples(start.b, sizeof start.b);
  else samples(start.b, sizeof start.b);
  for (int i = 0; i < 64; i++) start.mf[i] = (uint16_t)(round_ & 1 ? chance() : chance() % 13108);
  for (int i = 0; i < 64; i++) start.bias[i] = (uint16_t)(chance() % 32767);
  start.result = 0;
}

#define EACH(ENTRY, TIMES, PREPARE, CALL, TIDY)                                                          \
  do {                                                                                                   \
    const size_t at = (size_t)((char *)&tables[0].ENTRY - (char *)&tables[0] - FIRST) / sizeof(void (*)(void)); \
    compared[at] = 1;                                                                                    \
    if (tables[0].ENTRY == tables[1].ENTRY) printf("FAILED: %s (entry %zu) has no NEON\n", #ENTRY, at), twins++; \
    for (round_ = 0; round_ < (TIMES); round_++) {                                                       \
      refill();                                                                                          \
      const ptrdiff_t stride = (ptrdiff_t[]){16, 32, 48, 37, 64, 83}[chance() % 6];                      \
      (void)stride;                                                                                      \
      { Arena *const m = &start; (void)m; PREPARE; }                                                     \
      plain = start, simd = start;                                                                       \
      for (int path = 0; path < 2; path++) {                                                             \
        Arena *const m = path ? &simd : &plain;                                                          \
        const __typeof__(tables[0].ENTRY) f = tables[path].ENTRY;                                        \
        CALL;                                                                                            \
        TIDY;                                                                                            \
      }                                                                                                  \
      if (memcmp(&plain, &simd, sizeof plain)) {                                                         \
        printf("FAILED: %s (entry %zu), round %d, stride %td\n", #ENTRY, at, round_, stride), failures++;      \
        break;                                                                                           \
      }                                                                                                  \
    }                                                                                                    \
  } while (0)

enum { N = 240 };

// The stride of a source picture, or of a copy of a macroblock.
static ptrdiff_t sourceStride(int width) { return width > 16 || (round_ & 3) == 3 ? 64 : 16; }

static void compare(void) {
  static const int widths[OVT_BLOCK_SHAPES] = {16, 16, 8, 8, 8, 4, 4, 32, 32, 16, 64, 32, 64};
  for (int i = 0; i < OVT_BLOCK_SHAPES; i++) {
    const int w = widths[i];
    EACH(video.sad[i], N, , m->result = (uint64_t)f(m->src, sourceStride(w), m->a + 5, stride), );
    EACH(video.sadX4[i], N, , f(m->src, sourceStride(w), m->a + 5, m->a + 77, m->b + 9, m->b + 300, stride, m->out), );
    EACH(video.satd[i], N, , m->result = (uint64_t)f(m->src, sourceStride(w), m->a + 5, stride), );
    EACH(video.ssd[i], N, , m->result = (uint64_t)f(m->src, sourceStride(w), m->a + 5, stride), );
  }
  EACH(video.sadOfAverage, N, , m->result = (uint64_t)f(m->src, sourceStride(16), m->a + 5, m->b + 9, stride), );
  EACH(video.satdOfAverage, N, , m->result = (uint64_t)f(m->src, sourceStride(16), m->a + 5, m->b + 9, stride), );
  EACH(video.ssdNV12, N, , f(m->src, sourceStride(16), m->a + 3, stride, m->out), );
  EACH(video.satdNV12, N, , m->result = (uint64_t)f(m->src, sourceStride(16), m->a + 3, stride), );
  EACH(video.variance16x16, N, , m->result = f(m->a + 3, stride), );
  EACH(video.ssdRow, N, , m->result = f(m->a + 3, m->b + 1, round_ < 120 ? round_ : 1280 + round_), );
}

static void copies(void) {
  static const int widths[OVT_WIDTHS] = {16, 8, 4, 32, 64};
  for (int i = 0; i < OVT_WIDTHS; i++) {
    EACH(video.copy[i], N, , f(m->p[0] + 64, stride, m->a + 3, stride + 1, widths[i]), );
    EACH(video.average[i], N, , f(m->p[0] + 64, stride, m->a + 3, m->b + 1, stride, widths[i]), );
  }
}

static void motion(void) {
  for (int i = 0; i < 3; i++) {
    const int h = 16 >> i;
    EACH(chroma[i], N * 2, , f(m->p[0] + 64, stride, m->a + 3, stride, round_ & 7, round_ >> 3 & 7, h / 2), );
  }
  // Samples beyond the width may be written, and the scratch holds anything.
  EACH(halfSample, 60, , f(m->p[0] + 512, m->p[1] + 512, m->p[2] + 512, m->a + 512, 256, 16 + 3 * round_, 5, m->scratch),
       memset(m->scratch, 0, sizeof m->scratch);
       for (int i = 0; i < 15; i++) memset(m->p[i % 3] + 512 + 256 * (i / 3) + 16 + 3 * round_, 0, 31));
}

static void transform(void) {
  EACH(forward4x4, N, , f(m->coef, m->src, m->a + 3, stride), );
  EACH(forward4x4x16, N, , f(m->coef, m->src, m->a + 3, stride), );
  EACH(forward8x8, N, , f(m->coef, m->src, m->a + 3, stride), );
  EACH(forward8x8x4, N, , f(m->coef, m->src, m->a + 3, stride), );
  EACH(forwardNV12, N, , f(m->coef, m->src, m->a + 3, stride), );
  // No intermediate value leaves int16_t: 12.25 is the largest gain of 4x4, below 64 that of 8x8.
  EACH(inverse4x4, N, coefficients(m->coef, 16, 2600), f(m->a + 3, stride, m->coef), );
  EACH(inverse4x4DC, N, , f(m->a + 3, stride, round_ * 273 - 32700), );
  EACH(inverse4x4x4, N, coefficients(m->coef, 64, 2600), f(m->a + 3, stride, m->coef), );
  EACH(inverse4x4x16, N, coefficients(m->coef, 256, 2600), f(m->a + 3, stride, m->coef), );
  EACH(inverse8x8, N, coefficients(m->coef, 64, 500), f(m->a + 3, stride, m->coef), );
  EACH(inverseNV12, N, coefficients(m->coef, 128, 2600), f(m->a + 3, stride, m->coef), );
  EACH(hadamard4x4Forward, N, coefficients(m->coef, 16, 4080), f(m->coef), );
  EACH(hadamard4x4Inverse, N, coefficients(m->coef, 16, 2047), f(m->coef), );
#define SYMMETRIC                                                                            \
  for (int i = 0; i < 16; i++) {                                                             \
    m->mf[i] = m->mf[(i & 3) * 4 + (i >> 2)] = (uint16_t)between(1, 1 << between(3, 13));    \
    m->bias[i] = m->bias[(i & 3) * 4 + (i >> 2)] = (uint16_t)between(0, 4000);               \
  }                                                                                          \
  if (round_ & 1)                                                                            \
    for (int y = 0; y < 16; y++)                                                             \
      for (int x = 0; x < 16; x++)                                                           \
        m->a[3 + y * stride + x] = (uint8_t)(m->src[y * 16 + x] ^ (chance() % 64 == 0));
  EACH(isEmpty16x16, N * 4, SYMMETRIC, m->result = (uint64_t)f(m->src, m->a + 3, stride, m->mf, m->bias), );
  EACH(isEmptyNV12, N * 4, SYMMETRIC,
       m->result = (uint64_t)f(m->src, m->a + 3, stride, m->mf, m->bias, m->mf[0], m->bias[0] * 2), );
}

static void quant(void) {
  EACH(quant4x4, N, coefficients(m->coef, 16, 32767), m->result = (uint64_t)f(m->coef, m->mf, m->bias), );
  EACH(quant4x4x4, N, coefficients(m->coef, 64, 32767), m->result = (uint64_t)f(m->coef, m->mf, m->bias), );
  EACH(quant8x8, N, coefficients(m->coef, 64, 32767), m->result = (uint64_t)f(m->coef, m->mf, m->bias), );
  EACH(quantDC, N, coefficients(m->coef, 16, 32767),
       m->result = (uint64_t)f(m->coef, round_ % 3 ? 16 : 4, m->mf[0], m->bias[0]), );
  EACH(scale4x4, N, , f(m->coef, m->scale), );
  EACH(scale4x4x4, N, , f(m->coef, m->scale), );
  EACH(scale8x8, N, , f(m->coef, m->scale, round_ % 7), );
  EACH(scan4x4, N, , f(m->level, m->coef), );
  EACH(scan8x8, N, , f(m->level, m->coef), );
  EACH(interleave8x8, N, , f(m->level, m->coef), );
}

// Inlined functions have no entry.
static void inlined(void) {
  for (int round = 0; round < N * 8; round++) {
    int16_t levels[64];
    uint64_t mask = 0;
    uint32_t sum = 0;
    for (int i = 0; i < 64; i++) {
      levels[i] = (int16_t)(chance() % (round % 9 + 1) ? 0 : between(-2063, 2063));
      if (chance() % 32 == 0) levels[i] = 256;
      mask |= (uint64_t)(levels[i] != 0) << i;
      sum += (uint32_t)(levels[i] < 0 ? -levels[i] : levels[i]);
    }
    const int bad = ovt_nonzero_levels64(levels) != mask || ovt_sum_magnitudes(levels, 64) != sum;
    int differs = bad;
    for (int b = 0; b < 4; b++) differs |= ovt_nonzero_levels16(levels + 16 * b) != (mask >> 16 * b & 0xFFFF);
    if (differs) {
      printf("FAILED: helpers of levels, round %d\n", round), failures++;
      break;
    }
  }
}

// Functions with one variant for an architecture have none either.
static void rows(void) {
  enum { most = 200 };
  for (int round = 0; round < N * 8; round++) {
    const int n = (int)(chance() % (most / 2 + 1)), blocks = n / 32;
    uint8_t a[most], b[most], half[most / 2 + 1] = {0};
    for (int i = 0; i < most; i++) a[i] = chance() % 4 ? (uint8_t)chance() : 255, b[i] = (uint8_t)chance();
    int differs = 0;
    for (int step = 1; step <= 2; step++) {
      uint32_t sum = 1, squares = 2, model[2] = {1, 2};
      ovt_sums(a, n, step, &sum, &squares);
      for (int i = 0; i < n; i++) model[0] += a[i * step], model[1] += (uint32_t)a[i * step] * a[i * step];
      differs |= sum != model[0] || squares != model[1];
    }
    uint32_t sums[most / 32] = {0}, squares = 0, model = 0;
    ovt_block_sums(a, blocks, sums, &squares, b);
    for (int i = 0; i < blocks * 32; i++) sums[i / 32] -= a[i], model += (uint32_t)a[i] * a[i];
    for (int i = 0; i < most / 32; i++) differs |= sums[i] != 0;
    differs |= squares != model;
    ovt_halve_row(half, a, b, n);
    for (int i = 0; i < n; i++) differs |= half[i] != (a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1] + 2) / 4;
    if (differs || half[n] != 0) {
      printf("FAILED: rows of %d samples, round %d\n", n, round), failures++;
      break;
    }
  }
}

// Places of samples that are not available hold nothing of use; neither do those next to the edge.
static void onlyFiltered(uint8_t *a, int available) {
  memset(a, 0, 8), memset(a + 33, 0, 31);
  if (!(available & 1)) memset(a + 8, 0, 8);
  if (!(available & 4)) a[16] = 0;
  if (!(available & 2)) memset(a + 17, 0, 16);
}

static void intra(void) {
  // The column to the left is not part of the block.
  for (int i = 0; i < 7; i++) {
    EACH(intra16x16[i], N, , f(m->a + 128, stride + 16), );
    EACH(intraChroma[i], N, , f(m->a + 128, stride + 16), );
  }
  for (int i = 0; i < 12; i++) {
    EACH(intra4x4[i], N, , f(m->a + 128, stride, m->b + 16), );
    EACH(intra8x8[i], N, , f(m->a + 128, stride, m->b + 16), );
  }
  EACH(video.intraPredictions8x8, N, , f(m->p[0], m->b + 16), );
  EACH(filterEdge8x8, N, , f(m->a + 16, m->b + 16, round_ & 7), onlyFiltered(m->a, round_ & 7));
}

static void edges(OVTEdges *e) {
  for (int i = 0; i < 4; i++) {
    e->bS[i] = 0;
    for (int j = 0; j < 4; j++) e->bS[i] |= (chance() & 3) << (8 * j);
    if (chance() % 5 == 0) e->bS[i] = 0;
  }
  if (chance() & 1) e->bS[0] = 0x04040404;
  for (int i = 0; i < 2; i++) {
    e->alpha[i] = (uint8_t)(chance() % 6 ? between(4, 255) : 0), e->beta[i] = (uint8_t)(chance() % 6 ? between(2, 18) : 0);
    for (int j = 0, t = 0; j < 4; j++) e->tC0[i][j] = (uint8_t)(j ? t += between(0, 8) : 0);
  }
}

static void deblock(void) {
  EACH(deblockLumaVerticalEdges, N * 8, edges(&m->edges), f(m->a + 1024, stride, &m->edges), );
  EACH(deblockLumaHorizontalEdges, N * 8, edges(&m->edges), f(m->a + 1024, stride, &m->edges), );
  EACH(deblockChromaVerticalEdges, N * 8, edges(&m->edges), f(m->a + 1024, stride, &m->edges), );
  EACH(deblockChromaHorizontalEdges, N * 8, edges(&m->edges), f(m->a + 1024, stride, &m->edges), );
}

static void picture(void) {
  EACH(video.interleave8x8Planes, N, , f(m->p[0] + 64, 16 + round_ % 5, m->a + 3, stride, m->b + 1, stride + 5), );
  EACH(video.deinterleaveRow, N, , f(m->p[0] + 65, m->p[1] + 67, m->a + 3, round_), );
}

int main(void) {
  ovt_kernels_init(&tables[0], OVT_CPU_C);
  if (ovt_kernels_init(&tables[1], OVT_CPU_NEON) != OVT_CPU_NEON) return puts("there is no NEON table"), 1;
  compare(), copies(), motion(), transform(), quant(), inlined(), rows(), intra(), deblock(), picture();
  int seen = 0;
  for (int i = 0; i < ENTRIES; i++) {
    seen += compared[i];
    if (!compared[i]) printf("FAILED: nothing compares entry %d of the table\n", i), failures++;
  }
  printf("%d of %d entries compared, %d have no NEON, %d failures\n", seen, ENTRIES, twins, failures);
  return failures + twins != 0;
}
