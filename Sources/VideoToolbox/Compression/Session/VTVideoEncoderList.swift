// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// The codec's four-character code. Number.
public nonisolated(unsafe) let kVTVideoEncoderList_CodecType: CFString = "CodecType"
/// The identifier for `kVTVideoEncoderSpecification_EncoderID` (string).
public nonisolated(unsafe) let kVTVideoEncoderList_EncoderID: CFString = "EncoderID"
/// The codec's name. String.
public nonisolated(unsafe) let kVTVideoEncoderList_CodecName: CFString = "CodecName"
/// The encoder's name. String.
public nonisolated(unsafe) let kVTVideoEncoderList_EncoderName: CFString = "EncoderName"
/// Name for a menu. String.
public nonisolated(unsafe) let kVTVideoEncoderList_DisplayName: CFString = "DisplayName"
/// The GPU that the encoder runs on; absent for encoders that run on the processor. Number.
public nonisolated(unsafe) let kVTVideoEncoderList_GPURegistryID: CFString = "GPURegistryID"
/// The properties by which encoders of one codec differ, each with its description, for choosing
/// among them. Dictionary.
public nonisolated(unsafe) let kVTVideoEncoderList_SupportedSelectionProperties: CFString =
  "SupportedSelectionProperties"
/// Greater is faster, among encoders of one codec. Number.
public nonisolated(unsafe) let kVTVideoEncoderList_PerformanceRating: CFString = "PerformanceRating"
/// Greater is better, among encoders of one codec. Number.
public nonisolated(unsafe) let kVTVideoEncoderList_QualityRating: CFString = "QualityRating"
/// Sessions that can use the encoder at a time; absent if there is no limit. Number.
public nonisolated(unsafe) let kVTVideoEncoderList_InstanceLimit: CFString = "InstanceLimit"
/// Whether the encoder is a piece of hardware. Boolean; absent means false.
public nonisolated(unsafe) let kVTVideoEncoderList_IsHardwareAccelerated: CFString = "IsHardwareAccelerated"
/// Whether the encoder can reorder frames, so that decode order differs from presentation order.
/// Boolean; absent means true.
public nonisolated(unsafe) let kVTVideoEncoderList_SupportsFrameReordering: CFString =
  "SupportsFrameReordering"

/// Whether to list encoders of DV at standard definition. This package has none, so the list is the
/// same with true and false. Boolean.
public nonisolated(unsafe) let kVTVideoEncoderListOption_IncludeStandardDefinitionDVEncoders: CFString =
  "IncludeStandardDefinitionDVEncoders"

/// Lists the encoders.
/// - Parameters:
///   - options: nil, or a dictionary of `kVTVideoEncoderListOption_` keys.
///   - listOfVideoEncodersOut: receives an array of dictionaries with the keys
///     `kVTVideoEncoderList_...`.
@discardableResult
public func VTCopyVideoEncoderList(
  _ options: CFDictionary?, _ listOfVideoEncodersOut: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
  let entries = EncoderCatalogue.all.map { encoder -> NSDictionary in
    var entry: [String: Any] = [
      kVTVideoEncoderList_CodecType as String: NSNumber(value: encoder.codec.rawValue),
      kVTVideoEncoderList_EncoderID as String: encoder.id as NSString,
      kVTVideoEncoderList_CodecName as String: encoder.codecName as NSString,
      kVTVideoEncoderList_EncoderName as String: encoder.encoderName as NSString,
      kVTVideoEncoderList_DisplayName as String: encoder.displayName as NSString,
      kVTVideoEncoderList_IsHardwareAccelerated as String: NSNumber(value: encoder.isHardwareAccelerated),
      kVTVideoEncoderList_SupportsFrameReordering as String: NSNumber(
        value: encoder.features.contains(.frameReordering)),
      kOVTVideoEncoderList_LooksAheadByDefault as String: NSNumber(
        value: encoder.features.contains(.lookAheadByDefault)),
      kOVTVideoEncoderList_IsIndependentOfThreadCount as String: NSNumber(
        value: encoder.features.contains(.threadIndependence)),
      kVTVideoEncoderList_SupportedSelectionProperties as String: NSDictionary(
        dictionary: CompressionPropertyTable(encoder: encoder).selectionProperties),
    ]
    if let gpu = encoder.gpuRegistryID {
      entry[kVTVideoEncoderList_GPURegistryID as String] = NSNumber(value: gpu)
    }
    if let limit = encoder.instanceLimit {
      entry[kVTVideoEncoderList_InstanceLimit as String] = NSNumber(value: limit)
    }
    if let rating = encoder.performanceRating {
      entry[kVTVideoEncoderList_PerformanceRating as String] = NSNumber(value: rating)
    }
    if let rating = encoder.qualityRating {
      entry[kVTVideoEncoderList_QualityRating as String] = NSNumber(value: rating)
    }
    return NSDictionary(dictionary: entry)
  }
  listOfVideoEncodersOut.pointee = NSArray(array: entries)
  return noErr
}

/// Describes the encoder that a session of this size, codec and specification would use.
///
/// The parameters that need an explanation:
///
/// - `encoderIDOut`: receives the encoder's id.
/// - `supportedPropertiesOut`: receives what `VTSessionCopySupportedPropertyDictionary` would give.
/// - Returns: `kVTParameterErr` for a size that is not positive; `kVTCouldNotFindVideoEncoderErr`
///   if there is none.
@discardableResult
public func VTCopySupportedPropertyDictionaryForEncoder(
  width: Int32, height: Int32, codecType: CMVideoCodecType, encoderSpecification: CFDictionary?,
  encoderIDOut: UnsafeMutablePointer<CFString?>?, supportedPropertiesOut: UnsafeMutablePointer<CFDictionary?>?
) -> OSStatus {
  encoderIDOut?.pointee = nil
  supportedPropertiesOut?.pointee = nil
  guard width > 0, height > 0 else { return kVTParameterErr }
  do throws(StatusError) {
    let fitting = try EncoderCatalogue.fitting(
      codec: CodecType(rawValue: codecType), size: (Int(width), Int(height)),
      specification: encoderSpecification)
    guard let encoder = fitting.first else { return kVTCouldNotFindVideoEncoderErr }
    encoderIDOut?.pointee = encoder.id as NSString
    let table = CompressionPropertyTable(encoder: encoder)
    supportedPropertiesOut?.pointee = NSDictionary(
      dictionary: table.supportedProperties.mapValues { NSDictionary(dictionary: $0) })
    return noErr
  } catch {
    return error.status
  }
}
