// SPDX-License-Identifier: Apache-2.0
// The coded frames of a movie in memory, and their decoding with libavcodec alone as the reference
// for other decoders.

#ifndef MOVIE_PACKETS_H
#define MOVIE_PACKETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct MoviePackets MoviePackets;

typedef struct MovieFacts {
  int width, height;
  int isHEVC;
  // The units per second of the presentation times.
  int timescale;
  int packets;
  // The contents of the avcC or hvcC box.
  const uint8_t *configuration;
  size_t configurationSize;
} MovieFacts;

typedef struct MoviePacket {
  const uint8_t *data;
  size_t size;
  int64_t presentationTime;
  int isKeyFrame;
} MoviePacket;

// Reads the H.264 or HEVC video of a movie file, which must have length prefixes. Returns NULL on
// an error, with an error message in `message`.
MoviePackets *movie_packets_read(const char *path, char message[256]);
void movie_packets_free(MoviePackets *movie);
MovieFacts movie_packets_facts(const MoviePackets *movie);
MoviePacket movie_packets_at(const MoviePackets *movie, int index);
// Decodes all packets with the given number of threads, using slice threads only or also frame
// threads. Returns the number of frames or a negative error code.
int movie_packets_decode(const MoviePackets *movie, int threads, int frameThreads);

#endif
