// SPDX-License-Identifier: Apache-2.0
#include "HEVCReferenceDecoders.h"

#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct OVTHEVCReferenceDecoder {
  char message[256];
  AVCodecContext *context;
  AVPacket *packet;
  AVFrame *frame;
};

// libavcodec conceals some errors and only logs them: what it logs counts as an error.
static _Thread_local OVTHEVCReferenceDecoder *logging;

static void log_message(void *context, int level, const char *format, va_list arguments) {
  (void)context;
  if (level > AV_LOG_WARNING || !logging || logging->message[0]) return;
  vsnprintf(logging->message, sizeof logging->message, format, arguments);
}

OVTHEVCReferenceDecoder *ovt_hevc_reference_decoder_create(void) {
  return ovt_hevc_reference_decoder_create_with_threads(1);
}

OVTHEVCReferenceDecoder *ovt_hevc_reference_decoder_create_with_threads(int threads) {
  OVTHEVCReferenceDecoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return NULL;
  av_log_set_callback(log_message);
  const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_HEVC);
  decoder->context = codec ? avcodec_alloc_context3(codec) : NULL;
  decoder->packet = av_packet_alloc();
  decoder->frame = av_frame_alloc();
  if (decoder->context && decoder->packet && decoder->frame) {
    decoder->context->thread_count = threads;
    decoder->context->thread_type = FF_THREAD_SLICE;
    decoder->context->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
    decoder->context->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
    if (avcodec_open2(decoder->context, codec, NULL) == 0) return decoder;
  }
  ovt_hevc_reference_decoder_destroy(decoder);
  return NULL;
}

void ovt_hevc_reference_decoder_destroy(OVTHEVCReferenceDecoder *decoder) {
  if (!decoder) return;
  if (decoder->context) avcodec_free_context(&decoder->context);
  if (decoder->packet) av_packet_free(&decoder->packet);
  if (decoder->frame) av_frame_free(&decoder->frame);
  free(decoder);
}

static int receive(OVTHEVCReferenceDecoder *decoder, OVTHEVCDecodedPicture *picture) {
  int result = avcodec_receive_frame(decoder->context, decoder->frame);
  if (decoder->message[0]) return -1;
  if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return 0;
  if (result < 0) {
    snprintf(decoder->message, sizeof decoder->message, "receive: %d", result);
    return -1;
  }
  picture->width = decoder->frame->width;
  picture->height = decoder->frame->height;
  const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(decoder->frame->format);
  picture->depth = format ? format->comp[0].depth : 0;
  for (int i = 0; i < 3; i++) {
    picture->planes[i] = decoder->frame->data[i];
    picture->strides[i] = decoder->frame->linesize[i];
  }
  if (decoder->frame->decode_error_flags || (decoder->frame->flags & AV_FRAME_FLAG_CORRUPT)) {
    snprintf(decoder->message, sizeof decoder->message, "corrupt frame: error flags %#x, frame flags %#x",
             (unsigned)decoder->frame->decode_error_flags, (unsigned)decoder->frame->flags);
    return -1;
  }
  return 1;
}

int ovt_hevc_reference_decoder_decode(OVTHEVCReferenceDecoder *decoder, const uint8_t *data, size_t size,
                                      OVTHEVCDecodedPicture *picture) {
  decoder->message[0] = 0;
  memset(picture, 0, sizeof *picture);
  logging = decoder;
  av_packet_unref(decoder->packet);
  int result = av_new_packet(decoder->packet, (int)size);
  if (result == 0) {
    memcpy(decoder->packet->data, data, size);
    result = avcodec_send_packet(decoder->context, decoder->packet);
  }
  if (result < 0 && !decoder->message[0]) {
    snprintf(decoder->message, sizeof decoder->message, "send: %d", result);
  }
  result = result < 0 ? -1 : receive(decoder, picture);
  logging = NULL;
  return result;
}

int ovt_hevc_reference_decoder_drain(OVTHEVCReferenceDecoder *decoder, OVTHEVCDecodedPicture *picture) {
  decoder->message[0] = 0;
  memset(picture, 0, sizeof *picture);
  logging = decoder;
  avcodec_send_packet(decoder->context, NULL);
  int result = receive(decoder, picture);
  logging = NULL;
  return result;
}

const char *ovt_hevc_reference_decoder_message(const OVTHEVCReferenceDecoder *decoder) {
  return decoder->message;
}
