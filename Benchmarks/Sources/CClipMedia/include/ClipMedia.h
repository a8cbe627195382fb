// SPDX-License-Identifier: Apache-2.0
// Clips to raw frames, streams to pictures, and how much pictures differ.

#ifndef CLIP_MEDIA_H
#define CLIP_MEDIA_H

#include <stddef.h>
#include <stdint.h>

typedef struct ClipFacts {
  int width, height;  // even
  double frameRate;
  int frames;
} ClipFacts;

// Decodes up to `frames` frames of any file that libavformat opens into `outputPath`, planar 4:2:0 without
// padding, one after another, each side halved `halves` times. Returns 0, or a negative error code; `message` gets
// what went wrong.
int clip_decode(const char *path, const char *outputPath, int frames, int halves, ClipFacts *facts,
                char message[256]);

typedef struct StreamDecoder StreamDecoder;
StreamDecoder *stream_decoder_create(void);
void stream_decoder_destroy(StreamDecoder *decoder);
// Gives the decoder an access unit (NULL at the end) that shows source frame `index`. 0, or negative.
int stream_decoder_send(StreamDecoder *decoder, const uint8_t *data, size_t size, long index);
// The next picture: 1 and its frame's index; 0 if there is none now; negative on an error. Valid until
// the next call.
int stream_decoder_receive(StreamDecoder *decoder, long *index, const uint8_t *planes[3], int strides[3]);

// Sum of squared differences of two planes.
uint64_t plane_squared_error(const uint8_t *a, int strideA, const uint8_t *b, int strideB, int width, int height);
// Structural similarity of two planes: mean over 8x8 windows, four samples apart, with equal weights.
double plane_similarity(const uint8_t *a, int strideA, const uint8_t *b, int strideB, int width, int height);

#endif
