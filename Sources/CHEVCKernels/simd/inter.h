// SPDX-License-Identifier: Apache-2.0
// Inter prediction samples (8.5.3.3.3, 8.5.3.3.4) in the vectors that are included before. Blocks
// are worked on in strips of up to LANES columns.

#include "../taps.h"

enum { SAMPLE_SHIFT = 14 - BIT_DEPTH, MAX_ROWS = 64 + 7 };

// The weights of a filter in the forms that it needs: pairs of int16_t, and of bytes.
typedef struct {
  V pairs[4], bytes[4];
} Filter;
SIMD_INLINE Filter makeFilter(const int8_t *taps, int count) {
  Filter f;
  for (int i = 0; i < count / 2; i++) {
    f.pairs[i] = vpairOf(taps[2 * i], taps[2 * i + 1]);
#if SAMPLE_BYTES == 1
    f.bytes[i] = vweights(taps[2 * i], taps[2 * i + 1]);
#endif
  }
  return f;
}

SIMD_INLINE Wide weighZips(const Zip *zips, const Filter *f, int count, int start) {
  Wide sum = wideSet(start);
  for (int i = 0; i < count / 2; i++) sum = wideAdd(sum, wideMulZip(zips[2 * i], f->pairs[i]));
  return sum;
}

// Filtered along a row, with shift1 (8.5.3.3.3.1): what a sample is in 14 bits; fits int16_t.
SIMD_INLINE V filterAlong(const Sample *src, const Filter *f, int count) {
  const Sample *const first = src - count / 2 + 1;
#if SAMPLE_BYTES == 1
  return filterBytes(first, f->bytes, count);
#else
  Wide sum = wideSet(0);
  for (int i = 0; i < count; i += 2)
    sum = wideAdd(sum, wideMulZip(vzip(sampleLoad(first + i), sampleLoad(first + i + 1)), f->pairs[i / 2]));
  return widePack(wideSra(sum, BIT_DEPTH - 8));
#endif
}

// One value in 14 bits, as an intermediate value or as a sample.
SIMD_INLINE void putHigh(int16_t *dst, V v, int n) { vstorePart(dst, vsub(v, vset(HIGH_OFFSET)), n); }
SIMD_INLINE void putSample(Sample *dst, V v, int n) {
  sampleStore(dst, vsra(vadds(v, vset(1 << (SAMPLE_SHIFT - 1))), SAMPLE_SHIFT), n);
}
#define PUT(Y, VALUE)                                                           \
  {                                                                             \
    const V value = VALUE;                                                      \
    if (isHigh) putHigh((int16_t *)dst + (Y) * dstStride + x, value, n);        \
    else putSample((Sample *)dst + (Y) * dstStride + x, value, n);              \
  }

SIMD_INLINE void interpolate(void *dst, ptrdiff_t dstStride, const Sample *src, ptrdiff_t srcStride, int width,
                             int height, const int8_t *xTaps, const int8_t *yTaps, int xFrac, int yFrac, int count,
                             int isHigh) {
  const Filter along = makeFilter(xTaps, count), down = makeFilter(yTaps, count);
  const int above = count / 2 - 1, rows = height + count - 1;
  EACH_STRIP(width) {
    const Sample *const from = src + x;
    if (yFrac == 0) {
      for (int y = 0; y < height; y++) {
        if (xFrac == 0) PUT(y, vsll(sampleLoad(from + y * srcStride), SAMPLE_SHIFT))
        else PUT(y, filterAlong(from + y * srcStride, &along, count))
      }
      continue;
    }
    const Sample *const top = from - above * srcStride;
#if SAMPLE_BYTES == 1
    if (xFrac == 0) {
      V pairs[MAX_ROWS], last = sampleLoad(top);
      for (int y = 1; y < rows; y++) {
        const V next = sampleLoad(top + y * srcStride);
        pairs[y - 1] = vbytes(last, next), last = next;
      }
      for (int y = 0; y < height; y++) {
        V sum = vadd(vweigh(pairs[y], down.bytes[0]), vweigh(pairs[y + 2], down.bytes[1]));
        if (count == 8) sum = vadd(sum, vadd(vweigh(pairs[y + 4], down.bytes[2]), vweigh(pairs[y + 6], down.bytes[3])));
        PUT(y, sum)
      }
      continue;
    }
#endif
    Zip zips[MAX_ROWS];
    V last = xFrac == 0 ? sampleLoad(top) : filterAlong(top, &along, count);
    for (int y = 1; y < rows; y++) {
      const Sample *const row = top + y * srcStride;
      const V next = xFrac == 0 ? sampleLoad(row) : filterAlong(row, &along, count);
      zips[y - 1] = vzip(last, next), last = next;
    }
    if (xFrac == 0) {
      for (int y = 0; y < height; y++) PUT(y, widePack(wideSra(weighZips(zips + y, &down, count, 0), BIT_DEPTH - 8)))
      continue;
    }
    // After both filters a value may leave int16_t until the offset is taken away, or all is
    // rounded.
    for (int y = 0; y < height; y++) {
      if (isHigh) {
        const Wide sum = weighZips(zips + y, &down, count, -HIGH_OFFSET * 64);
        vstorePart((int16_t *)dst + y * dstStride + x, widePack(wideSra(sum, 6)), n);
      } else {
        const Wide sum = weighZips(zips + y, &down, count, 1 << (5 + SAMPLE_SHIFT));
        sampleStore((Sample *)dst + y * dstStride + x, widePack(wideSra(sum, 6 + SAMPLE_SHIFT)), n);
      }
    }
  }
}

#define INTERPOLATION(NAME, TAPS, COUNT)                                                                           \
  SIMD void NAME##High(int16_t *dst, ptrdiff_t dstStride, const Sample *src, ptrdiff_t srcStride, int width,       \
                       int height, int xFrac, int yFrac) {                                                         \
    interpolate(dst, dstStride, src, srcStride, width, height, TAPS[xFrac], TAPS[yFrac], xFrac, yFrac, COUNT, 1);  \
  }                                                                                                                \
  SIMD void NAME(Sample *dst, ptrdiff_t dstStride, const Sample *src, ptrdiff_t srcStride, int width, int height,  \
                 int xFrac, int yFrac) {                                                                           \
    interpolate(dst, dstStride, src, srcStride, width, height, TAPS[xFrac], TAPS[yFrac], xFrac, yFrac, COUNT, 0);  \
  }
INTERPOLATION(luma, lumaTaps, 8)
INTERPOLATION(chroma, chromaTaps, 4)

// The rows between the filters of all three positions are computed once.
SIMD void lumaHalves(Sample *const planes[3], const Sample *src, ptrdiff_t stride, int width, int height) {
  const Filter f = makeFilter(lumaTaps[2], 8);
  const int rows = height + 7;
  EACH_STRIP(width) {
    const Sample *row = src + x - 3 * stride;
    Zip zips[MAX_ROWS];
#if SAMPLE_BYTES == 1
    V pairs[MAX_ROWS];
#else
    Zip pairs[MAX_ROWS];
#endif
    V last = vzero(), lastAlong = vzero();
    for (int y = 0; y < rows; y++, row += stride) {
      const V next = sampleLoad(row), along = filterAlong(row, &f, 8);
      if (y >= 3 && y < height + 3) putSample(planes[0] + (y - 3) * stride + x, along, n);
      if (y > 0) {
        zips[y - 1] = vzip(lastAlong, along);
#if SAMPLE_BYTES == 1
        pairs[y - 1] = vbytes(last, next);
#else
        pairs[y - 1] = vzip(last, next);
#endif
      }
      last = next, lastAlong = along;
    }
    for (int y = 0; y < height; y++) {
#if SAMPLE_BYTES == 1
      const V down = vadd(vadd(vweigh(pairs[y], f.bytes[0]), vweigh(pairs[y + 2], f.bytes[1])),
                          vadd(vweigh(pairs[y + 4], f.bytes[2]), vweigh(pairs[y + 6], f.bytes[3])));
#else
      const V down = widePack(wideSra(weighZips(pairs + y, &f, 8, 0), BIT_DEPTH - 8));
#endif
      putSample(planes[1] + y * stride + x, down, n);
      const Wide sum = weighZips(zips + y, &f, 8, 1 << (5 + SAMPLE_SHIFT));
      sampleStore(planes[2] + y * stride + x, widePack(wideSra(sum, 6 + SAMPLE_SHIFT)), n);
    }
  }
}

// Where a sum saturates, the sample is clipped just the same.
SIMD void roundHigh(Sample *dst, ptrdiff_t dstStride, const int16_t *a, ptrdiff_t stride, int width, int height) {
  const V offset = vset(HIGH_OFFSET + (1 << (SAMPLE_SHIFT - 1)));
  EACH_STRIP(width)
    for (int y = 0; y < height; y++)
      sampleStore(dst + y * dstStride + x, vsra(vadds(vloadPart(a + y * stride + x, n), offset), SAMPLE_SHIFT), n);
}

SIMD void average(Sample *dst, ptrdiff_t dstStride, const int16_t *a, const int16_t *b, ptrdiff_t stride, int width,
                  int height) {
  const V offset = vset(2 * HIGH_OFFSET + (1 << SAMPLE_SHIFT));
  EACH_STRIP(width)
    for (int y = 0; y < height; y++) {
      const V sum = vadds(vloadPart(a + y * stride + x, n), vloadPart(b + y * stride + x, n));
      sampleStore(dst + y * dstStride + x, vsra(vadds(sum, offset), SAMPLE_SHIFT + 1), n);
    }
}

SIMD void weigh(Sample *dst, ptrdiff_t dstStride, const int16_t *a, ptrdiff_t stride, int width, int height,
                int log2WD, int w, int o) {
  const Wide start = wideSet(HIGH_OFFSET * w + (1 << (log2WD - 1))), offset = wideSet(o);
  EACH_STRIP(width)
    for (int y = 0; y < height; y++) {
      const Wide product = wideMul(vloadPart(a + y * stride + x, n), vzero(), w, 0);
      sampleStore(dst + y * dstStride + x, widePack(wideAdd(wideSra(wideAdd(product, start), log2WD), offset)), n);
    }
}

SIMD void weighBoth(Sample *dst, ptrdiff_t dstStride, const int16_t *a, const int16_t *b, ptrdiff_t stride, int width,
                    int height, int log2WD, int w0, int w1, int o0, int o1) {
  const Wide start = wideSet(HIGH_OFFSET * (w0 + w1) + (o0 + o1 + 1) * (1 << log2WD));
  EACH_STRIP(width)
    for (int y = 0; y < height; y++) {
      const Wide sum = wideMul(vloadPart(a + y * stride + x, n), vloadPart(b + y * stride + x, n), w0, w1);
      sampleStore(dst + y * dstStride + x, widePack(wideSra(wideAdd(sum, start), log2WD + 1)), n);
    }
}

#define FILL_INTER                                                                              \
  k->luma = luma, k->lumaHigh = lumaHigh, k->chroma = chroma, k->chromaHigh = chromaHigh;       \
  k->lumaHalves = lumaHalves;                                                                   \
  k->round = roundHigh, k->average = average, k->weigh = weigh, k->weighBoth = weighBoth;
