// SPDX-License-Identifier: Apache-2.0
// Directional intra prediction from an edge as H.264 has it (8.3.1.2, 8.3.2.2), and the filter of
// the reference samples of Intra_8x8. Plain C; shared by the estimate of intra costs and the
// kernels of the H.264 encoder.
#ifndef OVT_INTRA_EDGE_H
#define OVT_INTRA_EDGE_H

#include "sets.h"

// MARK: - Intra_4x4 (8.3.1.2) and Intra_8x8 (8.3.2.2), n = 4 or 8

// The edge runs from the lowest sample on the left (edge[-n]) over the corner (edge[0]) to the last
// one above right (edge[2 * n]), so that the diagonal modes are filters along one line.
OVT_INLINE int tap2(const uint8_t *e) { return (e[0] + e[1] + 1) >> 1; }
OVT_INLINE int tap3(const uint8_t *e) { return (e[-1] + 2 * e[0] + e[1] + 2) >> 2; }

OVT_INLINE int edgeSum(const uint8_t *first, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += first[i];
  return sum;
}

OVT_INLINE void predict(uint8_t *dst, ptrdiff_t stride, const uint8_t *edge, int mode, int n) {
  const int log2n = n == 4 ? 2 : 3;
  const int left = mode == 2 || mode == 9 ? edgeSum(edge - n, n) : 0;
  const int top = mode == 2 || mode == 10 ? edgeSum(edge + 1, n) : 0;
  for (int y = 0; y < n; y++, dst += stride)
    for (int x = 0; x < n; x++) {
      int v;
      switch (mode) {
        case 0: v = edge[1 + x]; break;
        case 1: v = edge[-1 - y]; break;
        case 2: v = (left + top + n) >> (log2n + 1); break;
        case 3: {  // diagonal down left
          const int i = x + y;
          v = i == 2 * n - 2 ? (edge[i + 1] + 3 * edge[i + 2] + 2) >> 2 : tap3(edge + i + 2);
          break;
        }
        case 4: v = tap3(edge + x - y); break;  // diagonal down right
        case 5: {  // vertical right
          const int z = 2 * x - y, i = x - (y >> 1);
          v = z < 0 ? tap3(edge + z + 1) : z & 1 ? tap3(edge + i) : tap2(edge + i);
          break;
        }
        case 6: {  // horizontal down
          const int z = 2 * y - x, i = y - (x >> 1);
          v = z < 0 ? tap3(edge - z - 1) : z & 1 ? tap3(edge - i) : tap2(edge - i - 1);
          break;
        }
        case 7: {  // vertical left
          const int i = x + (y >> 1);
          v = y & 1 ? tap3(edge + i + 2) : tap2(edge + i + 1);
          break;
        }
        case 8: {  // horizontal up
          const int z = x + 2 * y, i = y + (x >> 1);
          v = z > 2 * n - 3    ? edge[-n]
              : z == 2 * n - 3 ? (edge[1 - n] + 3 * edge[-n] + 2) >> 2
              : z & 1          ? tap3(edge - i - 2)
                               : tap2(edge - i - 2);
          break;
        }
        case 9: v = (left + n / 2) >> log2n; break;
        case 10: v = (top + n / 2) >> log2n; break;
        default: v = 128; break;
      }
      dst[x] = (uint8_t)v;
    }
}

// 8.3.2.2.1
OVT_INLINE void filterEdge8x8(uint8_t *out, const uint8_t *edge, int available) {
  const int left = available & 1, top = available >> 1 & 1, corner = available >> 2 & 1;
  if (top) {
    out[1] = (uint8_t)(corner ? tap3(edge + 1) : (3 * edge[1] + edge[2] + 2) >> 2);
    for (int i = 2; i < 16; i++) out[i] = (uint8_t)tap3(edge + i);
    out[16] = (uint8_t)((edge[15] + 3 * edge[16] + 2) >> 2);
  }
  if (corner)
    out[0] = (uint8_t)(left && top ? tap3(edge)
                       : top       ? (3 * edge[0] + edge[1] + 2) >> 2
                       : left      ? (3 * edge[0] + edge[-1] + 2) >> 2
                                   : edge[0]);
  if (left) {
    out[-1] = (uint8_t)(corner ? tap3(edge - 1) : (3 * edge[-1] + edge[-2] + 2) >> 2);
    for (int i = 2; i < 8; i++) out[-i] = (uint8_t)tap3(edge - i);
    out[-8] = (uint8_t)((edge[-7] + 3 * edge[-8] + 2) >> 2);
  }
}

#endif
