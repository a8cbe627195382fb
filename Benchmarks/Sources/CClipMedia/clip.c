// SPDX-License-Identifier: Apache-2.0
#include "ClipMedia.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static int fail(int code, char message[256], const char *what) {
  char text[AV_ERROR_MAX_STRING_SIZE] = "";
  av_strerror(code, text, sizeof text);
  snprintf(message, 256, "%s: %s", what, text);
  return code < 0 ? code : -1;
}

typedef struct Output {
  FILE *file;
  struct SwsContext *scaler;
  AVFrame *planar;
  ClipFacts *facts;
  int halves;
} Output;

static int write_plane(FILE *file, const uint8_t *data, int stride, int width, int height) {
  for (int y = 0; y < height; y++) {
    if (fwrite(data + (ptrdiff_t)y * stride, 1, (size_t)width, file) != (size_t)width) return -1;
  }
  return 0;
}

static int write_frame(Output *output, AVFrame *frame) {
  ClipFacts *facts = output->facts;
  const int width = frame->width >> output->halves, height = frame->height >> output->halves;
  if (facts->frames == 0) {
    facts->width = width & ~1;
    facts->height = height & ~1;
  } else if ((width & ~1) != facts->width || (height & ~1) != facts->height) {
    return -1;
  }
  AVFrame *source = frame;
  if (output->halves > 0 || (frame->format != AV_PIX_FMT_YUV420P && frame->format != AV_PIX_FMT_YUVJ420P)) {
    output->scaler = sws_getCachedContext(output->scaler, frame->width, frame->height, frame->format, width,
                                          height, AV_PIX_FMT_YUV420P, SWS_BICUBIC, NULL, NULL, NULL);
    if (!output->scaler) return -1;
    if (!output->planar->data[0]) {
      output->planar->format = AV_PIX_FMT_YUV420P;
      output->planar->width = width;
      output->planar->height = height;
      if (av_frame_get_buffer(output->planar, 0) < 0) return -1;
    }
    sws_scale(output->scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height,
              output->planar->data, output->planar->linesize);
    source = output->planar;
  }
  for (int i = 0; i < 3; i++) {
    int shift = i > 0;
    if (write_plane(output->file, source->data[i], source->linesize[i], facts->width >> shift,
                    facts->height >> shift) != 0) {
      return -1;
    }
  }
  facts->frames++;
  return 0;
}

int clip_decode(const char *path, const char *outputPath, int frames, int halves, ClipFacts *facts,
                char message[256]) {
  memset(facts, 0, sizeof *facts);
  av_log_set_level(AV_LOG_QUIET);
  AVFormatContext *format = NULL;
  AVCodecContext *codec = NULL;
  AVPacket *packet = av_packet_alloc();
  AVFrame *frame = av_frame_alloc();
  Output output = {fopen(outputPath, "wb"), NULL, av_frame_alloc(), facts, halves};
  int result = avformat_open_input(&format, path, NULL, NULL);
  if (!output.file) {
    snprintf(message, 256, "cannot write to %s", outputPath);
    result = -1;
    goto done;
  }
  if (result < 0 || (result = avformat_find_stream_info(format, NULL)) < 0) {
    fail(result, message, path);
    goto done;
  }
  const AVCodec *decoder = NULL;
  int stream = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
  if (stream < 0) {
    result = fail(stream, message, path);
    goto done;
  }
  codec = avcodec_alloc_context3(decoder);
  avcodec_parameters_to_context(codec, format->streams[stream]->codecpar);
  if ((result = avcodec_open2(codec, decoder, NULL)) < 0) {
    fail(result, message, path);
    goto done;
  }
  // A raw H.264 stream without timing is played at 30 frames per second.
  AVRational rate = format->streams[stream]->avg_frame_rate;
  facts->frameRate = strcmp(format->iformat->name, "h264") == 0 || rate.num <= 0 ? 30 : av_q2d(rate);

  int ended = 0;
  while (facts->frames < frames) {
    result = avcodec_receive_frame(codec, frame);
    if (result == 0) {
      if (write_frame(&output, frame) != 0) {
        snprintf(message, 256, "%s: cannot write its frames, or their size changes", path);
        result = -1;
        goto done;
      }
    } else if (result == AVERROR(EAGAIN) && !ended) {
      if (av_read_frame(format, packet) < 0) {
        ended = 1;
        avcodec_send_packet(codec, NULL);
      } else {
        if (packet->stream_index == stream) avcodec_send_packet(codec, packet);
        av_packet_unref(packet);
      }
    } else {
      break;
    }
  }
  result = facts->frames > 0 ? 0 : -1;
  if (result < 0) snprintf(message, 256, "%s: no frames", path);
done:
  if (output.file && fclose(output.file) != 0 && result == 0) {
    snprintf(message, 256, "cannot write to %s", outputPath);
    result = -1;
  }
  sws_freeContext(output.scaler);
  av_frame_free(&output.planar);
  av_frame_free(&frame);
  av_packet_free(&packet);
  avcodec_free_context(&codec);
  avformat_close_input(&format);
  return result;
}

struct StreamDecoder {
  AVCodecContext *context;
  AVPacket *packet;
  AVFrame *frame;
};

StreamDecoder *stream_decoder_create(void) {
  av_log_set_level(AV_LOG_QUIET);
  StreamDecoder *decoder = calloc(1, sizeof *decoder);
  const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_H264);
  if (!decoder || !codec) return NULL;
  decoder->context = avcodec_alloc_context3(codec);
  decoder->packet = av_packet_alloc();
  decoder->frame = av_frame_alloc();
  if (!decoder->context || !decoder->packet || !decoder->frame) return NULL;
  decoder->context->thread_count = 1;
  decoder->context->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
  return avcodec_open2(decoder->context, codec, NULL) < 0 ? NULL : decoder;
}

void stream_decoder_destroy(StreamDecoder *decoder) {
  if (!decoder) return;
  avcodec_free_context(&decoder->context);
  av_packet_free(&decoder->packet);
  av_frame_free(&decoder->frame);
  free(decoder);
}

int stream_decoder_send(StreamDecoder *decoder, const uint8_t *data, size_t size, long index) {
  if (!data) return avcodec_send_packet(decoder->context, NULL);
  if (av_new_packet(decoder->packet, (int)size) < 0) return -1;
  memcpy(decoder->packet->data, data, size);
  decoder->packet->pts = decoder->packet->dts = index;
  int result = avcodec_send_packet(decoder->context, decoder->packet);
  av_packet_unref(decoder->packet);
  return result;
}

int stream_decoder_receive(StreamDecoder *decoder, long *index, const uint8_t *planes[3], int strides[3]) {
  int result = avcodec_receive_frame(decoder->context, decoder->frame);
  if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return 0;
  if (result < 0) return result;
  *index = (long)decoder->frame->pts;
  for (int i = 0; i < 3; i++) {
    planes[i] = decoder->frame->data[i];
    strides[i] = decoder->frame->linesize[i];
  }
  return 1;
}
