// SPDX-License-Identifier: Apache-2.0
// The entries of a table of comparison from functions of any width and height: sad, satd and ssd.
#ifndef OVT_HEVC_SHAPES_H
#define OVT_HEVC_SHAPES_H

#define WIDE_SHAPES(DO) \
  DO(16, 16) DO(16, 8) DO(32, 32) DO(32, 16) DO(16, 32) DO(64, 32) DO(32, 64) DO(64, 64)
#define NARROW_SHAPES(DO) DO(8, 16) DO(8, 8) DO(8, 4) DO(4, 8) DO(4, 4)
#define EACH_SHAPE(DO) WIDE_SHAPES(DO) NARROW_SHAPES(DO)

// SHAPE_SET is the attribute of an instruction set.
#ifndef SHAPE_SET
#define SHAPE_SET
#endif

#define DEFINE_SHAPE(W, H)                                                                                      \
  SHAPE_SET static int sad##W##x##H(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride) {  \
    return sad(src, srcStride, ref, stride, W, H);                                                              \
  }                                                                                                             \
  SHAPE_SET static int satd##W##x##H(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride) { \
    return satd(src, srcStride, ref, stride, W, H);                                                             \
  }                                                                                                             \
  SHAPE_SET static int ssd##W##x##H(const Sample *src, ptrdiff_t srcStride, const Sample *ref, ptrdiff_t stride) {  \
    return ssd(src, srcStride, ref, stride, W, H);                                                              \
  }                                                                                                             \
  SHAPE_SET static void sadX4_##W##x##H(const Sample *src, ptrdiff_t srcStride, const Sample *r0,               \
                                        const Sample *r1, const Sample *r2, const Sample *r3, ptrdiff_t stride, \
                                        int out[4]) {                                                           \
    out[0] = sad(src, srcStride, r0, stride, W, H);                                                             \
    out[1] = sad(src, srcStride, r1, stride, W, H);                                                             \
    out[2] = sad(src, srcStride, r2, stride, W, H);                                                             \
    out[3] = sad(src, srcStride, r3, stride, W, H);                                                             \
  }

#define FILL_SHAPE(W, H)                     \
  k->sad[OVT_##W##x##H] = sad##W##x##H;      \
  k->satd[OVT_##W##x##H] = satd##W##x##H;    \
  k->ssd[OVT_##W##x##H] = ssd##W##x##H;      \
  k->sadX4[OVT_##W##x##H] = sadX4_##W##x##H;

#define DEFINE_MEAN(W)                                                                                                \
  SHAPE_SET static void mean##W(Sample *dst, ptrdiff_t dstStride, const Sample *a, const Sample *b, ptrdiff_t stride, \
                                int height) {                                                                         \
    mean(dst, dstStride, a, b, stride, W, height);                                                                    \
  }

#endif
