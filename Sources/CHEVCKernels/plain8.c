// SPDX-License-Identifier: Apache-2.0
// Kernels of 8-bit samples in plain C. Comparison is that of CVideoKernels, but for Hadamard 8x8.

#include "depth8.h"

#include "plain/hadamard.h"
#include "plain/residual.h"
#include "plain/intra.h"
#include "plain/inter.h"
#include "plain/deblock.h"
#include "plain/sao.h"

void ovt_hevc_samples8_c(OVTHEVCKernels8 *k) {
  fillHadamard8x8(k);
  fillResidual(k);
  fillIntra(k);
  fillInter(k);
  fillDeblock(k);
  fillSAO(k);
}
