// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import VideoBitstream

/// What a client and a pixel buffer say about colours, as code points of ITU-T H.273.
enum ColorNames {
  static func code(_ name: String, in table: ColorCodePoints) -> UInt8? {
    table.code(of: name).flatMap { UInt8(exactly: $0) }
  }

  /// What a pixel buffer's attachments say.
  static func description(of buffer: CVPixelBuffer) -> (primaries: UInt8?, transfer: UInt8?, matrix: UInt8?) {
    func code(_ key: CFString, _ table: ColorCodePoints) -> UInt8? {
      (CVBufferCopyAttachment(buffer, key, nil) as? String).flatMap { Self.code($0, in: table) }
    }
    return (
      code(kCVImageBufferColorPrimariesKey, .primaries),
      code(kCVImageBufferTransferFunctionKey, .transferFunctions),
      code(kCVImageBufferYCbCrMatrixKey, .matrices)
    )
  }
}
