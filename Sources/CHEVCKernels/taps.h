// SPDX-License-Identifier: Apache-2.0
// The filters of inter prediction (8.5.3.3.3), for the samples from -3 to 4 or
// from -1 to 2.
#ifndef OVT_HEVC_TAPS_H
#define OVT_HEVC_TAPS_H

#include <stdint.h>

static const int8_t lumaTaps[4][8] = {
    {0, 0, 0, 64, 0, 0, 0, 0},
    {-1, 4, -10, 58, 17, -5, 1, 0},
    {-1, 4, -11, 40, 40, -11, 4, -1},
    {0, 1, -5, 17, 58, -10, 4, -1},
};
static const int8_t chromaTaps[8][4] = {
    {0, 64, 0, 0},    {-2, 58, 10, -2}, {-4, 54, 16, -2}, {-6, 46, 28, -4},
    {-4, 36, 36, -4}, {-4, 28, 46, -6}, {-2, 16, 54, -4}, {-2, 10, 58, -2},
};

// What intermediate values have less than in the standard.
enum { HIGH_OFFSET = 8192 };

#endif
