// SPDX-License-Identifier: Apache-2.0
// Sessions that compress pictures.

#ifndef OVT_VIDEOTOOLBOX_VTCOMPRESSIONSESSION_H
#define OVT_VIDEOTOOLBOX_VTCOMPRESSIONSESSION_H

#include <VideoToolbox/VTCompressionProperties.h>
#include <VideoToolbox/VTErrors.h>
#include <VideoToolbox/VTSession.h>

OVT_HEADER_BEGIN

typedef struct OpaqueVTCompressionSession *VTCompressionSessionRef;

/// Called with the result of each frame, in decode order, one after the other, on a thread of the
/// session.
///
/// - `status`: `noErr` or the frame's error.
/// - `infoFlags`: whether the frame was dropped.
/// - `sampleBuffer`: `NULL` if there was an error or the frame was dropped. The session keeps it
///   until the callback
///   returns; retain it to keep it longer.
typedef void (*VTCompressionOutputCallback)(
    void *OVT_NULLABLE outputCallbackRefCon, void *OVT_NULLABLE sourceFrameRefCon, OSStatus status,
    VTEncodeInfoFlags infoFlags, CMSampleBufferRef OVT_NULLABLE sampleBuffer);

/// How a pass of a multi-pass encoding is to be run.
typedef uint32_t VTCompressionSessionOptionFlags;
enum {
  /// No further pass will follow.
  kVTCompressionSessionBeginFinalPass = 1U << 0
};

/// Creates a session that compresses pictures.
///
/// - `width`, `height`: the size of the compressed pictures. Source buffers of another size are
///   scaled.
/// - `codecType`: `kCMVideoCodecType_H264`, or `kCMVideoCodecType_HEVC` where the library was built
///   with libx265.
/// - `encoderSpecification`: `NULL`, or a dictionary of `kVTVideoEncoderSpecification_` keys.
/// - `sourceImageBufferAttributes`: the attributes of the source buffers, for the session's pool,
///   or `NULL`.
/// - `outputCallback`: receives the frames; `NULL` if frames are encoded with a block for each.
/// - `compressionSessionOut`: the caller owns the session that it receives:
///   `VTCompressionSessionInvalidate` ends
///   it, `CFRelease` gives it up.
/// - Returns: `kVTParameterErr` for a size that is not positive or arguments of a wrong type,
///   `kVTCouldNotFindVideoEncoderErr` if no encoder matches, `kVTVideoEncoderNotAvailableNowErr` if
/// all that match are
///   in use, `kVTPixelTransferNotSupportedErr` if none of the source pixel formats can be
/// converted.
OVT_EXPORT OSStatus VTCompressionSessionCreate(
    CFAllocatorRef OVT_NULLABLE allocator, int32_t width, int32_t height, CMVideoCodecType codecType,
    CFDictionaryRef OVT_NULLABLE encoderSpecification, CFDictionaryRef OVT_NULLABLE sourceImageBufferAttributes,
    CFAllocatorRef OVT_NULLABLE compressedDataAllocator, VTCompressionOutputCallback OVT_NULLABLE outputCallback,
    void *OVT_NULLABLE outputCallbackRefCon, VTCompressionSessionRef OVT_NULLABLE *compressionSessionOut);

/// Encodes a frame in a session with a callback, which may run before or after this function
/// returns. The function
/// blocks while too many frames are pending.
///
/// - `imageBuffer`: the picture. Do not change it until its result has come.
/// - `presentationTimeStamp`: greater than that of the frame before.
/// - `duration`: `kCMTimeInvalid` if unknown.
/// - `frameProperties`: `NULL`, or a dictionary of `kVTEncodeFrameOptionKey_` keys.
/// - `sourceFrameRefcon`: the callback's second argument.
/// - `infoFlagsOut`: receives `kVTEncodeInfo_Asynchronous`.
/// - Returns: `kVTParameterErr` for a time stamp that is not a number or does not increase, for
///   options of a wrong
///   type, or if the session has no callback; `kVTPixelTransferNotSupportedErr` for a pixel format
/// that cannot be
///   converted; `kVTInvalidSessionErr` after the session was invalidated.
OVT_EXPORT OSStatus VTCompressionSessionEncodeFrame(
    VTCompressionSessionRef session, CVImageBufferRef imageBuffer, CMTime presentationTimeStamp, CMTime duration,
    CFDictionaryRef OVT_NULLABLE frameProperties, void *OVT_NULLABLE sourceFrameRefcon,
    VTEncodeInfoFlags *OVT_NULLABLE infoFlagsOut);

#if OVT_HAS_BLOCKS
typedef void (^VTCompressionOutputHandler)(
    OSStatus status, VTEncodeInfoFlags infoFlags, CMSampleBufferRef OVT_NULLABLE sampleBuffer);
/// Encodes a frame in a session without a callback, and passes the result to a block, which is
/// copied.
OVT_EXPORT OSStatus VTCompressionSessionEncodeFrameWithOutputHandler(
    VTCompressionSessionRef session, CVImageBufferRef imageBuffer, CMTime presentationTimeStamp, CMTime duration,
    CFDictionaryRef OVT_NULLABLE frameProperties, VTEncodeInfoFlags *OVT_NULLABLE infoFlagsOut,
    VTCompressionOutputHandler outputHandler);
#endif

/// The parts of the movie to encode in the next pass.
///
/// - `timeRangeArrayOut`: receives the address of the ranges, valid until the next
///   `VTCompressionSessionEndPass`.
/// - Returns: `kVTParameterErr` if `VTCompressionSessionEndPass` did not ask for a further pass.
OVT_EXPORT OSStatus VTCompressionSessionGetTimeRangesForNextPass(
    VTCompressionSessionRef session, CMItemCount *timeRangeCountOut,
    const CMTimeRange *OVT_NULLABLE *timeRangeArrayOut);

/// The encoder to use, by its id (see `VTCopyVideoEncoderList`). String.
OVT_EXPORT const CFStringRef kVTVideoEncoderSpecification_EncoderID;

/// The pool of buffers that suit the session's encoder: of its size, its pixel format and the
/// attributes that the
/// session was created with. The session makes it when it is first asked for, and keeps it.
/// - Returns: NULL after the session was invalidated, or if no pool can be made of those
///   attributes.
///
/// The result is not retained for the caller.
OVT_EXPORT CVPixelBufferPoolRef OVT_NULLABLE VTCompressionSessionGetPixelBufferPool(
    VTCompressionSessionRef session);

/// Ends a session. Pending frames are discarded: call `VTCompressionSessionCompleteFrames` first to
/// get them.
OVT_EXPORT void VTCompressionSessionInvalidate(VTCompressionSessionRef session);

/// The type id of `VTCompressionSession`.
OVT_EXPORT CFTypeID VTCompressionSessionGetTypeID(void);

/// Sets the encoder up before the first frame, so that this frame does not have to wait for it.
/// - Returns: `kVTParameterErr` if the properties contradict each other.
OVT_EXPORT OSStatus VTCompressionSessionPrepareToEncodeFrames(VTCompressionSessionRef session);

/// Makes the encoder finish frames, and delivers their results before it returns.
///
/// - `completeUntilPresentationTimeStamp`: frames up to and including this time; all if it is not a
///   number.
/// - Returns: the encoder's error, `noErr`, or `kVTInvalidSessionErr` after the session was
///   invalidated. The errors of single frames go to their outputs.
OVT_EXPORT OSStatus VTCompressionSessionCompleteFrames(
    VTCompressionSessionRef session, CMTime completeUntilPresentationTimeStamp);

/// Starts a pass of a multi-pass encoding.
/// - Returns: `kVTParameterErr` without a `kVTCompressionPropertyKey_MultiPassStorage` or while a
///   pass is running; `kVTMultiPassStorageInvalidErr` if the storage was closed;
///   `kVTMultiPassStorageIdentifierMismatchErr` if it belongs to another encoder.
OVT_EXPORT OSStatus VTCompressionSessionBeginPass(
    VTCompressionSessionRef session, VTCompressionSessionOptionFlags beginPassFlags,
    uint32_t *OVT_NULLABLE reserved);

/// Ends a pass, after the results of all its frames were delivered.
///
/// - `furtherPassesRequestedOut`: receives true if another pass would improve the result.
OVT_EXPORT OSStatus VTCompressionSessionEndPass(
    VTCompressionSessionRef session, Boolean *OVT_NULLABLE furtherPassesRequestedOut,
    uint32_t *OVT_NULLABLE reserved);

OVT_HEADER_END

#endif
