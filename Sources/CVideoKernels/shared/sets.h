// SPDX-License-Identifier: Apache-2.0
// The definitions that the C files of CVideoKernels and of a codec's kernels share: which
// instruction sets the compiler can emit, and small helpers.
#ifndef OVT_SETS_H
#define OVT_SETS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(_M_X64)
#define OVT_X86 1
#elif defined(__aarch64__) || defined(_M_ARM64)
#define OVT_ARM64 1
#endif

#define OVT_INLINE static inline __attribute__((always_inline))

OVT_INLINE uint8_t ovt_clip_u8(int v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v); }
OVT_INLINE int ovt_abs(int v) { return v < 0 ? -v : v; }
OVT_INLINE int ovt_clip3(int low, int high, int v) { return v < low ? low : v > high ? high : v; }

#endif
