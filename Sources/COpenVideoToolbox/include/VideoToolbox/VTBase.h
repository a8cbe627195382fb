// SPDX-License-Identifier: Apache-2.0
// The types that all of Video Toolbox uses.

#ifndef OVT_VIDEOTOOLBOX_VTBASE_H
#define OVT_VIDEOTOOLBOX_VTBASE_H

#include <CoreFoundation/CoreFoundation.h>
#include <CoreMedia/CoreMedia.h>
#include <CoreVideo/CoreVideo.h>

OVT_HEADER_BEGIN

#define VT_EXPORT OVT_EXPORT
#define VT_SUPPORT_ENCODE 1
#define VT_SUPPORT_COLORSYNC_PIXEL_TRANSFER 0

/// A point in whole samples.
typedef struct {
  int32_t x;
  int32_t y;
} VTInt32Point;

/// A size in whole samples.
typedef struct {
  int32_t width;
  int32_t height;
} VTInt32Size;

OVT_HEADER_END

#endif
