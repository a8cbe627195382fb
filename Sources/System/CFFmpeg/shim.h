// FFmpeg's public headers, and the macros that Swift cannot import, as functions.
#ifndef CFFMPEG_SHIM_H
#define CFFMPEG_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "plane_kernels.h"

static inline int ovt_averror(int posixError) { return AVERROR(posixError); }
static inline int ovt_averror_eof(void) { return AVERROR_EOF; }
static inline int ovt_averror_invaliddata(void) { return AVERROR_INVALIDDATA; }
static inline int64_t ovt_av_nopts_value(void) { return AV_NOPTS_VALUE; }

#endif
