// SPDX-License-Identifier: Apache-2.0
// CPU detection and the table of kernels.

#include "stages.h"

int ovt_cpu_detect(void) {
#if OVT_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) return OVT_CPU_AVX2;
  if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3")) return OVT_CPU_SSE4;
  return OVT_CPU_C;
#elif OVT_ARM64
  return OVT_CPU_NEON;  // part of the base architecture
#else
  return OVT_CPU_C;
#endif
}

int ovt_kernels_init(OVTKernels *k, int cpu) {
  memset(k, 0, sizeof *k);
  ovt_compare_c(k);
  ovt_motion_c(k);
  ovt_transform_c(k);
  ovt_quant_c(k);
  ovt_intra_c(k);
  ovt_deblock_c(k);
  ovt_picture_c(k);
  k->cpu = OVT_CPU_C;
#if OVT_X86
  const int best = ovt_cpu_detect();
  if (cpu > best) cpu = best;
  if (cpu >= OVT_CPU_SSE4) {
    ovt_compare_sse4(k);
    ovt_motion_sse4(k);
    ovt_transform_sse4(k);
    ovt_quant_sse4(k);
    ovt_intra_sse4(k);
    ovt_deblock_sse4(k);
    ovt_picture_sse4(k);
    k->cpu = OVT_CPU_SSE4;
  }
  if (cpu >= OVT_CPU_AVX2) {
    ovt_compare_avx2(k);
    ovt_motion_avx2(k);
    ovt_transform_avx2(k);
    ovt_quant_avx2(k);
    ovt_intra_avx2(k);
    ovt_deblock_avx2(k);
    ovt_picture_avx2(k);
    k->cpu = OVT_CPU_AVX2;
  }
#elif OVT_ARM64
  if (cpu == OVT_CPU_NEON) {
    ovt_compare_neon(k);
    ovt_motion_neon(k);
    ovt_transform_neon(k);
    ovt_quant_neon(k);
    ovt_intra_neon(k);
    ovt_deblock_neon(k);
    ovt_picture_neon(k);
    k->cpu = OVT_CPU_NEON;
  }
#else
  (void)cpu;
#endif
  return k->cpu;
}
