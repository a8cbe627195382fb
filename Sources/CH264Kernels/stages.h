// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of this module share: a fill function for each stage and set of
// instructions. `sets.h` and `x86.h` are those of CVideoKernels.
#ifndef OVT_STAGES_H
#define OVT_STAGES_H

#include "CH264Kernels.h"
#include "sets.h"

// Each fills its part of the table; a later set overwrites what it does better.
void ovt_motion_c(OVTKernels *k);
void ovt_transform_c(OVTKernels *k);
void ovt_quant_c(OVTKernels *k);
void ovt_intra_c(OVTKernels *k);
void ovt_deblock_c(OVTKernels *k);
#if OVT_X86
void ovt_motion_sse4(OVTKernels *k);
void ovt_transform_sse4(OVTKernels *k);
void ovt_quant_sse4(OVTKernels *k);
void ovt_intra_sse4(OVTKernels *k);
void ovt_deblock_sse4(OVTKernels *k);
void ovt_motion_avx2(OVTKernels *k);
void ovt_transform_avx2(OVTKernels *k);
void ovt_quant_avx2(OVTKernels *k);
void ovt_intra_avx2(OVTKernels *k);
void ovt_deblock_avx2(OVTKernels *k);
void ovt_quant_avx512(OVTKernels *k);
#endif
#if OVT_ARM64
void ovt_motion_neon(OVTKernels *k);
void ovt_transform_neon(OVTKernels *k);
void ovt_quant_neon(OVTKernels *k);
void ovt_intra_neon(OVTKernels *k);
void ovt_deblock_neon(OVTKernels *k);
void ovt_intra_edge_neon(OVTKernels *k);
#endif

#endif
