// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import VideoBitstream

/// Converts the names of colour primaries, transfer functions and matrices to code points of ITU-T
/// H.273.
enum ColorNames {
  static func code(_ name: String, in table: ColorCodePoints) -> UInt8? {
    table.code(of: name).flatMap { UInt8(exactly: $0) }
  }

  /// The code points of a pixel buffer's colour attachments; nil where there is none, or it is
  /// unknown.
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
