// SPDX-License-Identifier: Apache-2.0
#include "MoviePackets.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>

struct MoviePackets {
  AVCodecParameters *parameters;
  AVRational timeBase;
  AVPacket **packets;
  int count, capacity;
};

// Stores the packet and takes ownership of its contents. Returns 0, or -1 if there is not enough
// memory.
static int keep(MoviePackets *movie, AVPacket *packet) {
  if (movie->count == movie->capacity) {
    const int capacity = movie->capacity ? movie->capacity * 2 : 256;
    AVPacket **packets = realloc(movie->packets, (size_t)capacity * sizeof *packets);
    if (!packets) return -1;
    movie->packets = packets;
    movie->capacity = capacity;
  }
  AVPacket *own = av_packet_alloc();
  if (!own) return -1;
  av_packet_move_ref(own, packet);
  movie->packets[movie->count++] = own;
  return 0;
}

MoviePackets *movie_packets_read(const char *path, char message[256]) {
  av_log_set_level(AV_LOG_QUIET);
  AVFormatContext *format = NULL;
  AVPacket *packet = av_packet_alloc();
  MoviePackets *movie = calloc(1, sizeof *movie);
  const char *problem = "out of memory";
  if (!movie || !packet) goto failed;
  movie->parameters = avcodec_parameters_alloc();
  if (!movie->parameters) goto failed;
  problem = "cannot be read";
  if (avformat_open_input(&format, path, NULL, NULL) < 0 || avformat_find_stream_info(format, NULL) < 0) goto failed;
  const int index = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
  problem = "has no video";
  if (index < 0) goto failed;
  const AVStream *stream = format->streams[index];
  const AVCodecParameters *codec = stream->codecpar;
  problem = "does not hold length-prefixed H.264 or HEVC";
  // avcC and hvcC boxes start with the version number 1. Annex B data start with a zero.
  if ((codec->codec_id != AV_CODEC_ID_H264 && codec->codec_id != AV_CODEC_ID_HEVC) || codec->extradata_size < 7 ||
      codec->extradata[0] != 1 || avcodec_parameters_copy(movie->parameters, codec) < 0) {
    goto failed;
  }
  movie->timeBase = stream->time_base;
  problem = "out of memory";
  int result;
  while ((result = av_read_frame(format, packet)) >= 0) {
    if (packet->stream_index == index && keep(movie, packet) != 0) goto failed;
    av_packet_unref(packet);
  }
  problem = "cannot be read to its end";
  if (result != AVERROR_EOF || movie->count == 0) goto failed;
  av_packet_free(&packet);
  avformat_close_input(&format);
  return movie;
failed:
  snprintf(message, 256, "%s %s", path, problem);
  av_packet_free(&packet);
  avformat_close_input(&format);
  movie_packets_free(movie);
  return NULL;
}

void movie_packets_free(MoviePackets *movie) {
  if (!movie) return;
  for (int i = 0; i < movie->count; i++) av_packet_free(&movie->packets[i]);
  free(movie->packets);
  avcodec_parameters_free(&movie->parameters);
  free(movie);
}

MovieFacts movie_packets_facts(const MoviePackets *movie) {
  const AVCodecParameters *p = movie->parameters;
  return (MovieFacts){p->width,
                      p->height,
                      p->codec_id == AV_CODEC_ID_HEVC,
                      movie->timeBase.den / (movie->timeBase.num > 0 ? movie->timeBase.num : 1),
                      movie->count,
                      p->extradata,
                      (size_t)p->extradata_size};
}

MoviePacket movie_packets_at(const MoviePackets *movie, int index) {
  const AVPacket *p = movie->packets[index];
  return (MoviePacket){p->data, (size_t)p->size, p->pts, (p->flags & AV_PKT_FLAG_KEY) != 0};
}

static int receive(AVCodecContext *context, AVFrame *frame) {
  int count = 0;
  while (avcodec_receive_frame(context, frame) >= 0) {
    count++;
    av_frame_unref(frame);
  }
  return count;
}

int movie_packets_decode(const MoviePackets *movie, int threads, int frameThreads) {
  const AVCodec *codec = avcodec_find_decoder(movie->parameters->codec_id);
  AVCodecContext *context = codec ? avcodec_alloc_context3(codec) : NULL;
  AVFrame *frame = av_frame_alloc();
  int count = -1;
  if (!context || !frame || avcodec_parameters_to_context(context, movie->parameters) < 0) goto done;
  context->thread_count = threads;
  context->thread_type = frameThreads ? FF_THREAD_FRAME | FF_THREAD_SLICE : FF_THREAD_SLICE;
  if (avcodec_open2(context, codec, NULL) < 0) goto done;
  count = 0;
  for (int i = 0; i < movie->count; i++) {
    if (avcodec_send_packet(context, movie->packets[i]) < 0) {
      count = -1;
      goto done;
    }
    count += receive(context, frame);
  }
  avcodec_send_packet(context, NULL);
  count += receive(context, frame);
done:
  av_frame_free(&frame);
  avcodec_free_context(&context);
  return count;
}
