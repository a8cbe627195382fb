// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

extension FrameRequest {
  /// Takes a frame's properties apart. Keys that are no frame's properties are passed over.
  /// - Throws: `kVTPropertyNotSupportedErr` for an option that the encoder does not have, `kVTParameterErr` for a
  ///   value of the wrong type or out of range.
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
      // What nobody knows is passed over: programs hand on dictionaries of their own.
      default: break
      }
    }
  }

  private static func parse(_ type: PropertyType, _ value: AnyObject) throws(StatusError) -> PropertyValue {
    guard let parsed = type.parse(value) else { throw StatusError(kVTParameterErr) }
    return parsed
  }

  /// Times in the codec's ticks.
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
