// SPDX-License-Identifier: Apache-2.0
// The errors of Video Toolbox, and what it tells of frames.

#ifndef OVT_VIDEOTOOLBOX_VTERRORS_H
#define OVT_VIDEOTOOLBOX_VTERRORS_H

#include <VideoToolbox/VTBase.h>

OVT_HEADER_BEGIN

/// Options for the decompression of a frame.
typedef uint32_t VTDecodeFrameFlags;
enum {
  /// The callback may be called after the function has returned.
  kVTDecodeFrame_EnableAsynchronousDecompression = 1 << 0,
  /// Decode the frame, but do not output an image.
  kVTDecodeFrame_DoNotOutputFrame = 1 << 1,
  /// No need to decode faster than the frames are shown.
  kVTDecodeFrame_1xRealTimePlayback = 1 << 2,
  /// Frames may be output in presentation order, with a delay.
  kVTDecodeFrame_EnableTemporalProcessing = 1 << 3
};

/// The outcome of a frame that was to be decoded.
typedef uint32_t VTDecodeInfoFlags;
enum {
  /// Decoding continues after the function has returned.
  kVTDecodeInfo_Asynchronous = 1U << 0,
  /// The frame was dropped.
  kVTDecodeInfo_FrameDropped = 1U << 1,
  /// The image buffer may be written to.
  kVTDecodeInfo_ImageBufferModifiable = 1U << 2,
  /// The frame belongs to a key frame that was not decoded.
  kVTDecodeInfo_SkippedLeadingFrameDropped = 1U << 3,
  /// Decoding of the frame was interrupted.
  kVTDecodeInfo_FrameInterrupted = 1U << 4
};

/// The outcome of a frame that was to be encoded.
typedef uint32_t VTEncodeInfoFlags;
enum {
  /// Encoding continues after the function has returned.
  kVTEncodeInfo_Asynchronous = 1 << 0,
  /// The frame was dropped, to keep to the bit rate or because it could not be encoded.
  kVTEncodeInfo_FrameDropped = 1 << 1
};

enum {
  /// The session or its encoder has no such property.
  kVTPropertyNotSupportedErr = -12900,
  /// The property is read-only, or cannot be set now.
  kVTPropertyReadOnlyErr = -12901,
  /// An argument or a property's value is of the wrong type or out of range.
  kVTParameterErr = -12902,
  /// The session was invalidated.
  kVTInvalidSessionErr = -12903,
  /// Memory could not be allocated.
  kVTAllocationFailedErr = -12904,
  /// No conversion between these pixel formats.
  kVTPixelTransferNotSupportedErr = -12905,
  /// No decoder for the format.
  kVTCouldNotFindVideoDecoderErr = -12906,
  /// The codec exists, but could not be set up.
  kVTCouldNotCreateInstanceErr = -12907,
  /// No encoder for the format and the specification.
  kVTCouldNotFindVideoEncoderErr = -12908,
  /// The compressed data is damaged.
  kVTVideoDecoderBadDataErr = -12909,
  /// The decoder does not know this variety of the format.
  kVTVideoDecoderUnsupportedDataFormatErr = -12910,
  /// The decoder failed.
  kVTVideoDecoderMalfunctionErr = -12911,
  /// The encoder failed.
  kVTVideoEncoderMalfunctionErr = -12912,
  /// The decoder is in use, and cannot be used by a further session.
  kVTVideoDecoderNotAvailableNowErr = -12913,
  /// No rotation for this pixel format.
  kVTImageRotationNotSupportedErr = -12914,
  /// The newer name of `kVTImageRotationNotSupportedErr`.
  kVTPixelRotationNotSupportedErr = -12914,
  /// The encoder is in use, and cannot be used by a further session.
  kVTVideoEncoderNotAvailableNowErr = -12915,
  /// The session cannot go on with this format description.
  kVTFormatDescriptionChangeNotSupportedErr = -12916,
  /// The source does not say enough about its colours.
  kVTInsufficientSourceColorDataErr = -12917,
  /// A colour correction could not be set up.
  kVTCouldNotCreateColorCorrectionDataErr = -12918,
  /// A colour conversion failed.
  kVTColorSyncTransformConvertFailedErr = -12919,
  /// The process may not use this decoder.
  kVTVideoDecoderAuthorizationErr = -12210,
  /// The process may not use this encoder.
  kVTVideoEncoderAuthorizationErr = -12211,
  /// A pixel transfer with colour correction failed.
  kVTColorCorrectionPixelTransferFailedErr = -12212,
  /// The multi-pass storage belongs to another encoder.
  kVTMultiPassStorageIdentifierMismatchErr = -12213,
  /// The multi-pass storage is closed or not usable.
  kVTMultiPassStorageInvalidErr = -12214,
  /// A sample's time stamp does not fit into the frame silo.
  kVTFrameSiloInvalidTimeStampErr = -12215,
  /// A time range does not fit into the frame silo.
  kVTFrameSiloInvalidTimeRangeErr = -12216,
  /// No such temporal filter.
  kVTCouldNotFindTemporalFilterErr = -12217,
  /// The transfer of these pixels is not permitted.
  kVTPixelTransferNotPermittedErr = -12218,
  /// A rotation with colour correction failed.
  kVTColorCorrectionImageRotationFailedErr = -12219,
  /// The decoder went away.
  kVTVideoDecoderRemovedErr = -17690,
  /// The session failed.
  kVTSessionMalfunctionErr = -17691,
  /// The decoder exists for another architecture only.
  kVTVideoDecoderNeedsRosettaErr = -17692,
  /// The encoder exists for another architecture only.
  kVTVideoEncoderNeedsRosettaErr = -17693,
  /// A picture that the frame is predicted from was not decoded.
  kVTVideoDecoderReferenceMissingErr = -17694,
  /// The decoder's process could not be reached.
  kVTVideoDecoderCallbackMessagingErr = -17695,
  /// The decoder failed with an unknown error.
  kVTVideoDecoderUnknownErr = -17696,
  /// The extension that has the codec is switched off.
  kVTExtensionDisabledErr = -17697,
  /// The pictures of a frame do not have the layers that the encoder was given.
  kVTVideoEncoderMVHEVCVideoLayerIDsMismatchErr = -17698,
  /// A frame has several pictures, and the session has no callback for them.
  kVTCouldNotOutputTaggedBufferGroupErr = -17699,
  /// No extension has the codec.
  kVTCouldNotFindExtensionErr = -19510,
  /// Several extensions have the codec.
  kVTExtensionConflictErr = -19511,
  /// The camera's white balance changes where the encoder needs it fixed.
  kVTVideoEncoderAutoWhiteBalanceNotLockedErr = -19512
};

OVT_HEADER_END

#endif
