// SPDX-License-Identifier: Apache-2.0
// Samples of 8 bits, for the files that are written for any depth.
#ifndef OVT_HEVC_DEPTH_H
#define OVT_HEVC_DEPTH_H

#include "stages.h"

typedef uint8_t Sample;
typedef OVTHEVCKernels8 Kernels;
#define SAMPLE_BYTES 1
enum { BIT_DEPTH = 8, SAMPLE_MAX = 255 };

OVT_INLINE Sample clipSample(int v) { return (Sample)ovt_clip3(0, SAMPLE_MAX, v); }

#endif
