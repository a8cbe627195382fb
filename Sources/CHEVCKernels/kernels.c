// SPDX-License-Identifier: Apache-2.0
// The tables of kernels.

#include "stages.h"

// What fills the tables, in order: a later one overwrites what it does better.
static const struct {
  int set;
  void (*fill)(OVTHEVCResidualKernels *k);
} residualParts[] = {
    {OVT_CPU_C, ovt_hevc_transform_c},
    {OVT_CPU_C, ovt_hevc_quant_c},
#if OVT_X86
    {OVT_CPU_SSE4, ovt_hevc_residual_sse4},
    {OVT_CPU_AVX2, ovt_hevc_residual_avx2},
#elif OVT_ARM64
    {OVT_CPU_NEON, ovt_hevc_residual_neon},
#endif
};

static const struct {
  int set;
  void (*fill)(OVTHEVCKernels8 *k);
} parts8[] = {
    {OVT_CPU_C, ovt_hevc_samples8_c},
#if OVT_X86
    {OVT_CPU_SSE4, ovt_hevc_samples8_sse4},
    {OVT_CPU_AVX2, ovt_hevc_samples8_avx2},
#elif OVT_ARM64
    {OVT_CPU_NEON, ovt_hevc_samples8_neon},
#endif
};

static const struct {
  int set;
  void (*fill)(OVTHEVCKernels16 *k);
} parts16[] = {
    {OVT_CPU_C, ovt_hevc_samples16_c},
#if OVT_X86
    {OVT_CPU_SSE4, ovt_hevc_samples16_sse4},
    {OVT_CPU_AVX2, ovt_hevc_samples16_avx2},
#elif OVT_ARM64
    {OVT_CPU_NEON, ovt_hevc_samples16_neon},
#endif
};

#define FILL(PARTS, CPU)                                         \
  for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)    \
    if ((PARTS[i].set & ~(CPU)) == 0) PARTS[i].fill(k);

int ovt_hevc_residual_kernels_init(OVTHEVCResidualKernels *k, int mask) {
  memset(k, 0, sizeof *k);
  k->cpu = mask & ovt_cpu_features();
  FILL(residualParts, k->cpu)
  return k->cpu;
}

int ovt_hevc_kernels_init8(OVTHEVCKernels8 *k, int mask) {
  memset(k, 0, sizeof *k);
  const int cpu = ovt_hevc_residual_kernels_init(&k->residual, mask);
  OVTVideoKernels video;
  ovt_video_kernels_init(&video, mask);
  memcpy(k->sad, video.sad, sizeof k->sad);
  memcpy(k->sadX4, video.sadX4, sizeof k->sadX4);
  memcpy(k->satd, video.satd, sizeof k->satd);
  memcpy(k->ssd, video.ssd, sizeof k->ssd);
  k->mean[0] = video.average[OVT_WIDTH_8];
  k->mean[1] = video.average[OVT_WIDTH_16];
  k->mean[2] = video.average[OVT_WIDTH_32];
  FILL(parts8, cpu)
  return cpu;
}

int ovt_hevc_kernels_init16(OVTHEVCKernels16 *k, int mask) {
  memset(k, 0, sizeof *k);
  const int cpu = ovt_hevc_residual_kernels_init(&k->residual, mask);
  FILL(parts16, cpu)
  return cpu;
}
