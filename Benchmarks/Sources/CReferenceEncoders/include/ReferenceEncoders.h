// SPDX-License-Identifier: Apache-2.0
// Other encoders, set up for real-time use: one frame in, one access unit out.

#ifndef REFERENCE_ENCODERS_H
#define REFERENCE_ENCODERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ReferenceEncoder ReferenceEncoder;

// What a stream is asked to be.
typedef struct ReferenceStream {
  int width, height;
  double frameRate;
  int threads;
  // The QP of every P frame, -1 for a bit rate.
  int qp;
  // Bits per second, and the seconds of them that a VBV holds (libx264 only).
  int bitRate;
  double bufferSeconds;
} ReferenceStream;

// libx264 with a preset, tuned for psnr and zerolatency, and an endless GOP. NULL if it cannot be set up.
ReferenceEncoder *x264_reference_open(const char *preset, const ReferenceStream *stream);
// libopenh264 with CABAC, an endless GOP, no frame skip. Complexity 0 (low) to 2 (high).
ReferenceEncoder *openh264_reference_open(int complexity, const ReferenceStream *stream);
// Encodes planar 4:2:0 without padding. Returns the access unit's size in bytes, negative on an error. The
// data are valid until the next call.
long reference_encoder_encode(ReferenceEncoder *encoder, const uint8_t *i420, const uint8_t **data);
void reference_encoder_close(ReferenceEncoder *encoder);

#endif
