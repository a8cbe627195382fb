// SPDX-License-Identifier: Apache-2.0
// Kernels of 10-bit samples in plain C.

#include "depth16.h"

#include "plain/compare.h"
#include "plain/hadamard.h"
#include "plain/residual.h"
#include "plain/intra.h"
#include "plain/inter.h"
#include "plain/deblock.h"
#include "plain/sao.h"

void ovt_hevc_samples16_c(OVTHEVCKernels16 *k) {
  fillCompare(k);
  fillHadamard8x8(k);
  fillResidual(k);
  fillIntra(k);
  fillInter(k);
  fillDeblock(k);
  fillSAO(k);
}
