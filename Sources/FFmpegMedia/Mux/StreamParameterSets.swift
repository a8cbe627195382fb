// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

extension CMFormatDescription {
  /// The parameter sets of H.264 or HEVC, each after its length in four bytes; empty for other
  /// codecs.
  var parameterSetsWithLengthPrefixes: Data {
    let type = CMFormatDescriptionGetMediaSubType(self)
    var bytes = Data()
    var index = 0
    while index < 64 {
      var pointer: UnsafePointer<UInt8>?
      var size = 0
      let status =
        type == kCMVideoCodecType_H264
        ? CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
          self, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
          parameterSetCountOut: nil, nalUnitHeaderLengthOut: nil)
        : CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
          self, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
          parameterSetCountOut: nil, nalUnitHeaderLengthOut: nil)
      guard status == noErr, let pointer, size > 0 else { break }
      withUnsafeBytes(of: UInt32(size).bigEndian) { bytes.append(contentsOf: $0) }
      bytes.append(pointer, count: size)
      index += 1
    }
    return bytes
  }
}
