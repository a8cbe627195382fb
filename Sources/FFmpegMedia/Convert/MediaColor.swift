// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// Core Video's names of libavutil's colour constants, which are the code points of H.273. Core
/// Video has the only table; what it does not name becomes "unspecified".
enum MediaColor {
  static func name(_ primaries: AVColorPrimaries) -> CFString? {
    CVColorPrimariesGetStringForIntegerCodePoint(Int32(clamping: primaries.rawValue))?.takeUnretainedValue()
  }
  static func name(_ transfer: AVColorTransferCharacteristic) -> CFString? {
    CVTransferFunctionGetStringForIntegerCodePoint(Int32(clamping: transfer.rawValue))?.takeUnretainedValue()
  }
  static func name(_ matrix: AVColorSpace) -> CFString? {
    CVYCbCrMatrixGetStringForIntegerCodePoint(Int32(clamping: matrix.rawValue))?.takeUnretainedValue()
  }

  static func primaries(_ name: CFString) -> AVColorPrimaries {
    AVColorPrimaries(UInt32(CVColorPrimariesGetIntegerCodePointForString(name)))
  }
  static func transfer(_ name: CFString) -> AVColorTransferCharacteristic {
    AVColorTransferCharacteristic(UInt32(CVTransferFunctionGetIntegerCodePointForString(name)))
  }
  static func matrix(_ name: CFString) -> AVColorSpace {
    AVColorSpace(UInt32(CVYCbCrMatrixGetIntegerCodePointForString(name)))
  }
}
