// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdlib.h>
#include <x264.h>

#include "internal.h"

typedef struct X264Encoder {
  ReferenceEncoder base;
  x264_t *x264;
} X264Encoder;

static long encode(ReferenceEncoder *encoder, const uint8_t *i420, const uint8_t **data, long *frame) {
  x264_t *x264 = ((X264Encoder *)encoder)->x264;
  x264_nal_t *units;
  int count;
  x264_picture_t picture, out;
  if (!i420) {
    int size = x264_encoder_encode(x264, &units, &count, NULL, &out);
    *data = size > 0 ? units[0].p_payload : NULL;
    *frame = (long)out.i_pts;
    return size;
  }
  const int w = encoder->width, h = encoder->height;
  x264_picture_init(&picture);
  picture.img.i_csp = X264_CSP_I420;
  picture.img.i_plane = 3;
  picture.img.plane[0] = (uint8_t *)i420;
  picture.img.plane[1] = (uint8_t *)i420 + (size_t)w * h;
  picture.img.plane[2] = picture.img.plane[1] + (size_t)(w / 2) * (h / 2);
  picture.img.i_stride[0] = w;
  picture.img.i_stride[1] = picture.img.i_stride[2] = w / 2;
  picture.i_pts = encoder->frames++;
  if (encoder->wantsKeyFrame) picture.i_type = X264_TYPE_IDR;
  encoder->wantsKeyFrame = 0;
  int size = x264_encoder_encode(x264, &units, &count, &picture, &out);
  *data = size > 0 ? units[0].p_payload : NULL;
  *frame = (long)out.i_pts;
  return size;
}

static int delayed(ReferenceEncoder *encoder) {
  return x264_encoder_delayed_frames(((X264Encoder *)encoder)->x264);
}

static void close_encoder(ReferenceEncoder *encoder) {
  x264_encoder_close(((X264Encoder *)encoder)->x264);
  free(encoder);
}

ReferenceEncoder *x264_reference_open(const char *preset, const ReferenceStream *stream) {
  x264_param_t p;
  if (x264_param_default_preset(&p, preset, stream->tune ? stream->tune : "psnr,zerolatency") < 0) return NULL;
  p.i_log_level = X264_LOG_NONE;
  p.i_width = stream->width;
  p.i_height = stream->height;
  p.i_csp = X264_CSP_I420;
  p.i_fps_num = (uint32_t)(stream->frameRate * 1000 + 0.5);
  p.i_fps_den = 1000;
  p.b_vfr_input = 0;
  p.i_threads = stream->threads;
  if (!stream->tune) p.i_keyint_max = X264_KEYINT_MAX_INFINITE;
  if (stream->qp >= 0) {
    p.rc.i_rc_method = X264_RC_CQP;
    p.rc.i_qp_constant = stream->qp;
  } else {
    p.rc.i_rc_method = X264_RC_ABR;
    p.rc.i_bitrate = stream->bitRate / 1000;
    if (!stream->tune) {
      p.rc.i_vbv_max_bitrate = stream->bitRate / 1000;
      p.rc.i_vbv_buffer_size = (int)(stream->bitRate * stream->bufferSeconds / 1000);
    }
  }
  p.b_annexb = 1;
  p.b_repeat_headers = 1;
  if (x264_param_apply_profile(&p, "high") < 0) return NULL;
  X264Encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) return NULL;
  encoder->base = (ReferenceEncoder){encode, delayed, close_encoder, stream->width, stream->height, stream->frameRate, 0, 0};
  encoder->x264 = x264_encoder_open(&p);
  if (encoder->x264) return &encoder->base;
  free(encoder);
  return NULL;
}

long reference_encoder_encode(ReferenceEncoder *encoder, const uint8_t *i420, const uint8_t **data, long *frame) {
  return encoder->encode(encoder, i420, data, frame);
}

int reference_encoder_delayed(ReferenceEncoder *encoder) {
  return encoder->delayed ? encoder->delayed(encoder) : 0;
}

void reference_encoder_request_key_frame(ReferenceEncoder *encoder) { encoder->wantsKeyFrame = 1; }

void reference_encoder_close(ReferenceEncoder *encoder) {
  if (encoder) encoder->close(encoder);
}
