import CFFmpeg
import CoreMedia
import VideoBitstream

/// Colour names of Core Video and the code points of H.273, which libavutil uses too.
enum MediaColor {
  static func name(_ primaries: AVColorPrimaries) -> CFString? {
    ColorCodePoints.primaries.name(of: Int(primaries.rawValue)).map { $0 as CFString }
  }
  static func name(_ transfer: AVColorTransferCharacteristic) -> CFString? {
    ColorCodePoints.transferFunctions.name(of: Int(transfer.rawValue)).map { $0 as CFString }
  }
  static func name(_ matrix: AVColorSpace) -> CFString? {
    ColorCodePoints.matrices.name(of: Int(matrix.rawValue)).map { $0 as CFString }
  }

  static func primaries(_ name: CFString) -> AVColorPrimaries {
    ColorCodePoints.primaries.code(of: name as String).map { AVColorPrimaries(UInt32($0)) }
      ?? AVCOL_PRI_UNSPECIFIED
  }
  static func transfer(_ name: CFString) -> AVColorTransferCharacteristic {
    ColorCodePoints.transferFunctions.code(of: name as String).map {
      AVColorTransferCharacteristic(UInt32($0))
    }
      ?? AVCOL_TRC_UNSPECIFIED
  }
  static func matrix(_ name: CFString) -> AVColorSpace {
    ColorCodePoints.matrices.code(of: name as String).map { AVColorSpace(UInt32($0)) }
      ?? AVCOL_SPC_UNSPECIFIED
  }
}
