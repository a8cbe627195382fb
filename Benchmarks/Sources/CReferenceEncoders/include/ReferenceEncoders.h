// SPDX-License-Identifier: Apache-2.0
// Other encoders, set up for real-time use (one frame in, one access unit out) or for files (with a look-ahead).

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
  // What libx264 is tuned for if it may wait (B pictures, look-ahead, an average rate, all as its preset has them);
  // NULL: real time.
  const char *tune;
} ReferenceStream;

// libx264 with a preset, tuned for psnr and zerolatency with an endless GOP, or as a stream for files. NULL if it cannot
// be set up.
ReferenceEncoder *x264_reference_open(const char *preset, const ReferenceStream *stream);
// libopenh264 with CABAC, an endless GOP, no frame skip. Complexity 0 (low) to 2 (high); `isScreen`: its usage type for
// screens in place of that for cameras.
ReferenceEncoder *openh264_reference_open(int complexity, int isScreen, const ReferenceStream *stream);
// Encodes planar 4:2:0 without padding; NULL: only takes out what waits. Returns the access unit's size in bytes, 0 if
// there is none (yet), negative on an error, and the number of the frame that it shows. The data are valid until the next
// call.
long reference_encoder_encode(ReferenceEncoder *encoder, const uint8_t *i420, const uint8_t **data, long *frame);
// Frames that wait.
int reference_encoder_delayed(ReferenceEncoder *encoder);
void reference_encoder_close(ReferenceEncoder *encoder);

#endif
