// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// The decoders that are available in this process, and the choice among them.
///
/// A decoder that is registered with `CodecRegistry.shared` takes precedence over the built-in one.
enum DecoderCatalogue {
  /// All decoders, the preferred first, with `CodecRegistry.countsAllAsHardware` applied.
  static var all: [DecoderDescription] { everything.map { counted($0) } }

  /// All decoders, the preferred first: a registered one replaces the built-in one if it has the
  /// same id.
  private static var everything: [DecoderDescription] {
    let builtIn = FFmpegVideoDecoder.description
    let registered = CodecRegistry.shared.decoders
    return registered.contains { $0.id == builtIn.id } ? registered : registered + [builtIn]
  }

  /// The description, marked as hardware if the program has set
  /// `CodecRegistry.countsAllAsHardware`.
  private static func counted(_ decoder: DecoderDescription) -> DecoderDescription {
    var decoder = decoder
    if CodecRegistry.shared.countsAllAsHardware { decoder.isHardwareAccelerated = true }
    return decoder
  }

  /// Chooses the decoder for a format.
  /// - Parameters:
  ///   - format: The format of the frames.
  ///   - specification: A dictionary of `kVTVideoDecoderSpecification_` keys, or nil.
  /// - Throws: `kVTCouldNotFindVideoDecoderErr` if there is none, `kVTParameterErr` if a value of
  ///   the specification has the wrong type.
  static func choose(
    _ format: StreamFormat, specification: CFDictionary?
  ) throws(StatusError) -> DecoderDescription {
    let requested = try DecoderSpecification(specification)
    // Where the specification excludes hardware, software decoders must not count as hardware, or
    // there would be none left.
    func seen(_ decoder: DecoderDescription) -> DecoderDescription {
      requested.forbidsHardware ? decoder : counted(decoder)
    }
    let fitting = everything.map(seen).filter { $0.supports(format.codec) && requested.allows($0) }
    if let gpu = requested.preferredGPU, let decoder = fitting.first(where: { $0.gpuRegistryID == gpu }) {
      return decoder
    }
    if let decoder = fitting.first { return decoder }
    // Some codecs of other containers have no four-character code of their own; the format
    // description names them in another way.
    let last = seen(FFmpegVideoDecoder.description)
    guard requested.allows(last), FFmpegVideoDecoder.supports(format.description) else {
      throw StatusError(kVTCouldNotFindVideoDecoderErr)
    }
    return last
  }
}

/// The parsed dictionary of a decoder specification.
private struct DecoderSpecification {
  private var requiresHardware = false
  private(set) var forbidsHardware = false
  private var requiredGPU: UInt64?
  /// A preference only: it excludes no decoder.
  private(set) var preferredGPU: UInt64?

  init(_ specification: CFDictionary?) throws(StatusError) {
    for (key, value) in specification?.entries ?? [:] {
      switch key as NSString {
      case kVTVideoDecoderSpecification_RequireHardwareAcceleratedVideoDecoder:
        requiresHardware = try Self.boolean(value)
      case kVTVideoDecoderSpecification_EnableHardwareAcceleratedVideoDecoder:
        forbidsHardware = try !Self.boolean(value)
      case kVTVideoDecoderSpecification_RequiredDecoderGPURegistryID:
        requiredGPU = try Self.registryID(value)
      case kVTVideoDecoderSpecification_PreferredDecoderGPURegistryID:
        preferredGPU = try Self.registryID(value)
      default:
        // Other keys are for other decoders.
        break
      }
    }
  }

  func allows(_ decoder: DecoderDescription) -> Bool {
    if let requiredGPU, decoder.gpuRegistryID != requiredGPU { return false }
    if requiresHardware { return decoder.isHardwareAccelerated }
    return !(forbidsHardware && decoder.isHardwareAccelerated)
  }

  private static func registryID(_ value: AnyObject) throws(StatusError) -> UInt64 {
    guard let number = value as? NSNumber else { throw StatusError(kVTParameterErr) }
    return number.uint64Value
  }

  private static func boolean(_ value: AnyObject) throws(StatusError) -> Bool {
    guard let parsed = PropertyType.boolean.parse(value)?.boolean else { throw StatusError(kVTParameterErr) }
    return parsed
  }
}
