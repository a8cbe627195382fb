// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import H264Codec
import X264Codec
import X265Codec

/// The encoders of this process, and how one is chosen.
///
/// A further encoder is one more description here, or, by a program, one that is registered with
/// `CodecRegistry.shared` before the session is made: its features say which properties a session offers for it.
enum EncoderCatalogue {
  private static let builtIn: [EncoderDescription] =
    [H264Codec.encoder, H264Codec.lowLatencyEncoder] + [X264Codec.encoder].compactMap { $0 }
    + X265Codec.encoders

  /// All encoders, the preferred first, as clients see them.
  static var all: [EncoderDescription] { everything.map { counted($0) } }

  private static var everything: [EncoderDescription] {
    let registered = CodecRegistry.shared.encoders
    return registered + builtIn.filter { known in !registered.contains { $0.id == known.id } }
  }

  /// An encoder that is hardware where the program wants all to count as that.
  private static func counted(_ encoder: EncoderDescription) -> EncoderDescription {
    var encoder = encoder
    if CodecRegistry.shared.countsAllAsHardware { encoder.isHardwareAccelerated = true }
    return encoder
  }

  /// The encoders that an encoder specification asks for, the preferred first.
  /// - Parameter size: of the session.
  /// - Returns: at least one; a status if there is none, or if the specification makes no sense.
  static func fitting(
    codec: CodecType, size: (width: Int, height: Int), specification: CFDictionary?
  ) throws(StatusError) -> [EncoderDescription] {
    let wish = try EncoderWish(specification)
    // A session that rules hardware out is not told that its encoder is some.
    let candidates = wish.forbidsHardware ? everything : all
    let fitting = candidates.filter { encoder in
      guard encoder.codec == codec, encoder.sizes.contains(width: size.width, height: size.height) else {
        return false
      }
      if let gpu = wish.requiredGPU, encoder.gpuRegistryID != gpu { return false }
      if let id = wish.id { return encoder.id == id && (!wish.isLowLatency || encoder.isLowLatency) }
      guard encoder.isLowLatency == wish.isLowLatency else { return false }
      if wish.requiresHardware { return encoder.isHardwareAccelerated }
      if wish.forbidsHardware { return !encoder.isHardwareAccelerated }
      return true
    }
    if fitting.isEmpty { throw StatusError(kVTCouldNotFindVideoEncoderErr) }
    guard let gpu = wish.preferredGPU else { return fitting }
    return fitting.filter { $0.gpuRegistryID == gpu } + fitting.filter { $0.gpuRegistryID != gpu }
  }
}

/// An encoder specification, taken apart.
private struct EncoderWish {
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
        // A wish that need not come true.
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

/// A status code on its way to the caller.
struct StatusError: Error, Equatable {
  let status: OSStatus
  init(_ status: OSStatus) { self.status = status }
}

extension CodecError {
  /// The status that stands for an encoder's error. (A decoder's is `DecompressionPipeline.status`.)
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
