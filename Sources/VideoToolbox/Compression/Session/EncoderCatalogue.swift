// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import H264Codec
#if HEVC
  import HEVCCodec
#endif
import X264Codec
import X265Codec

/// The encoders that are available in this process, and the choice among them.
///
/// To add an encoder to the package, add its description to `builtIn`; a program registers its own
/// with `CodecRegistry.shared` before it creates the session. The features in the description
/// decide which properties a session offers for it.
enum EncoderCatalogue {
  private static let builtIn: [EncoderDescription] =
    [H264Codec.encoder, H264Codec.lowLatencyEncoder] + ownHEVC.filter(\.isLowLatency)
    + [X264Codec.encoder].compactMap { $0 }
    // For files libx265 comes first where it is built in.
    + X265Codec.encoders + ownHEVC.filter { !$0.isLowLatency }

  /// The package's own HEVC encoders; none in a build without the trait `HEVC`.
  private static var ownHEVC: [EncoderDescription] {
    #if HEVC
      [HEVCCodec.lowLatencyEncoder, HEVCCodec.encoder]
    #else
      []
    #endif
  }

  /// All encoders, the preferred first, with `CodecRegistry.countsAllAsHardware` applied.
  static var all: [EncoderDescription] { everything.map { counted($0) } }

  /// All encoders, the preferred first: a registered one replaces a built-in one of the same id.
  private static var everything: [EncoderDescription] {
    let registered = CodecRegistry.shared.encoders
    return registered + builtIn.filter { known in !registered.contains { $0.id == known.id } }
  }

  /// The description, marked as hardware if the program has set
  /// `CodecRegistry.countsAllAsHardware`.
  private static func counted(_ encoder: EncoderDescription) -> EncoderDescription {
    var encoder = encoder
    if CodecRegistry.shared.countsAllAsHardware { encoder.isHardwareAccelerated = true }
    return encoder
  }

  /// Finds the encoders that match an encoder specification, the preferred first.
  /// - Parameters:
  ///   - codec: The codec to encode with.
  ///   - size: The size of the session's pictures, in samples.
  ///   - specification: A dictionary of `kVTVideoEncoderSpecification_` keys, or nil.
  /// - Returns: At least one encoder.
  /// - Throws: `kVTCouldNotFindVideoEncoderErr` if no encoder matches, `kVTParameterErr` if a value
  ///   of the specification has the wrong type.
  static func fitting(
    codec: CodecType, size: (width: Int, height: Int), specification: CFDictionary?
  ) throws(StatusError) -> [EncoderDescription] {
    let requested = try EncoderSpecification(specification)
    // Where the specification excludes hardware, software encoders must not count as hardware, or
    // there would be none left.
    let candidates = requested.forbidsHardware ? everything : all
    let fitting = candidates.filter { encoder in
      guard encoder.codec == codec, encoder.sizes.contains(width: size.width, height: size.height) else {
        return false
      }
      if let gpu = requested.requiredGPU, encoder.gpuRegistryID != gpu { return false }
      if let id = requested.id {
        return encoder.id == id && (!requested.isLowLatency || encoder.isLowLatency)
      }
      guard encoder.isLowLatency == requested.isLowLatency else { return false }
      if requested.requiresHardware { return encoder.isHardwareAccelerated }
      if requested.forbidsHardware { return !encoder.isHardwareAccelerated }
      return true
    }
    if fitting.isEmpty { throw StatusError(kVTCouldNotFindVideoEncoderErr) }
    guard let gpu = requested.preferredGPU else { return fitting }
    return fitting.filter { $0.gpuRegistryID == gpu } + fitting.filter { $0.gpuRegistryID != gpu }
  }

  /// Puts the encoders that read a pixel format as it is before those for which it would be
  /// converted, so that a session for pictures of 10 bits does not lose two of them. The order
  /// stays where all of them read the format, or none.
  /// - Parameters:
  ///   - encoders: The encoders, the preferred first.
  ///   - pixelFormat: The pixel format of the session's source attributes; nil if they name none.
  static func sorted(_ encoders: [EncoderDescription], reading pixelFormat: OSType?) -> [EncoderDescription] {
    guard let pixelFormat else { return encoders }
    let format = PictureFormat(rawValue: pixelFormat)
    return encoders.filter { $0.inputFormats.contains(format) }
      + encoders.filter { !$0.inputFormats.contains(format) }
  }
}

/// The parsed dictionary of an encoder specification.
private struct EncoderSpecification {
  var id: String?
  var isLowLatency = false
  var requiresHardware = false
  var forbidsHardware = false
  var requiredGPU: UInt64?
  var preferredGPU: UInt64?

  init(_ specification: CFDictionary?) throws(StatusError) {
    for (key, value) in specification?.entries ?? [:] {
      switch key as NSString {
      case kVTVideoEncoderSpecification_EncoderID:
        guard let text = value as? String else { throw StatusError(kVTParameterErr) }
        id = text
      case kVTVideoEncoderSpecification_EnableLowLatencyRateControl:
        isLowLatency = try Self.boolean(value)
      case kVTVideoEncoderSpecification_RequireHardwareAcceleratedVideoEncoder:
        requiresHardware = try Self.boolean(value)
      case kVTVideoEncoderSpecification_EnableHardwareAcceleratedVideoEncoder:
        forbidsHardware = try !Self.boolean(value)
      case kVTVideoEncoderSpecification_RequiredEncoderGPURegistryID:
        requiredGPU = try Self.registryID(value)
      case kVTVideoEncoderSpecification_PreferredEncoderGPURegistryID:
        // A preference only: it orders the encoders and excludes none.
        preferredGPU = try Self.registryID(value)
      default:
        // Other keys are for other encoders.
        break
      }
    }
  }

  private static func registryID(_ value: Any) throws(StatusError) -> UInt64 {
    guard let number = value as? NSNumber else { throw StatusError(kVTParameterErr) }
    return number.uint64Value
  }

  private static func boolean(_ value: Any) throws(StatusError) -> Bool {
    guard let parsed = PropertyType.boolean.parse(value as AnyObject)?.boolean else {
      throw StatusError(kVTParameterErr)
    }
    return parsed
  }
}

/// An error that a function of the API returns as its status code.
struct StatusError: Error, Equatable {
  let status: OSStatus
  init(_ status: OSStatus) { self.status = status }
}

extension CodecError {
  /// The status that stands for an encoder's error. (A decoder's is
  /// `DecompressionPipeline.status`.)
  var encoderStatus: OSStatus {
    switch self {
    case .invalidConfiguration: kVTParameterErr
    case .unsupported: kVTPropertyNotSupportedErr
    // An encoder reads no compressed data but its own.
    case .badData, .missingReferences, .malfunction: kVTVideoEncoderMalfunctionErr
    case .outOfMemory: kVTAllocationFailedErr
    }
  }
}
