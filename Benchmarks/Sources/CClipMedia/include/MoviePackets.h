// SPDX-License-Identifier: Apache-2.0
// A movie's coded frames in memory, and libavcodec alone decoding them: the yardstick for other decoders.

#ifndef MOVIE_PACKETS_H
#define MOVIE_PACKETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct MoviePackets MoviePackets;

typedef struct MovieFacts {
  int width, height;
  int isHEVC;
  // Of the presentation times: so many a second.
  int timescale;
  int packets;
  // avcC or hvcC.
  const uint8_t *configuration;
  size_t configurationSize;
} MovieFacts;

typedef struct MoviePacket {
  const uint8_t *data;
  size_t size;
  int64_t presentationTime;
  int isKeyFrame;
} MoviePacket;

// Reads the video of a movie file with H.264 or HEVC, length-prefixed. NULL on an error; `message` gets what went
// wrong.
MoviePackets *movie_packets_read(const char *path, char message[256]);
void movie_packets_free(MoviePackets *movie);
MovieFacts movie_packets_facts(const MoviePackets *movie);
MoviePacket movie_packets_at(const MoviePackets *movie, int index);
// Decodes all packets with so many threads, over slices alone or over frames too. Gives the number of frames, or a
// negative error code.
int movie_packets_decode(const MoviePackets *movie, int threads, int frameThreads);

#endif
