// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

extension Compressor {
  /// Whether the session's encoder makes several passes; it has the storage then.
  func attach(_ storage: VTMultiPassStorage) -> Bool {
    VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage) == noErr
  }

  /// - Parameters:
  ///   - isLast: nothing need be learnt any more.
  ///   - rate: bits a second, where it is another than before.
  func beginPass(isLast: Bool, rate: Int?) throws {
    if let rate {
      let status = VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_AverageBitRate, value: NSNumber(value: rate))
      guard status == noErr else {
        throw Failure("the encoder does not take another bit rate between passes (error \(status))")
      }
    }
    let status = VTCompressionSessionBeginPass(session, flags: isLast ? .beginFinalPass : [], nil)
    guard status == noErr else { throw Failure("the encoder cannot begin a pass (error \(status))") }
  }

  /// Returns when the output of every frame has been delivered.
  /// - Returns: Whether the encoder asks for another pass.
  func endPass() throws -> Bool {
    var wantsMore = DarwinBoolean(false)
    let status = VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &wantsMore, nil)
    guard status == noErr else { throw Failure("the encoder could not end a pass (error \(status))") }
    return wantsMore.boolValue
  }
}

/// Whether an encoder that a session would take makes several passes, for what runs without a session of our own.
func encoderMakesPasses(_ codec: CMVideoCodecType) -> Bool {
  var session: VTCompressionSession?
  VTCompressionSessionCreate(
    allocator: kCFAllocatorDefault, width: 640, height: 360, codecType: codec, encoderSpecification: nil,
    imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
    compressionSessionOut: &session)
  guard let session else { return false }
  defer { VTCompressionSessionInvalidate(session) }
  var properties: CFDictionary?
  VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &properties)
  return properties?[kVTCompressionPropertyKey_MultiPassStorage] != nil
}
