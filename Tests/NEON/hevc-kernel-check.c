// SPDX-License-Identifier: Apache-2.0
// Compares every entry of the SIMD tables of CHEVCKernels with its plain C twin, bit for bit; run
// by scripts/check-neon. Each call gets an arena of its own, alike at first: after it the whole
// arena must be alike, so that what is written outside an output shows. The sets to compare are the
// first argument (as in OVT_CPU), neon without one: the same program checks the sets of x86.

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "hevc_kernels.h"

static int failures, twins, round_, mask;
static uint64_t seed = 0x9e3779b97f4a7c15;

static uint32_t chance(void) {  // xorshift64*
  seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
  return (uint32_t)((seed * 0x2545f4914f6cdd1d) >> 32);
}
static int between(int low, int high) { return low + (int)(chance() % (uint32_t)(high - low + 1)); }

// Values up to `limit`: dense, sparse, extreme, or in one corner of a block of n rows.
static void coefficients(int16_t *c, int n, int limit, int columns, int rows) {
  const int kind = (int)(chance() % 4);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++)
      c[y * n + x] = (int16_t)(x >= columns || y >= rows ? 0
                               : kind == 0               ? between(-limit, limit)
                               : kind == 1               ? (chance() % 8 ? 0 : between(-limit, limit))
                               : kind == 2               ? (chance() & 1 ? limit : -limit)
                                                         : between(-2, 2));
}

// Few rounds, since an emulator is slow: many entries take part in one loop over sizes.
enum { STRIDE = 128, ROWS = 80, N = 24 };

// `table` is tables[0] or tables[1], `m` the arena. ENTRY is that of the table, as in
// OVTHEVCKernels8.
#define EACH(ENTRY, TIMES, PREPARE, CALL)                                                             \
  do {                                                                                                \
    const size_t at = (size_t)((char *)&tables[0].ENTRY - (char *)&tables[0]) / sizeof(void (*)(void)); \
    compared[at] = 1;                                                                                 \
    if (tables[0].ENTRY == tables[1].ENTRY && mask == OVT_CPU_NEON)                                   \
      printf("FAILED: %s (entry %zu) has no NEON\n", #ENTRY, at), twins++;                            \
    if (tables[0].ENTRY == tables[1].ENTRY) break;                                                    \
    for (round_ = 0; round_ < (TIMES); round_++) {                                                    \
      refill();                                                                                       \
      { Arena *const m = &start; (void)m; PREPARE; }                                                  \
      plain = start, simd = start;                                                                    \
      for (int path = 0; path < 2; path++) {                                                          \
        Arena *const m = path ? &simd : &plain;                                                       \
        const __typeof__(tables[0].ENTRY) f = tables[path].ENTRY;                                     \
        CALL;                                                                                         \
      }                                                                                               \
      if (memcmp(&plain, &simd, sizeof plain)) {                                                      \
        printf("FAILED: %d bits: %s (entry %zu), round %d\n", DEPTH, #ENTRY, at, round_), failures++; \
        break;                                                                                        \
      }                                                                                               \
    }                                                                                                 \
  } while (0)

#define SAMPLE uint8_t
#define DEPTH 8
#define NAMED(NAME) NAME##8
#include "hevc-sample-checks.h"
#undef SAMPLE
#undef DEPTH
#undef NAMED
#define SAMPLE uint16_t
#define DEPTH 10
#define NAMED(NAME) NAME##16
#include "hevc-sample-checks.h"

int main(int argc, char **argv) {
  mask = argc > 1 ? ovt_cpu_parse(argv[1]) : OVT_CPU_NEON;
  if (mask <= 0 || (mask & ~ovt_cpu_features()) != 0) return puts("this CPU has no such set"), 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  check8(), check16();
  printf("%d entries without SIMD, %d failures\n", twins, failures);
  return failures + twins != 0;
}
