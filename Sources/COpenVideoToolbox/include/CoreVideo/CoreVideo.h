// SPDX-License-Identifier: Apache-2.0
// Pictures in memory.

#ifndef OVT_COREVIDEO_COREVIDEO_UMBRELLA_H
#define OVT_COREVIDEO_COREVIDEO_UMBRELLA_H

#include <CoreVideo/CVBase.h>
#include <CoreVideo/CVBuffer.h>
#include <CoreVideo/CVHostTime.h>
#include <CoreVideo/CVImageBuffer.h>
#include <CoreVideo/CVPixelBuffer.h>
#include <CoreVideo/CVPixelBufferPool.h>
#include <CoreVideo/CVPixelFormatDescription.h>
#include <CoreVideo/CVReturn.h>

#endif
