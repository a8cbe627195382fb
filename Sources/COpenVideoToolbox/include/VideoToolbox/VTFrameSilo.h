// SPDX-License-Identifier: Apache-2.0
// Keeps the frames of the passes of an encoding.

#ifndef OVT_VIDEOTOOLBOX_VTFRAMESILO_H
#define OVT_VIDEOTOOLBOX_VTFRAMESILO_H

#include <VideoToolbox/VTErrors.h>

OVT_HEADER_BEGIN

typedef struct OpaqueVTFrameSilo *VTFrameSiloRef;

/// The type id of `VTFrameSilo`.
OVT_EXPORT CFTypeID VTFrameSiloGetTypeID(void);

/// Creates a silo for the frames of a movie that is encoded in several passes.
///
/// - `fileURL`: Where to keep the frames; NULL takes a file without a name, which disappears with
///   the silo or the process. An existing silo is overwritten; any other file that has content is
///   an error and stays as it is.
/// - `timeRange`: The range of the movie's decode times; an invalid range means that it is unknown,
///   in which case the first pass has no progress.
/// - `options`: Nil, or a dictionary with `kOVTFrameSiloCreationOption_DoNotDelete` and
///   `kOVTFrameSiloCreationOption_OpenExisting`.
/// - Returns: `kVTParameterErr` for a URL that is not a file URL, a file that is neither a silo nor
///   empty, an option of a wrong type, or a range whose start or duration is not a number; fBsyErr
///   (-47) for a silo that is open already; dskFulErr (-34); ioErr (-36) for a damaged silo, and
///   where no file can be created.
///
/// The caller owns the object that `frameSiloOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus VTFrameSiloCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CFURLRef OVT_NULLABLE fileURL, CMTimeRange timeRange,
    CFDictionaryRef OVT_NULLABLE options, VTFrameSiloRef OVT_NULLABLE *frameSiloOut);

/// Adds a sample buffer with compressed video.
///
/// In each pass, sample buffers must come in decode order. In a pass after the first their decode
/// times must lie in its time ranges.
/// - Returns: `kVTFrameSiloInvalidTimeStampErr` for a decode time that is not a number, does not
///   follow that of the last sample buffer, or lies outside the ranges; `kVTParameterErr` for a
///   sample buffer that has no compressed video, whose data is not ready, or that has an attachment
///   that is not a property list; dskFulErr (-34); ioErr (-36). If the last two have lost other
///   frames beside this one, nothing more can be added: `lastDecodeTimeStamp` tells which frames
///   the silo has.
OVT_EXPORT OSStatus VTFrameSiloAddSampleBuffer(VTFrameSiloRef silo, CMSampleBufferRef sampleBuffer);

/// Gets the fraction of the pass's time ranges that precedes the end of the sample buffer that was
/// added last, from 0 to 1.
/// - Returns: `kVTFrameSiloInvalidTimeRangeErr` if the silo was created without a range and this is
///   the first pass.
OVT_EXPORT OSStatus VTFrameSiloGetProgressOfCurrentPass(VTFrameSiloRef silo, Float32 *progressOut);

/// Says which parts of the movie come again in the next pass. The array is copied.
OVT_EXPORT OSStatus VTFrameSiloSetTimeRangesForNextPass(
    VTFrameSiloRef silo, CMItemCount timeRangeCount, const CMTimeRange *timeRangeArray);
/// Calls a function for each frame of a range, in decode order, until it returns an error, which is
/// the result.
OVT_EXPORT OSStatus VTFrameSiloCallFunctionForEachSampleBuffer(
    VTFrameSiloRef silo, CMTimeRange timeRange, void *OVT_NULLABLE refcon,
    OSStatus (*callback)(void *OVT_NULLABLE refcon, CMSampleBufferRef sampleBuffer));
#if OVT_HAS_BLOCKS
/// Calls a block for each frame of a range, in decode order, until it returns an error, which is
/// the result.
OVT_EXPORT OSStatus VTFrameSiloCallBlockForEachSampleBuffer(
    VTFrameSiloRef silo, CMTimeRange timeRange, OSStatus (^handler)(CMSampleBufferRef sampleBuffer));
#endif

OVT_HEADER_END

#endif
