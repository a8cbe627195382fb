// SPDX-License-Identifier: Apache-2.0
// Compression and decompression of video.

#ifndef OVT_VIDEOTOOLBOX_VIDEOTOOLBOX_UMBRELLA_H
#define OVT_VIDEOTOOLBOX_VIDEOTOOLBOX_UMBRELLA_H

#include <VideoToolbox/OVTAdditions.h>
#include <VideoToolbox/VTBase.h>
#include <VideoToolbox/VTCompressionProperties.h>
#include <VideoToolbox/VTCompressionSession.h>
#include <VideoToolbox/VTDecompressionProperties.h>
#include <VideoToolbox/VTDecompressionSession.h>
#include <VideoToolbox/VTErrors.h>
#include <VideoToolbox/VTFrameSilo.h>
#include <VideoToolbox/VTMultiPassStorage.h>
#include <VideoToolbox/VTPixelRotationSession.h>
#include <VideoToolbox/VTPixelTransferProperties.h>
#include <VideoToolbox/VTPixelTransferSession.h>
#include <VideoToolbox/VTSession.h>
#include <VideoToolbox/VTVideoEncoderList.h>

#endif
