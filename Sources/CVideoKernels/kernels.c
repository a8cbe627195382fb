// SPDX-License-Identifier: Apache-2.0
// The table of kernels.

#include "stages.h"

// The functions that fill the table, in order: later ones replace entries by faster versions.
static const struct {
  int set;
  void (*fill)(OVTVideoKernels *k);
} parts[] = {
    {OVT_CPU_C, ovt_compare_c},
    {OVT_CPU_C, ovt_copy_c},
    {OVT_CPU_C, ovt_intra_predictions_c},
    {OVT_CPU_C, ovt_picture_c},
#if OVT_X86
    {OVT_CPU_SSE4, ovt_compare_sse4},
    {OVT_CPU_SSE4, ovt_copy_sse4},
    {OVT_CPU_SSE4, ovt_intra_predictions_sse4},
    {OVT_CPU_SSE4, ovt_picture_sse4},
    {OVT_CPU_AVX2, ovt_compare_avx2},
    {OVT_CPU_AVX2, ovt_copy_avx2},
    {OVT_CPU_AVX2, ovt_intra_predictions_avx2},
    {OVT_CPU_AVX2, ovt_picture_avx2},
    {OVT_CPU_AVX512, ovt_compare_avx512},
#elif OVT_ARM64
    {OVT_CPU_NEON, ovt_compare_neon},
    {OVT_CPU_NEON, ovt_copy_neon},
    {OVT_CPU_NEON, ovt_intra_predictions_neon},
    {OVT_CPU_NEON, ovt_picture_neon},
#endif
};

int ovt_video_kernels_init(OVTVideoKernels *k, int mask) {
  memset(k, 0, sizeof *k);
  k->cpu = mask & ovt_cpu_features();
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if ((parts[i].set & ~k->cpu) == 0) parts[i].fill(k);
  return k->cpu;
}
