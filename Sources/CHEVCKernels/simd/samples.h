// SPDX-License-Identifier: Apache-2.0
// Samples as lanes of int16_t, for the depth and the vectors that are included before.
#ifndef OVT_HEVC_SAMPLES_H
#define OVT_HEVC_SAMPLES_H

SIMD_INLINE V clipLanes(V v) { return vmin(vmax(v, vzero()), vset(SAMPLE_MAX)); }

#if SAMPLE_BYTES == 1
SIMD_INLINE V sampleLoad(const Sample *p) { return vloadBytes(p); }
SIMD_INLINE V sampleLoadPart(const Sample *p, int n) { return vloadBytesPart(p, n); }
SIMD_INLINE void sampleStore(Sample *p, V v, int n) { vstoreBytesPart(p, v, n); }  // clips
#else
SIMD_INLINE V sampleLoad(const Sample *p) { return vload((const int16_t *)p); }
SIMD_INLINE V sampleLoadPart(const Sample *p, int n) { return vloadPart((const int16_t *)p, n); }
SIMD_INLINE void sampleStore(Sample *p, V v, int n) { vstorePart((int16_t *)p, clipLanes(v), n); }
#endif

// Eight by eight lanes: each round of zips moves a bit of the row's number into the lane's.
SIMD_INLINE void transpose8(V v[8]) {
  for (int round = 0; round < 3; round++) {
    V t[8];
    for (int i = 0; i < 4; i++) {
      const Zip z = vzip(v[i], v[i + 4]);
      t[2 * i] = z.lo, t[2 * i + 1] = z.hi;
    }
    for (int i = 0; i < 8; i++) v[i] = t[i];
  }
}

// How many of the `rest` columns, an even number, are taken at once.
OVT_INLINE int stripWidth(int rest) { return rest >= LANES ? LANES : rest >= 8 ? 8 : rest >= 4 ? 4 : 2; }

#define EACH_STRIP(WIDTH) \
  for (int x = 0, n = stripWidth(WIDTH); x < (WIDTH); x += n, n = stripWidth((WIDTH) - x))

#endif
