// SPDX-License-Identifier: Apache-2.0
// Which sets of instructions this CPU has, and which of them the environment allows.

#include <stdio.h>
#include <stdlib.h>

#include "stages.h"

int ovt_cpu_features(void) {
#if OVT_X86
  // Whether the system keeps the wide registers is part of the answer.
  __builtin_cpu_init();
  int mask = OVT_CPU_C;
  if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3")) mask |= OVT_CPU_SSE4;
  if (__builtin_cpu_supports("avx2")) mask |= OVT_CPU_AVX2;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
      __builtin_cpu_supports("avx512vnni"))
    mask |= OVT_CPU_AVX512;
  return mask;
#elif OVT_ARM64
  return OVT_CPU_NEON;  // part of the base architecture
#else
  return OVT_CPU_C;
#endif
}

static const struct {
  int set;
  const char *name;
} sets[] = {
    {OVT_CPU_C, "c"},           {OVT_CPU_SSE4, "sse4"}, {OVT_CPU_AVX2, "avx2"},
    {OVT_CPU_AVX512, "avx512"}, {OVT_CPU_NEON, "neon"},
};
enum { SETS = sizeof sets / sizeof sets[0] };

const char *ovt_cpu_name(int set) {
  for (int i = 0; i < SETS; i++)
    if (sets[i].set == set) return sets[i].name;
  return NULL;
}

int ovt_cpu_parse(const char *names) {
  int mask = OVT_CPU_C;
  for (;;) {
    const size_t length = strcspn(names, ",");
    int i = 0;
    while (i < SETS && (strlen(sets[i].name) != length || strncmp(names, sets[i].name, length) != 0)) i++;
    if (i == SETS) return -1;
    mask |= sets[i].set;
    if (names[length] == 0) return mask;
    names += length + 1;
  }
}

int ovt_cpu_detect(void) {
  const int features = ovt_cpu_features();
  const char *names = getenv("OVT_CPU");
  const int usual = features & ~OVT_CPU_AVX512;  // the whole encoder has not been measured with it
  if (names == NULL) return usual;
  const int mask = ovt_cpu_parse(names);
  if (mask < 0) {
    fprintf(stderr, "OVT_CPU: '%s' is not a list of c, sse4, avx2, avx512, neon; it is as if it were not set\n", names);
    return usual;
  }
  return features & mask;
}
