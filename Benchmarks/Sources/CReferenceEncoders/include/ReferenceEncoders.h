// Other encoders, set up for real-time use: one frame in, one access unit out.

#ifndef REFERENCE_ENCODERS_H
#define REFERENCE_ENCODERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ReferenceEncoder ReferenceEncoder;

// libx264 with a preset, tuned for psnr and zerolatency, an endless GOP and a VBV of one second at the
// bit rate. NULL if it cannot be set up.
ReferenceEncoder *x264_reference_open(const char *preset, int width, int height, double frameRate,
                                      int bitRate, int threads);
// libopenh264 with CABAC, an endless GOP, rate control on, no frame skip. Complexity 0 (low) to 2 (high).
ReferenceEncoder *openh264_reference_open(int complexity, int width, int height, double frameRate,
                                          int bitRate, int threads);
// Encodes planar 4:2:0 without padding. Returns the access unit's size in bytes, negative on an error. The
// data are valid until the next call.
long reference_encoder_encode(ReferenceEncoder *encoder, const uint8_t *i420, const uint8_t **data);
void reference_encoder_close(ReferenceEncoder *encoder);

#endif
