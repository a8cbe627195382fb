// SPDX-License-Identifier: Apache-2.0
// Sessions that decompress frames.

#ifndef OVT_VIDEOTOOLBOX_VTDECOMPRESSIONSESSION_H
#define OVT_VIDEOTOOLBOX_VTDECOMPRESSIONSESSION_H

#include <VideoToolbox/VTDecompressionProperties.h>
#include <VideoToolbox/VTErrors.h>
#include <VideoToolbox/VTSession.h>

OVT_HEADER_BEGIN

typedef struct OpaqueVTDecompressionSession *VTDecompressionSessionRef;

/// Called with the outcome of each frame. The session keeps the image until the callback returns;
/// retain it to keep it
/// longer. It is `NULL` if there was an error or the frame was dropped.
typedef void (*VTDecompressionOutputCallback)(
    void *OVT_NULLABLE decompressionOutputRefCon, void *OVT_NULLABLE sourceFrameRefCon, OSStatus status,
    VTDecodeInfoFlags infoFlags, CVImageBufferRef OVT_NULLABLE imageBuffer, CMTime presentationTimeStamp,
    CMTime presentationDuration);

/// A callback and its first argument.
typedef struct {
  VTDecompressionOutputCallback OVT_NULLABLE decompressionOutputCallback;
  void *OVT_NULLABLE decompressionOutputRefCon;
} VTDecompressionOutputCallbackRecord;

/// Creates a session that decompresses frames.
///
/// - `videoFormatDescription`: the format of the frames.
/// - `videoDecoderSpecification`: `kVTVideoDecoderSpecification_` keys, or `NULL`.
/// - `destinationImageBufferAttributes`: attributes of the images, or `NULL`.
/// - `outputCallback`: called with each frame, or `NULL` if each frame is decoded with a block of
///   its own. The
///   record is copied.
/// - `decompressionSessionOut`: the caller owns the session that it receives.
/// - Returns: `kVTCouldNotFindVideoDecoderErr` if there is no decoder for the format or the
///   specification;
///   `kVTVideoDecoderBadDataErr` if the format description cannot be read.
OVT_EXPORT OSStatus VTDecompressionSessionCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CMVideoFormatDescriptionRef videoFormatDescription,
    CFDictionaryRef OVT_NULLABLE videoDecoderSpecification,
    CFDictionaryRef OVT_NULLABLE destinationImageBufferAttributes,
    const VTDecompressionOutputCallbackRecord *OVT_NULLABLE outputCallback,
    VTDecompressionSessionRef OVT_NULLABLE *decompressionSessionOut);

/// Decodes the frames of a sample buffer in a session with a callback.
OVT_EXPORT OSStatus VTDecompressionSessionDecodeFrame(
    VTDecompressionSessionRef session, CMSampleBufferRef sampleBuffer, VTDecodeFrameFlags decodeFlags,
    void *OVT_NULLABLE sourceFrameRefCon, VTDecodeInfoFlags *OVT_NULLABLE infoFlagsOut);
/// Decodes the frames of a sample buffer with options, `kVTDecodeFrameOptionKey_` keys.
OVT_EXPORT OSStatus VTDecompressionSessionDecodeFrameWithOptions(
    VTDecompressionSessionRef session, CMSampleBufferRef sampleBuffer, VTDecodeFrameFlags decodeFlags,
    CFDictionaryRef OVT_NULLABLE frameOptions, void *OVT_NULLABLE sourceFrameRefCon,
    VTDecodeInfoFlags *OVT_NULLABLE infoFlagsOut);

#if OVT_HAS_BLOCKS
typedef void (^VTDecompressionMultiImageCapableOutputHandler)(
    OSStatus status, VTDecodeInfoFlags infoFlags, CVImageBufferRef OVT_NULLABLE imageBuffer,
    CMTaggedBufferGroupRef OVT_NULLABLE taggedBufferGroup, CMTime presentationTimeStamp,
    CMTime presentationDuration);
/// Decodes a frame that may hold several images in a session without a callback, and passes them to
/// a block, which is copied. No decoder of this package has more than one image for a frame, so
/// that `taggedBufferGroup` is always `NULL`.
OVT_EXPORT OSStatus VTDecompressionSessionDecodeFrameWithMultiImageCapableOutputHandler(
    VTDecompressionSessionRef session, CMSampleBufferRef sampleBuffer, VTDecodeFrameFlags decodeFlags,
    VTDecodeInfoFlags *OVT_NULLABLE infoFlagsOut,
    VTDecompressionMultiImageCapableOutputHandler multiImageCapableOutputHandler);
typedef void (^VTDecompressionOutputHandler)(
    OSStatus status, VTDecodeInfoFlags infoFlags, CVImageBufferRef OVT_NULLABLE imageBuffer,
    CMTime presentationTimeStamp, CMTime presentationDuration);
/// Decodes a frame in a session without a callback, and passes the outcome to a block, which is
/// copied.
OVT_EXPORT OSStatus VTDecompressionSessionDecodeFrameWithOutputHandler(
    VTDecompressionSessionRef session, CMSampleBufferRef sampleBuffer, VTDecodeFrameFlags decodeFlags,
    VTDecodeInfoFlags *OVT_NULLABLE infoFlagsOut, VTDecompressionOutputHandler outputHandler);
/// The same with options, `kVTDecodeFrameOptionKey_` keys.
OVT_EXPORT OSStatus VTDecompressionSessionDecodeFrameWithOptionsAndOutputHandler(
    VTDecompressionSessionRef session, CMSampleBufferRef sampleBuffer, VTDecodeFrameFlags decodeFlags,
    CFDictionaryRef OVT_NULLABLE frameOptions, VTDecodeInfoFlags *OVT_NULLABLE infoFlagsOut,
    VTDecompressionOutputHandler outputHandler);
#endif

/// Ends a session. Frames that are being decoded are discarded, and every further call returns
/// `kVTInvalidSessionErr`.
OVT_EXPORT void VTDecompressionSessionInvalidate(VTDecompressionSessionRef session);

/// The type identifier of decompression sessions.
OVT_EXPORT CFTypeID VTDecompressionSessionGetTypeID(void);

/// Delivers all frames that the decoder holds in order to put frames into presentation order.
OVT_EXPORT OSStatus VTDecompressionSessionFinishDelayedFrames(VTDecompressionSessionRef session);

/// Whether the session can decompress frames of another format description.
OVT_EXPORT Boolean VTDecompressionSessionCanAcceptFormatDescription(
    VTDecompressionSessionRef session, CMFormatDescriptionRef newFormatDesc);

/// Waits until every frame has been delivered, including delayed ones.
OVT_EXPORT OSStatus VTDecompressionSessionWaitForAsynchronousFrames(
    VTDecompressionSessionRef session);

/// Creates a black image with the size, the pixel format and the attachments of the session's
/// images.
///
/// The caller owns the object that `pixelBufferOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus VTDecompressionSessionCopyBlackPixelBuffer(
    VTDecompressionSessionRef session, CVPixelBufferRef OVT_NULLABLE *pixelBufferOut);

/// Makes a supplemental decoder of the system available to this process. There are none on this
/// platform: all decoders, including those that a program has registered, are available from the
/// start.
OVT_EXPORT void VTRegisterSupplementalVideoDecoderIfAvailable(CMVideoCodecType codecType);

/// Makes decoders for professional workflows, which are installed separately, available to this
/// process. There are none on this platform: a program registers its own with `CodecRegistry`.
OVT_EXPORT void VTRegisterProfessionalVideoWorkflowVideoDecoders(void);

/// Makes encoders for professional workflows, which are installed separately, available to this
/// process. There are none on this platform.
OVT_EXPORT void VTRegisterProfessionalVideoWorkflowVideoEncoders(void);

/// Whether frames of a codec can be decoded by hardware: by a decoder that the program has
/// registered as such. The built-in decoder runs on the processor; it counts as hardware only with
/// `CodecRegistry.countsAllAsHardware`.
OVT_EXPORT Boolean VTIsHardwareDecodeSupported(CMVideoCodecType codecType);

OVT_HEADER_END

#endif
