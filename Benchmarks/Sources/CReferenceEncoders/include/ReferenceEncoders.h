// SPDX-License-Identifier: Apache-2.0
// Other encoders, configured for real-time use (each frame gives one access unit at once) or for
// files (with a look-ahead).

#ifndef REFERENCE_ENCODERS_H
#define REFERENCE_ENCODERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ReferenceEncoder ReferenceEncoder;

// The parameters of a stream.
typedef struct ReferenceStream {
  int width, height;
  double frameRate;
  int threads;
  // The QP of every P frame, or -1 to use a bit rate.
  int qp;
  // The bit rate in bits per second, and the size of the VBV in seconds of that rate (libx264
  // only).
  int bitRate;
  double bufferSeconds;
  // The tuning of libx264 for files (with B pictures, look-ahead and an average bit rate, as in its
  // preset). NULL means real-time use.
  const char *tune;
} ReferenceStream;

// Opens libx264 with a preset. For real-time use, it is tuned for psnr and zerolatency and has an
// unlimited GOP. Returns NULL on failure.
ReferenceEncoder *x264_reference_open(const char *preset, const ReferenceStream *stream);
// Opens libopenh264 with CABAC, an unlimited GOP and without frame skipping. The complexity is 0
// (low) to 2 (high). `isScreen` selects the usage type for screen content instead of the one for
// cameras.
ReferenceEncoder *openh264_reference_open(int complexity, int isScreen, const ReferenceStream *stream);
// Encodes a picture in planar 4:2:0 without padding, or only outputs a delayed frame if `i420` is
// NULL. Returns the size of the access unit in bytes, 0 if there is no output yet, or a negative
// error code. `frame` gets the number of the frame that the unit shows. The data are valid until
// the next call.
long reference_encoder_encode(ReferenceEncoder *encoder, const uint8_t *i420, const uint8_t **data, long *frame);
// Has the next picture coded as a key frame (IDR), in real-time use.
void reference_encoder_request_key_frame(ReferenceEncoder *encoder);
// The number of frames that have not been output yet.
int reference_encoder_delayed(ReferenceEncoder *encoder);
void reference_encoder_close(ReferenceEncoder *encoder);

#endif
