// SPDX-License-Identifier: Apache-2.0
// What the files of this module share: a fill function for each stage and set of instructions.
// `sets.h` and `x86.h` are those of CVideoKernels.
#ifndef OVT_HEVC_STAGES_H
#define OVT_HEVC_STAGES_H

#include "hevc_kernels.h"
#include "sets.h"

// Each fills its part of the table; a later set overwrites what it does better.
void ovt_hevc_transform_c(OVTHEVCResidualKernels *k);
void ovt_hevc_quant_c(OVTHEVCResidualKernels *k);
void ovt_hevc_samples8_c(OVTHEVCKernels8 *k);
void ovt_hevc_samples16_c(OVTHEVCKernels16 *k);
#if OVT_X86
void ovt_hevc_residual_sse4(OVTHEVCResidualKernels *k);
void ovt_hevc_samples8_sse4(OVTHEVCKernels8 *k);
void ovt_hevc_samples16_sse4(OVTHEVCKernels16 *k);
void ovt_hevc_residual_avx2(OVTHEVCResidualKernels *k);
void ovt_hevc_samples8_avx2(OVTHEVCKernels8 *k);
void ovt_hevc_samples16_avx2(OVTHEVCKernels16 *k);
#endif
#if OVT_ARM64
void ovt_hevc_residual_neon(OVTHEVCResidualKernels *k);
void ovt_hevc_samples8_neon(OVTHEVCKernels8 *k);
void ovt_hevc_samples16_neon(OVTHEVCKernels16 *k);
#endif

OVT_INLINE int ovt_clip16(int v) { return ovt_clip3(INT16_MIN, INT16_MAX, v); }

#endif
