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
    [X264Codec.encoder].compactMap { $0 } + [H264Codec.encoder, H264Codec.lowLatencyEncoder]
    + X265Codec.encoders

  /// All encoders, the preferred first.
  static var all: [EncoderDescription] {
    let registered = CodecRegistry.shared.encoders
    return registered + builtIn.filter { known in !registered.contains { $0.id == known.id } }
  }

  /// The encoder that an encoder specification asks for.
  /// - Returns: a status if there is none, or if the specification makes no sense.
  static func choose(codec: CodecType, specification: CFDictionary?) -> Result<
    EncoderDescription, StatusError
  > {
    let wish: EncoderWish
    do { wish = try EncoderWish(specification) } catch { return .failure(error) }
    let fitting = all.filter { encoder in
      guard encoder.codec == codec else { return false }
      if let id = wish.id { return encoder.id == id && (!wish.isLowLatency || encoder.isLowLatency) }
      guard encoder.isLowLatency == wish.isLowLatency else { return false }
      if wish.requiresHardware { return encoder.isHardwareAccelerated }
      if wish.forbidsHardware { return !encoder.isHardwareAccelerated }
      return true
    }
    guard !wish.requiresGPU, let chosen = fitting.first else {
      return .failure(StatusError(kVTCouldNotFindVideoEncoderErr))
    }
    return .success(chosen)
  }
}

/// An encoder specification, taken apart.
private struct EncoderWish {
  var id: String?
  var isLowLatency = false
  var requiresHardware = false
  var forbidsHardware = false
  var requiresGPU = false

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
        // There is no encoder on a GPU here.
        requiresGPU = true
      default:
        // A preferred GPU is a wish that need not come true; other keys are for other encoders.
        break
      }
    }
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
    case .badData, .malfunction: kVTVideoEncoderMalfunctionErr
    case .outOfMemory: kVTAllocationFailedErr
    }
  }
}
