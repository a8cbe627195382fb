// SPDX-License-Identifier: Apache-2.0
// What the files of this module share: a fill function for each stage and set of instructions, and small helpers.
#ifndef OVT_STAGES_H
#define OVT_STAGES_H

#include <string.h>

#include "CH264Kernels.h"

#if defined(__x86_64__) || defined(_M_X64)
#define OVT_X86 1
#elif defined(__aarch64__) || defined(_M_ARM64)
#define OVT_ARM64 1
#endif

#define OVT_INLINE static inline __attribute__((always_inline))

// Each fills its part of the table; a later set overwrites what it does better.
void ovt_compare_c(OVTKernels *k);
void ovt_motion_c(OVTKernels *k);
void ovt_transform_c(OVTKernels *k);
void ovt_quant_c(OVTKernels *k);
void ovt_intra_c(OVTKernels *k);
void ovt_deblock_c(OVTKernels *k);
void ovt_picture_c(OVTKernels *k);
#if OVT_X86
void ovt_compare_sse4(OVTKernels *k);
void ovt_motion_sse4(OVTKernels *k);
void ovt_transform_sse4(OVTKernels *k);
void ovt_quant_sse4(OVTKernels *k);
void ovt_intra_sse4(OVTKernels *k);
void ovt_deblock_sse4(OVTKernels *k);
void ovt_picture_sse4(OVTKernels *k);
void ovt_compare_avx2(OVTKernels *k);
void ovt_motion_avx2(OVTKernels *k);
void ovt_transform_avx2(OVTKernels *k);
void ovt_quant_avx2(OVTKernels *k);
void ovt_intra_avx2(OVTKernels *k);
void ovt_deblock_avx2(OVTKernels *k);
void ovt_picture_avx2(OVTKernels *k);
void ovt_compare_avx512(OVTKernels *k);
void ovt_quant_avx512(OVTKernels *k);
#endif
#if OVT_ARM64
void ovt_compare_neon(OVTKernels *k);
void ovt_motion_neon(OVTKernels *k);
void ovt_transform_neon(OVTKernels *k);
void ovt_quant_neon(OVTKernels *k);
void ovt_intra_neon(OVTKernels *k);
void ovt_deblock_neon(OVTKernels *k);
void ovt_picture_neon(OVTKernels *k);
void ovt_intra_edge_neon(OVTKernels *k);
#endif

OVT_INLINE uint8_t ovt_clip_u8(int v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v); }
OVT_INLINE int ovt_abs(int v) { return v < 0 ? -v : v; }
OVT_INLINE int ovt_clip3(int low, int high, int v) { return v < low ? low : v > high ? high : v; }

#endif
