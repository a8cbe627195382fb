// SPDX-License-Identifier: Apache-2.0
// How calls are measured and printed: what the files of kernel-bench share.
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 301, MAX_PATHS = 5 };

// The sets of instructions of this CPU, each with those before it.
extern const char *pathNames[MAX_PATHS];
extern int pathCount, pathSets[MAX_PATHS];
extern double scaleToCycles;
// A part of the names of what is measured.
extern const char *filter;

// Measures the kernels of HEVC, where they are built.
void measureHEVC(void);

// MARK: - Time

static inline uint64_t ticks(void) {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
  uint64_t t;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(t)::"memory");
  return t;
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static inline int compareDoubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, compareDoubles);
  return values[n / 2];
}

// Measures the cycles per tick with a chain of dependent additions, which take one cycle each.
static inline double cyclesPerTick(void) {
  double values[RUNS];
  for (int run = 0; run < RUNS; run++) {
    uint64_t v = (uint64_t)run;
    const uint64_t start = ticks();
    for (int i = 0; i < 2000; i++) {
#if defined(__x86_64__)
#define ADD "lea 1(%0), %0\n\t"
#elif defined(__aarch64__)
#define ADD "add %0, %0, #1\n\t"
#else
#define ADD ""
#endif
      __asm__ volatile(ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD : "+r"(v));
    }
    values[run] = 40000.0 / (double)(ticks() - start);
  }
  return median(values, RUNS);
}

// MARK: - The table

static inline void report(const char *name, const double *cycles) {
  printf("%-32s", name);
  for (int p = 0; p < pathCount; p++) printf(" %9.1f", cycles[p]);
  if (pathCount > 1) printf(" %8.1fx", cycles[0] / cycles[pathCount - 1]);
  printf("\n");
}

// CALL can use `k`, the table of kernels, and `i`, the number of the call, which changes the
// addresses.
#define MEASURE_WITH(TABLE, TABLES, NAME, CALL)                                              \
  do {                                                                                       \
    if (!strstr(NAME, filter)) break;                                                        \
    double cycles[MAX_PATHS];                                                                \
    for (int p = 0; p < pathCount; p++) {                                                    \
      const TABLE *k = &TABLES[p];                                                           \
      double values[RUNS];                                                                   \
      int calls = 16;                                                                        \
      for (int run = -4; run < RUNS; run++) {                                                \
        const uint64_t start = ticks();                                                      \
        for (int i = 0; i < calls; i++) {                                                    \
          CALL;                                                                              \
        }                                                                                    \
        const double elapsed = (double)(ticks() - start) * scaleToCycles;                    \
        if (run < 0) {                                                                       \
          if (elapsed < 20000) calls = (int)(calls * 20000 / (elapsed + 1)) + 1;             \
          if (calls > 5000) calls = 5000;                                                    \
        } else {                                                                             \
          values[run] = elapsed / calls;                                                     \
        }                                                                                    \
      }                                                                                      \
      cycles[p] = median(values, RUNS);                                                      \
    }                                                                                        \
    report(NAME, cycles);                                                                    \
  } while (0)

#endif
