// SPDX-License-Identifier: Apache-2.0
// Declarations that both encoders use.

#ifndef REFERENCE_ENCODERS_INTERNAL_H
#define REFERENCE_ENCODERS_INTERNAL_H

#include "ReferenceEncoders.h"

// The first member of each encoder's own structure.
struct ReferenceEncoder {
  long (*encode)(ReferenceEncoder *encoder, const uint8_t *i420, const uint8_t **data, long *frame);
  // NULL if the encoder never delays frames.
  int (*delayed)(ReferenceEncoder *encoder);
  void (*close)(ReferenceEncoder *encoder);
  int width, height;
  double frameRate;
  long frames;
  // Whether the next picture shall be coded as a key frame.
  int wantsKeyFrame;
};

#endif
