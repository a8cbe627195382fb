// SPDX-License-Identifier: Apache-2.0
// What the two encoders share.

#ifndef REFERENCE_ENCODERS_INTERNAL_H
#define REFERENCE_ENCODERS_INTERNAL_H

#include "ReferenceEncoders.h"

// Each encoder's own structure begins with this.
struct ReferenceEncoder {
  long (*encode)(ReferenceEncoder *encoder, const uint8_t *i420, const uint8_t **data, long *frame);
  // NULL: no frame ever waits.
  int (*delayed)(ReferenceEncoder *encoder);
  void (*close)(ReferenceEncoder *encoder);
  int width, height;
  double frameRate;
  long frames;
};

#endif
