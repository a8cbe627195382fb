// SPDX-License-Identifier: Apache-2.0
// Samples of 10 bits, for the files that are written for any depth.
#ifndef OVT_HEVC_DEPTH_H
#define OVT_HEVC_DEPTH_H

#include "stages.h"

typedef uint16_t Sample;
typedef OVTHEVCKernels16 Kernels;
#define SAMPLE_BYTES 2
enum { BIT_DEPTH = 10, SAMPLE_MAX = 1023 };

OVT_INLINE Sample clipSample(int v) { return (Sample)ovt_clip3(0, SAMPLE_MAX, v); }

#endif
