// SPDX-License-Identifier: Apache-2.0
#include "H264ReferenceDecoders.h"

#include <dlfcn.h>
#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<wels/codec_api.h>)
#include <wels/codec_api.h>
#define HAS_OPENH264 1
#endif

struct OVTReferenceDecoder {
  int kind;
  char message[256];
  // libavcodec
  AVCodecContext *context;
  AVPacket *packet;
  AVFrame *frame;
#if HAS_OPENH264
  ISVCDecoder *openh264;
#endif
};

// libavcodec conceals some errors and only logs them: what it logs counts as an error.
static _Thread_local OVTReferenceDecoder *logging;

static void log_message(void *context, int level, const char *format, va_list arguments) {
  (void)context;
  if (level > AV_LOG_WARNING || !logging || logging->message[0]) return;
  vsnprintf(logging->message, sizeof logging->message, format, arguments);
}

#if HAS_OPENH264
typedef long (*CreateDecoder)(ISVCDecoder **);
typedef void (*DestroyDecoder)(ISVCDecoder *);

static void *openh264_symbol(const char *name) {
  static const char *const names[] = {"libopenh264.so", "libopenh264.so.7", "libopenh264.so.8", "libopenh264.so.6"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW);
    if (library) return dlsym(library, name);
  }
  return NULL;
}
#endif

OVTReferenceDecoder *ovt_reference_decoder_create(int kind) {
  OVTReferenceDecoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return NULL;
  decoder->kind = kind;
  if (kind == OVT_DECODER_LIBAVCODEC) {
    av_log_set_callback(log_message);
    const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_H264);
    decoder->context = codec ? avcodec_alloc_context3(codec) : NULL;
    decoder->packet = av_packet_alloc();
    decoder->frame = av_frame_alloc();
    if (decoder->context && decoder->packet && decoder->frame) {
      decoder->context->thread_count = 1;
      // Concealment stays on: switched off, libavcodec flags every frame of several slices as
      // damaged.
      decoder->context->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
      decoder->context->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
      if (avcodec_open2(decoder->context, codec, NULL) == 0) return decoder;
    }
  }
#if HAS_OPENH264
  if (kind == OVT_DECODER_OPENH264) {
    CreateDecoder create = (CreateDecoder)openh264_symbol("WelsCreateDecoder");
    if (create && create(&decoder->openh264) == 0 && decoder->openh264) {
      int level = WELS_LOG_QUIET;
      (*decoder->openh264)->SetOption(decoder->openh264, DECODER_OPTION_TRACE_LEVEL, &level);
      SDecodingParam parameters;
      memset(&parameters, 0, sizeof parameters);
      parameters.uiTargetDqLayer = 255;
      parameters.eEcActiveIdc = ERROR_CON_DISABLE;
      parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
      if ((*decoder->openh264)->Initialize(decoder->openh264, &parameters) == 0) return decoder;
    }
  }
#endif
  ovt_reference_decoder_destroy(decoder);
  return NULL;
}

void ovt_reference_decoder_destroy(OVTReferenceDecoder *decoder) {
  if (!decoder) return;
  if (decoder->context) avcodec_free_context(&decoder->context);
  if (decoder->packet) av_packet_free(&decoder->packet);
  if (decoder->frame) av_frame_free(&decoder->frame);
#if HAS_OPENH264
  if (decoder->openh264) {
    (*decoder->openh264)->Uninitialize(decoder->openh264);
    DestroyDecoder destroy = (DestroyDecoder)openh264_symbol("WelsDestroyDecoder");
    if (destroy) destroy(decoder->openh264);
  }
#endif
  free(decoder);
}

static int receive(OVTReferenceDecoder *decoder, OVTDecodedPicture *picture) {
  int result = avcodec_receive_frame(decoder->context, decoder->frame);
  if (decoder->message[0]) return -1;
  if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return 0;
  if (result < 0) {
    snprintf(decoder->message, sizeof decoder->message, "receive: %d", result);
    return -1;
  }
  const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(decoder->frame->format);
  picture->hasFullChroma = format && format->log2_chroma_w == 0 && format->log2_chroma_h == 0;
  picture->width = decoder->frame->width;
  picture->height = decoder->frame->height;
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

#if HAS_OPENH264
static int deliver(OVTReferenceDecoder *decoder, int state, unsigned char *const planes[3], const SBufferInfo *info,
                   OVTDecodedPicture *picture) {
  if (state != 0) {
    snprintf(decoder->message, sizeof decoder->message, "decoding state %#x", state);
    return -1;
  }
  if (info->iBufferStatus != 1) return 0;
  picture->width = info->UsrData.sSystemBuffer.iWidth;
  picture->height = info->UsrData.sSystemBuffer.iHeight;
  for (int i = 0; i < 3; i++) {
    picture->planes[i] = planes[i];
    picture->strides[i] = info->UsrData.sSystemBuffer.iStride[i > 0];
  }
  return 1;
}
#endif

int ovt_reference_decoder_decode(OVTReferenceDecoder *decoder, const uint8_t *data, size_t size,
                                 OVTDecodedPicture *picture) {
  decoder->message[0] = 0;
  memset(picture, 0, sizeof *picture);
  if (decoder->kind == OVT_DECODER_LIBAVCODEC) {
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
#if HAS_OPENH264
  unsigned char *planes[3] = {0};
  SBufferInfo info;
  memset(&info, 0, sizeof info);
  DECODING_STATE state =
      (*decoder->openh264)->DecodeFrameNoDelay(decoder->openh264, data, (int)size, planes, &info);
  return deliver(decoder, state, planes, &info, picture);
#else
  return -1;
#endif
}

int ovt_reference_decoder_drain(OVTReferenceDecoder *decoder, OVTDecodedPicture *picture) {
  decoder->message[0] = 0;
  memset(picture, 0, sizeof *picture);
  if (decoder->kind == OVT_DECODER_LIBAVCODEC) {
    logging = decoder;
    avcodec_send_packet(decoder->context, NULL);
    int result = receive(decoder, picture);
    logging = NULL;
    return result;
  }
#if HAS_OPENH264
  unsigned char *planes[3] = {0};
  SBufferInfo info;
  memset(&info, 0, sizeof info);
  DECODING_STATE state = (*decoder->openh264)->FlushFrame(decoder->openh264, planes, &info);
  return deliver(decoder, state, planes, &info, picture);
#else
  return 0;
#endif
}

const char *ovt_reference_decoder_message(const OVTReferenceDecoder *decoder) { return decoder->message; }
