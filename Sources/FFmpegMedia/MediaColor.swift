import CFFmpeg
import CoreMedia

/// Colour names of Core Video and the code points of H.273, which libavutil uses too.
enum MediaColor {
  private static let primariesNames: [(UInt32, String)] = [
    (1, "ITU_R_709_2"), (5, "EBU_3213"), (6, "SMPTE_C"), (9, "ITU_R_2020"), (11, "DCI_P3"), (12, "P3_D65"),
  ]
  private static let transferNames: [(UInt32, String)] = [
    (1, "ITU_R_709_2"), (6, "ITU_R_709_2"), (7, "SMPTE_240M_1995"), (8, "Linear"), (13, "IEC_sRGB"),
    (14, "ITU_R_2020"), (15, "ITU_R_2020"), (16, "SMPTE_ST_2084_PQ"), (17, "SMPTE_ST_428_1"),
    (18, "ITU_R_2100_HLG"),
  ]
  private static let matrixNames: [(UInt32, String)] = [
    (1, "ITU_R_709_2"), (5, "ITU_R_601_4"), (6, "ITU_R_601_4"), (7, "SMPTE_240M_1995"), (9, "ITU_R_2020"),
  ]

  static func name(_ primaries: AVColorPrimaries) -> CFString? {
    primariesNames.first { $0.0 == primaries.rawValue }.map { $0.1 as CFString }
  }
  static func name(_ transfer: AVColorTransferCharacteristic) -> CFString? {
    transferNames.first { $0.0 == transfer.rawValue }.map { $0.1 as CFString }
  }
  static func name(_ matrix: AVColorSpace) -> CFString? {
    matrixNames.first { $0.0 == matrix.rawValue }.map { $0.1 as CFString }
  }

  static func primaries(_ name: CFString) -> AVColorPrimaries {
    primariesNames.first { $0.1 == name as String }.map { AVColorPrimaries($0.0) } ?? AVCOL_PRI_UNSPECIFIED
  }
  static func transfer(_ name: CFString) -> AVColorTransferCharacteristic {
    transferNames.first { $0.1 == name as String }.map { AVColorTransferCharacteristic($0.0) }
      ?? AVCOL_TRC_UNSPECIFIED
  }
  static func matrix(_ name: CFString) -> AVColorSpace {
    // Movie files write 6 for BT.601.
    matrixNames.last { $0.1 == name as String }.map { AVColorSpace($0.0) } ?? AVCOL_SPC_UNSPECIFIED
  }
}
