// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <wels/codec_api.h>

#include "internal.h"

typedef struct OpenH264Encoder {
  ReferenceEncoder base;
  ISVCEncoder *openh264;
  // The layers of a frame, stored one after another.
  uint8_t *buffer;
  size_t capacity;
} OpenH264Encoder;

static int append(OpenH264Encoder *encoder, size_t *size, const uint8_t *data, size_t count) {
  if (*size + count > encoder->capacity) {
    size_t capacity = (*size + count) * 2;
    uint8_t *buffer = realloc(encoder->buffer, capacity);
    if (!buffer) return -1;
    encoder->buffer = buffer;
    encoder->capacity = capacity;
  }
  memcpy(encoder->buffer + *size, data, count);
  *size += count;
  return 0;
}

static long encode(ReferenceEncoder *base, const uint8_t *i420, const uint8_t **data, long *frame) {
  if (!i420) return 0;
  OpenH264Encoder *encoder = (OpenH264Encoder *)base;
  const int w = base->width, h = base->height;
  *frame = base->frames;
  SSourcePicture picture;
  memset(&picture, 0, sizeof picture);
  picture.iColorFormat = videoFormatI420;
  picture.iPicWidth = w;
  picture.iPicHeight = h;
  picture.iStride[0] = w;
  picture.iStride[1] = picture.iStride[2] = w / 2;
  picture.pData[0] = (uint8_t *)i420;
  picture.pData[1] = picture.pData[0] + (size_t)w * h;
  picture.pData[2] = picture.pData[1] + (size_t)(w / 2) * (h / 2);
  picture.uiTimeStamp = (long long)(base->frames++ * 1000 / base->frameRate);
  if (base->wantsKeyFrame) (*encoder->openh264)->ForceIntraFrame(encoder->openh264, true);
  base->wantsKeyFrame = 0;
  SFrameBSInfo info;
  memset(&info, 0, sizeof info);
  if ((*encoder->openh264)->EncodeFrame(encoder->openh264, &picture, &info) != cmResultSuccess) return -1;
  if (info.eFrameType == videoFrameTypeSkip || info.eFrameType == videoFrameTypeInvalid) return 0;
  size_t size = 0;
  for (int i = 0; i < info.iLayerNum; i++) {
    size_t count = 0;
    for (int j = 0; j < info.sLayerInfo[i].iNalCount; j++) count += (size_t)info.sLayerInfo[i].pNalLengthInByte[j];
    if (append(encoder, &size, info.sLayerInfo[i].pBsBuf, count) != 0) return -1;
  }
  *data = encoder->buffer;
  return (long)size;
}

static void close_encoder(ReferenceEncoder *base) {
  OpenH264Encoder *encoder = (OpenH264Encoder *)base;
  (*encoder->openh264)->Uninitialize(encoder->openh264);
  WelsDestroySVCEncoder(encoder->openh264);
  free(encoder->buffer);
  free(encoder);
}

ReferenceEncoder *openh264_reference_open(int complexity, int isScreen, const ReferenceStream *stream) {
  const int width = stream->width, height = stream->height, threads = stream->threads;
  const int isFixed = stream->qp >= 0;
  // The library requires a bit rate even if it does not use it.
  const int bitRate = isFixed ? 1000000 : stream->bitRate;
  ISVCEncoder *e = NULL;
  if (WelsCreateSVCEncoder(&e) != 0 || !e) return NULL;
  int level = WELS_LOG_QUIET;
  (*e)->SetOption(e, ENCODER_OPTION_TRACE_LEVEL, &level);
  SEncParamExt p;
  (*e)->GetDefaultParams(e, &p);
  p.iUsageType = isScreen ? SCREEN_CONTENT_REAL_TIME : CAMERA_VIDEO_REAL_TIME;
  p.iPicWidth = width;
  p.iPicHeight = height;
  p.fMaxFrameRate = (float)stream->frameRate;
  p.iTargetBitrate = bitRate;
  p.iMaxBitrate = UNSPECIFIED_BIT_RATE;
  p.iRCMode = isFixed ? RC_OFF_MODE : RC_BITRATE_MODE;
  p.bEnableFrameSkip = 0;
  p.iEntropyCodingModeFlag = 1;
  p.iComplexityMode = complexity == 0 ? LOW_COMPLEXITY : complexity == 1 ? MEDIUM_COMPLEXITY : HIGH_COMPLEXITY;
  p.iMultipleThreadIdc = (unsigned short)threads;
  p.uiIntraPeriod = 0;
  p.eSpsPpsIdStrategy = CONSTANT_ID;
  p.iSpatialLayerNum = 1;
  p.iTemporalLayerNum = 1;
  p.sSpatialLayers[0].iVideoWidth = width;
  p.sSpatialLayers[0].iVideoHeight = height;
  p.sSpatialLayers[0].fFrameRate = (float)stream->frameRate;
  if (isFixed) p.sSpatialLayers[0].iDLayerQp = stream->qp;
  p.sSpatialLayers[0].iSpatialBitrate = bitRate;
  p.sSpatialLayers[0].iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE;
  p.sSpatialLayers[0].uiProfileIdc = PRO_HIGH;
  if (threads > 1) {
    p.sSpatialLayers[0].sSliceArgument.uiSliceMode = SM_FIXEDSLCNUM_SLICE;
    p.sSpatialLayers[0].sSliceArgument.uiSliceNum = (unsigned)threads;
  } else {
    p.sSpatialLayers[0].sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
  }
  if ((*e)->InitializeExt(e, &p) != 0) {
    WelsDestroySVCEncoder(e);
    return NULL;
  }
  int format = videoFormatI420;
  (*e)->SetOption(e, ENCODER_OPTION_DATAFORMAT, &format);
  OpenH264Encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) {
    WelsDestroySVCEncoder(e);
    return NULL;
  }
  encoder->base = (ReferenceEncoder){encode, NULL, close_encoder, width, height, stream->frameRate, 0, 0};
  encoder->openh264 = e;
  return &encoder->base;
}
