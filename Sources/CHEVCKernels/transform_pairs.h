// SPDX-License-Identifier: Apache-2.0
// The matrices of transforms (8.6.4.2) in the order in which SIMD multiplies pairs. M is the matrix
// of n points, S that of the sine transform.
#ifndef OVT_HEVC_TRANSFORM_PAIRS_H
#define OVT_HEVC_TRANSFORM_PAIRS_H

#include <stdint.h>

// By [i][k]: M[k][2 i], M[k][2 i + 1].
extern const int16_t ovt_hevc_forward_pairs4[16];
extern const int16_t ovt_hevc_forward_pairs8[64];
extern const int16_t ovt_hevc_forward_pairs16[256];
extern const int16_t ovt_hevc_forward_pairs32[1024];
extern const int16_t ovt_hevc_forward_pairs_sine[16];
// By [i][x]: M[2 i][x], M[2 i + 1][x].
extern const int16_t ovt_hevc_inverse_pairs4[16];
extern const int16_t ovt_hevc_inverse_pairs_sine[16];
// By [i][x], x up to n / 2: M[4 i][x], M[4 i + 2][x], and M[4 i + 1][x], M[4 i + 3][x].
extern const int16_t ovt_hevc_even_pairs8[16];
extern const int16_t ovt_hevc_even_pairs16[64];
extern const int16_t ovt_hevc_even_pairs32[256];
extern const int16_t ovt_hevc_odd_pairs4[4];
extern const int16_t ovt_hevc_odd_pairs8[16];
extern const int16_t ovt_hevc_odd_pairs16[64];
extern const int16_t ovt_hevc_odd_pairs32[256];

#endif
