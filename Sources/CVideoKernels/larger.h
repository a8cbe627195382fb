// SPDX-License-Identifier: Apache-2.0
// Comparison of blocks of more than 16x16 samples as sums over those of 16x16, for every
// instruction set that has no better way.
#ifndef OVT_LARGER_H
#define OVT_LARGER_H

#define LARGER_SUM(SET, SUFFIX, NAME, W, H)                                                                      \
  SET static int NAME##W##x##H##SUFFIX(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *ref,              \
                                       ptrdiff_t stride) {                                                       \
    int sum = 0;                                                                                                 \
    for (int y = 0; y < H; y += 16)                                                                              \
      for (int x = 0; x < W; x += 16)                                                                            \
        sum += NAME##16x16##SUFFIX(src + y * srcStride + x, srcStride, ref + y * stride + x, stride);            \
    return sum;                                                                                                  \
  }

#define LARGER_SUMS(SET, SUFFIX, W, H) LARGER_SUM(SET, SUFFIX, satd, W, H) LARGER_SUM(SET, SUFFIX, ssd, W, H)
#define LARGER_SAD(SET, SUFFIX, W, H)                                                                            \
  LARGER_SUM(SET, SUFFIX, sad, W, H)                                                                             \
  SET static void sadX4_##W##x##H##SUFFIX(const uint8_t *src, ptrdiff_t srcStride, const uint8_t *r0,            \
                                          const uint8_t *r1, const uint8_t *r2, const uint8_t *r3,               \
                                          ptrdiff_t stride, int out[4]) {                                        \
    int sums[4] = {0};                                                                                           \
    for (int y = 0; y < H; y += 16)                                                                              \
      for (int x = 0; x < W; x += 16) {                                                                          \
        const ptrdiff_t at = y * stride + x;                                                                     \
        int part[4];                                                                                             \
        sadX4_16x16##SUFFIX(src + y * srcStride + x, srcStride, r0 + at, r1 + at, r2 + at, r3 + at, stride, part); \
        for (int i = 0; i < 4; i++) sums[i] += part[i];                                                          \
      }                                                                                                          \
    for (int i = 0; i < 4; i++) out[i] = sums[i];                                                                \
  }

// DEFINE(SET, SUFFIX, W, H) for every shape, where SET is the attribute of an instruction set and
// SUFFIX that of its names.
#define LARGER_SHAPES(DEFINE, SET, SUFFIX) \
  DEFINE(SET, SUFFIX, 32, 32)              \
  DEFINE(SET, SUFFIX, 32, 16)              \
  DEFINE(SET, SUFFIX, 16, 32)              \
  DEFINE(SET, SUFFIX, 64, 32)              \
  DEFINE(SET, SUFFIX, 32, 64)              \
  DEFINE(SET, SUFFIX, 64, 64)

#endif
