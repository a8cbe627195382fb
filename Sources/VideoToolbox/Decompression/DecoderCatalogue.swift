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

  /// The decoder for a codec and a decoder specification.
  static func choose(codec: CodecType, specification: CFDictionary?) throws(StatusError) -> DecoderDescription
  {
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
    guard let decoder = all.first(where: { $0.supports(codec) }) else {
      throw StatusError(kVTCouldNotFindVideoDecoderErr)
    }
    return decoder
  }
}
