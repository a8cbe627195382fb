// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// The decoders of this process, and how one is chosen.
///
/// A decoder that is registered with `CodecRegistry.shared` comes before the built-in one.
enum DecoderCatalogue {
  static var all: [DecoderDescription] {
    let builtIn = FFmpegVideoDecoder.description
    let registered = CodecRegistry.shared.decoders
    return registered.contains { $0.id == builtIn.id } ? registered : registered + [builtIn]
  }

  /// The decoder for a format and a decoder specification.
  static func choose(
    _ format: StreamFormat, specification: CFDictionary?
  ) throws(StatusError) -> DecoderDescription {
    for (key, value) in specification?.entries ?? [:] {
      switch key as NSString {
      case kVTVideoDecoderSpecification_RequireHardwareAcceleratedVideoDecoder:
        guard let required = PropertyType.boolean.parse(value)?.boolean else {
          throw StatusError(kVTParameterErr)
        }
        if required { throw StatusError(kVTCouldNotFindVideoDecoderErr) }
      case kVTVideoDecoderSpecification_RequiredDecoderGPURegistryID:
        // No GPU decodes here.
        throw StatusError(kVTCouldNotFindVideoDecoderErr)
      default:
        // What hardware may or should do is a wish that need not come true.
        break
      }
    }
    if let decoder = all.first(where: { $0.supports(format.codec) }) { return decoder }
    // Some codecs of other containers have no four characters that mean them alone.
    guard FFmpegVideoDecoder.supports(format.description) else {
      throw StatusError(kVTCouldNotFindVideoDecoderErr)
    }
    return FFmpegVideoDecoder.description
  }
}
