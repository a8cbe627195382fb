// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of this module share: a fill function for each subject and
// instruction set.
#ifndef OVT_VIDEO_STAGES_H
#define OVT_VIDEO_STAGES_H

#include "CVideoKernels.h"
#include "shared/sets.h"

// Each fills its part of the table; a later set overwrites what it does better.
void ovt_compare_c(OVTVideoKernels *k);
void ovt_copy_c(OVTVideoKernels *k);
void ovt_intra_predictions_c(OVTVideoKernels *k);
void ovt_picture_c(OVTVideoKernels *k);
#if OVT_X86
void ovt_compare_sse4(OVTVideoKernels *k);
void ovt_copy_sse4(OVTVideoKernels *k);
void ovt_intra_predictions_sse4(OVTVideoKernels *k);
void ovt_picture_sse4(OVTVideoKernels *k);
void ovt_compare_avx2(OVTVideoKernels *k);
void ovt_copy_avx2(OVTVideoKernels *k);
void ovt_intra_predictions_avx2(OVTVideoKernels *k);
void ovt_picture_avx2(OVTVideoKernels *k);
void ovt_compare_avx512(OVTVideoKernels *k);
#endif
#if OVT_ARM64
void ovt_compare_neon(OVTVideoKernels *k);
void ovt_copy_neon(OVTVideoKernels *k);
void ovt_intra_predictions_neon(OVTVideoKernels *k);
void ovt_picture_neon(OVTVideoKernels *k);
#endif

#endif
