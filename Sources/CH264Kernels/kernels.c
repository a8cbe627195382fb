// SPDX-License-Identifier: Apache-2.0
// The table of kernels. What codecs share is filled by CVideoKernels.

#include "stages.h"

// The functions that fill the table, in order: later ones replace entries by faster versions.
static const struct {
  int set;
  void (*fill)(OVTKernels *k);
} parts[] = {
    {OVT_CPU_C, ovt_motion_c},
    {OVT_CPU_C, ovt_transform_c},
    {OVT_CPU_C, ovt_quant_c},
    {OVT_CPU_C, ovt_intra_c},
    {OVT_CPU_C, ovt_deblock_c},
#if OVT_X86
    {OVT_CPU_SSE4, ovt_motion_sse4},
    {OVT_CPU_SSE4, ovt_transform_sse4},
    {OVT_CPU_SSE4, ovt_quant_sse4},
    {OVT_CPU_SSE4, ovt_intra_sse4},
    {OVT_CPU_SSE4, ovt_deblock_sse4},
    {OVT_CPU_AVX2, ovt_motion_avx2},
    {OVT_CPU_AVX2, ovt_transform_avx2},
    {OVT_CPU_AVX2, ovt_quant_avx2},
    {OVT_CPU_AVX2, ovt_intra_avx2},
    {OVT_CPU_AVX2, ovt_deblock_avx2},
    {OVT_CPU_AVX512, ovt_quant_avx512},
#elif OVT_ARM64
    {OVT_CPU_NEON, ovt_motion_neon},
    {OVT_CPU_NEON, ovt_transform_neon},
    {OVT_CPU_NEON, ovt_quant_neon},
    {OVT_CPU_NEON, ovt_intra_neon},
    {OVT_CPU_NEON, ovt_deblock_neon},
#endif
};

int ovt_kernels_init(OVTKernels *k, int mask) {
  memset(k, 0, sizeof *k);
  const int cpu = ovt_video_kernels_init(&k->video, mask);
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if ((parts[i].set & ~cpu) == 0) parts[i].fill(k);
  return cpu;
}
