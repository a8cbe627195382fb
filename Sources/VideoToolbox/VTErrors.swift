// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// MARK: - Status codes

/// The session or its encoder has no such property.
public var kVTPropertyNotSupportedErr: OSStatus { -12900 }
/// The property is read-only, or cannot be set now.
public var kVTPropertyReadOnlyErr: OSStatus { -12901 }
/// An argument or a property's value is of the wrong type or out of range.
public var kVTParameterErr: OSStatus { -12902 }
/// The session was invalidated.
public var kVTInvalidSessionErr: OSStatus { -12903 }
/// Memory could not be allocated.
public var kVTAllocationFailedErr: OSStatus { -12904 }
/// No conversion between these pixel formats.
public var kVTPixelTransferNotSupportedErr: OSStatus { -12905 }
/// No decoder for the format.
public var kVTCouldNotFindVideoDecoderErr: OSStatus { -12906 }
/// The codec exists, but could not be set up.
public var kVTCouldNotCreateInstanceErr: OSStatus { -12907 }
/// No encoder for the format and the specification.
public var kVTCouldNotFindVideoEncoderErr: OSStatus { -12908 }
/// The compressed data is damaged.
public var kVTVideoDecoderBadDataErr: OSStatus { -12909 }
/// The decoder does not know this variety of the format.
public var kVTVideoDecoderUnsupportedDataFormatErr: OSStatus { -12910 }
/// The decoder failed.
public var kVTVideoDecoderMalfunctionErr: OSStatus { -12911 }
/// The encoder failed.
public var kVTVideoEncoderMalfunctionErr: OSStatus { -12912 }
/// The decoder is in use, and cannot be used by a further session.
public var kVTVideoDecoderNotAvailableNowErr: OSStatus { -12913 }
/// No rotation for this pixel format.
public var kVTImageRotationNotSupportedErr: OSStatus { -12914 }
/// The newer name of `kVTImageRotationNotSupportedErr`.
public var kVTPixelRotationNotSupportedErr: OSStatus { -12914 }
/// The encoder is in use, and cannot be used by a further session.
public var kVTVideoEncoderNotAvailableNowErr: OSStatus { -12915 }
/// The session cannot go on with this format description.
public var kVTFormatDescriptionChangeNotSupportedErr: OSStatus { -12916 }
/// The source does not say enough about its colours.
public var kVTInsufficientSourceColorDataErr: OSStatus { -12917 }
/// A colour correction could not be set up.
public var kVTCouldNotCreateColorCorrectionDataErr: OSStatus { -12918 }
/// A colour conversion failed.
public var kVTColorSyncTransformConvertFailedErr: OSStatus { -12919 }
/// The process may not use this decoder.
public var kVTVideoDecoderAuthorizationErr: OSStatus { -12210 }
/// The process may not use this encoder.
public var kVTVideoEncoderAuthorizationErr: OSStatus { -12211 }
/// A pixel transfer with colour correction failed.
public var kVTColorCorrectionPixelTransferFailedErr: OSStatus { -12212 }
/// The multi-pass storage belongs to another encoder.
public var kVTMultiPassStorageIdentifierMismatchErr: OSStatus { -12213 }
/// The multi-pass storage is closed or not usable.
public var kVTMultiPassStorageInvalidErr: OSStatus { -12214 }
/// A sample's time stamp does not fit into the frame silo.
public var kVTFrameSiloInvalidTimeStampErr: OSStatus { -12215 }
/// A time range does not fit into the frame silo.
public var kVTFrameSiloInvalidTimeRangeErr: OSStatus { -12216 }
/// No such temporal filter.
public var kVTCouldNotFindTemporalFilterErr: OSStatus { -12217 }
/// The transfer of these pixels is not permitted.
public var kVTPixelTransferNotPermittedErr: OSStatus { -12218 }
/// A rotation with colour correction failed.
public var kVTColorCorrectionImageRotationFailedErr: OSStatus { -12219 }
/// The decoder went away.
public var kVTVideoDecoderRemovedErr: OSStatus { -17690 }
/// The session failed.
public var kVTSessionMalfunctionErr: OSStatus { -17691 }
/// The decoder exists for another architecture only.
public var kVTVideoDecoderNeedsRosettaErr: OSStatus { -17692 }
/// The encoder exists for another architecture only.
public var kVTVideoEncoderNeedsRosettaErr: OSStatus { -17693 }
/// A picture that the frame is predicted from was not decoded.
public var kVTVideoDecoderReferenceMissingErr: OSStatus { -17694 }
/// The decoder's process could not be reached.
public var kVTVideoDecoderCallbackMessagingErr: OSStatus { -17695 }
/// The decoder failed with an unknown error.
public var kVTVideoDecoderUnknownErr: OSStatus { -17696 }
/// The extension that has the codec is switched off.
public var kVTExtensionDisabledErr: OSStatus { -17697 }
/// The pictures of a frame do not have the layers that the encoder was given.
public var kVTVideoEncoderMVHEVCVideoLayerIDsMismatchErr: OSStatus { -17698 }
/// A frame has several pictures, and the session has no callback for them.
public var kVTCouldNotOutputTaggedBufferGroupErr: OSStatus { -17699 }
/// No extension has the codec.
public var kVTCouldNotFindExtensionErr: OSStatus { -19510 }
/// Several extensions have the codec.
public var kVTExtensionConflictErr: OSStatus { -19511 }
/// The camera's white balance changes where the encoder needs it fixed.
public var kVTVideoEncoderAutoWhiteBalanceNotLockedErr: OSStatus { -19512 }

// MARK: - Flags

/// Options for the decompression of a frame.
public struct VTDecodeFrameFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The callback may be called after the function has returned.
  public static let _EnableAsynchronousDecompression = VTDecodeFrameFlags(rawValue: 1 << 0)
  /// Decode the frame, but do not output an image.
  public static let _DoNotOutputFrame = VTDecodeFrameFlags(rawValue: 1 << 1)
  /// No need to decode faster than the frames are shown.
  public static let _1xRealTimePlayback = VTDecodeFrameFlags(rawValue: 1 << 2)
  /// Frames may be output in presentation order, with a delay.
  public static let _EnableTemporalProcessing = VTDecodeFrameFlags(rawValue: 1 << 3)
}

/// The outcome of a frame that was to be decoded.
public struct VTDecodeInfoFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Decoding continues after the function has returned.
  public static let asynchronous = VTDecodeInfoFlags(rawValue: 1 << 0)
  /// The frame was dropped.
  public static let frameDropped = VTDecodeInfoFlags(rawValue: 1 << 1)
  /// The image buffer may be written to.
  public static let imageBufferModifiable = VTDecodeInfoFlags(rawValue: 1 << 2)
  /// The frame belongs to a key frame that was not decoded.
  public static let skippedLeadingFrameDropped = VTDecodeInfoFlags(rawValue: 1 << 3)
  /// Decoding of the frame was interrupted.
  public static let frameInterrupted = VTDecodeInfoFlags(rawValue: 1 << 4)
}

/// The outcome of a frame that was to be encoded.
public struct VTEncodeInfoFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Encoding continues after the function has returned.
  public static let asynchronous = VTEncodeInfoFlags(rawValue: 1 << 0)
  /// The frame was dropped, to keep to the bit rate or because it could not be encoded.
  public static let frameDropped = VTEncodeInfoFlags(rawValue: 1 << 1)
}
