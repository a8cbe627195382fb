// SPDX-License-Identifier: Apache-2.0
// FFmpeg's public headers, and the macros that Swift cannot import, as functions.
#ifndef CFFMPEG_SHIM_H
#define CFFMPEG_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/avutil.h>
#include <libavutil/crc.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/time.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

#include "device_library.h"
#include "filter_library.h"
#include "plane_kernels.h"
#include "rename.h"

static inline int ovt_averror(int posixError) { return AVERROR(posixError); }
static inline int ovt_averror_eof(void) { return AVERROR_EOF; }
static inline int ovt_averror_exit(void) { return AVERROR_EXIT; }
static inline int ovt_averror_invaliddata(void) { return AVERROR_INVALIDDATA; }
static inline int64_t ovt_av_nopts_value(void) { return AV_NOPTS_VALUE; }

/// Tells old versions of libavcodec that get_buffer2 may be called from any thread; new ones take
/// it for granted.
static inline void ovt_set_thread_safe_callbacks(AVCodecContext *context) {
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  context->thread_safe_callbacks = 1;
#pragma clang diagnostic pop
#else
  (void)context;
#endif
}

static inline int ovt_frame_is_interlaced(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_MAJOR < 59
  return frame->interlaced_frame;
#else
  return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#endif
}

/// The colours that a filter graph's source of pictures must know beforehand; old versions
/// learn it frame by frame.
static inline void ovt_set_source_colors(AVBufferSrcParameters *parameters, const AVFrame *frame) {
#if LIBAVFILTER_VERSION_MAJOR >= 10
  parameters->color_space = frame->colorspace;
  parameters->color_range = frame->color_range;
#else
  (void)parameters;
  (void)frame;
#endif
}

static inline int ovt_frame_is_top_field_first(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_MAJOR < 59
  return frame->top_field_first;
#else
  return (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#endif
}

/// Says whether a frame's lines are of two moments, and which of them come first.
static inline void ovt_frame_set_fields(AVFrame *frame, int isInterlaced, int isTopFieldFirst) {
#if LIBAVUTIL_VERSION_MAJOR < 59
  frame->interlaced_frame = isInterlaced;
  frame->top_field_first = isTopFieldFirst;
#else
  frame->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
  if (isInterlaced) frame->flags |= AV_FRAME_FLAG_INTERLACED;
  if (isTopFieldFirst) frame->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
#endif
}

#endif
