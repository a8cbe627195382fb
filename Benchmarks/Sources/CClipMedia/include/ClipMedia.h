// SPDX-License-Identifier: Apache-2.0
// Decodes clips to raw frames and streams to pictures, and compares pictures.

#ifndef CLIP_MEDIA_H
#define CLIP_MEDIA_H

#include <stddef.h>
#include <stdint.h>

typedef struct ClipFacts {
  int width, height;  // even
  double frameRate;
  int frames;
} ClipFacts;

// Decodes up to `frames` frames of a file that libavformat can open, and writes them to
// `outputPath` as planar 4:2:0 without padding, one after another. `halves` is how often the width
// and height are halved. Returns 0 or a negative error code, with an error message in `message`.
int clip_decode(const char *path, const char *outputPath, int frames, int halves, ClipFacts *facts,
                char message[256]);

typedef struct StreamDecoder StreamDecoder;
StreamDecoder *stream_decoder_create(void);
void stream_decoder_destroy(StreamDecoder *decoder);
// Sends the decoder an access unit that shows source frame `index`, or NULL at the end of the
// stream. Returns 0 or a negative error code.
int stream_decoder_send(StreamDecoder *decoder, const uint8_t *data, size_t size, long index);
// Gets the next picture. Returns 1 and the index of its frame, 0 if no picture is available now, or
// a negative error code. The picture is valid until the next call.
int stream_decoder_receive(StreamDecoder *decoder, long *index, const uint8_t *planes[3], int strides[3]);

// The sum of the squared differences of two planes.
uint64_t plane_squared_error(const uint8_t *a, int strideA, const uint8_t *b, int strideB, int width, int height);
// The structural similarity (SSIM) of two planes: the mean over windows of 8x8 samples at intervals
// of four samples, with equal weights.
double plane_similarity(const uint8_t *a, int strideA, const uint8_t *b, int strideB, int width, int height);

#endif
