// SPDX-License-Identifier: Apache-2.0
// Times, samples, formats and queues.

#ifndef OVT_COREMEDIA_COREMEDIA_UMBRELLA_H
#define OVT_COREMEDIA_COREMEDIA_UMBRELLA_H

#include <CoreMedia/CMAttachment.h>
#include <CoreMedia/CMBase.h>
#include <CoreMedia/CMBlockBuffer.h>
#include <CoreMedia/CMBufferQueue.h>
#include <CoreMedia/CMFormatDescription.h>
#include <CoreMedia/CMFormatDescriptionBridge.h>
#include <CoreMedia/CMMemoryPool.h>
#include <CoreMedia/CMMetadata.h>
#include <CoreMedia/CMSampleBuffer.h>
#include <CoreMedia/CMSimpleQueue.h>
#include <CoreMedia/CMSync.h>
#include <CoreMedia/CMTag.h>
#include <CoreMedia/CMTagCollection.h>
#include <CoreMedia/CMTaggedBufferGroup.h>
#include <CoreMedia/CMTime.h>
#include <CoreMedia/CMTimeRange.h>

#endif
