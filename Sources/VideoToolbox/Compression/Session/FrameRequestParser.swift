// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

extension FrameRequest {
  /// Parses the dictionary of options of one frame. Keys that are not options of a frame are
  /// ignored.
  /// - Parameters:
  ///   - properties: A dictionary of `kVTEncodeFrameOptionKey_` and `kOVTEncodeFrameOptionKey_`
  ///     keys, or nil.
  ///   - encoder: The session's encoder, whose features say which options it supports.
  /// - Throws: `kVTPropertyNotSupportedErr` for an option that the encoder does not support,
  ///   `kVTParameterErr` for a value of the wrong type or out of range.
  init(_ properties: CFDictionary?, encoder: EncoderDescription) throws(StatusError) {
    self.init()
    for (key, value) in properties?.entries ?? [:] {
      switch key as NSString {
      case kVTEncodeFrameOptionKey_ForceKeyFrame:
        forcesKeyFrame = try Self.parse(.boolean, value).boolean ?? false
      case kVTEncodeFrameOptionKey_BaseFrameQP:
        guard encoder.features.contains(.baseFrameQP) else { throw StatusError(kVTPropertyNotSupportedErr) }
        baseQP = try Self.parse(.integer(0...51), value).integer
      case kVTEncodeFrameOptionKey_AcknowledgedLTRTokens:
        try Self.needLongTermReferences(encoder)
        acknowledgedTokens =
          try Self.parse(.numbers, value).numbers?.compactMap { Int64(exactly: $0.rounded(.towardZero)) }
          ?? []
      case kVTEncodeFrameOptionKey_ForceLTRRefresh:
        try Self.needLongTermReferences(encoder)
        forcesLongTermRefresh = try Self.parse(.boolean, value).boolean ?? false
      case kOVTEncodeFrameOptionKey_LostFrameTimes:
        guard encoder.features.contains(.referenceInvalidation) else {
          throw StatusError(kVTPropertyNotSupportedErr)
        }
        lostFrames = try Self.parseTimes(value)
      // Unknown keys are ignored: programs pass dictionaries that hold keys of their own.
      default: break
      }
    }
  }

  private static func parse(_ type: PropertyType, _ value: AnyObject) throws(StatusError) -> PropertyValue {
    guard let parsed = type.parse(value) else { throw StatusError(kVTParameterErr) }
    return parsed
  }

  /// Converts an array of times, each a dictionary as of `CMTimeCopyAsDictionary`, to ticks of
  /// `CompressionDraft.timescale`.
  private static func parseTimes(_ value: AnyObject) throws(StatusError) -> [Int64] {
    guard let array = value as? NSArray else { throw StatusError(kVTParameterErr) }
    var result: [Int64] = []
    for element in array {
      guard let dictionary = element as? NSDictionary else { throw StatusError(kVTParameterErr) }
      let time = CMTimeMakeFromDictionary(dictionary)
      guard time.isNumeric else { throw StatusError(kVTParameterErr) }
      result.append(time.units(CompressionDraft.timescale, .roundHalfAwayFromZero))
    }
    return result
  }

  private static func needLongTermReferences(_ encoder: EncoderDescription) throws(StatusError) {
    guard encoder.features.contains(.longTermReferences) else {
      throw StatusError(kVTPropertyNotSupportedErr)
    }
  }
}
