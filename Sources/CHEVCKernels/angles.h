// SPDX-License-Identifier: Apache-2.0
// The directions of intra prediction (8.4.4.2.6, tables 8-5 and 8-6).
#ifndef OVT_HEVC_ANGLES_H
#define OVT_HEVC_ANGLES_H

#include <stdint.h>

// intraPredAngle by mode; modes 0 and 1 have none.
static const int8_t intraAngles[35] = {0,  0,  32, 26,  21,  17,  13,  9,   5,   2,   0,   -2,
                                       -5, -9, -13, -17, -21, -26, -32, -26, -21, -17, -13, -9,
                                       -5, -2, 0,  2,   5,   9,   13,  17,  21,  26,  32};
// -invAngle by mode - 11, for modes 11 to 25.
static const int16_t inverseAngles[15] = {4096, 1638, 910, 630, 482, 390,  315, 256,
                                         315,  390,  482, 630, 910, 1638, 4096};

#endif
