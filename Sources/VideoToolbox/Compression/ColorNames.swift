// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Core Video's names for what a stream says about its colours, and their code points in ITU-T H.273.
enum ColorNames {
  static let primaries: [(name: String, code: UInt8)] = [
    ("ITU_R_709_2", 1), ("EBU_3213", 5), ("SMPTE_C", 6), ("ITU_R_2020", 9), ("DCI_P3", 11), ("P3_D65", 12),
    ("P22", 22),
  ]
  static let transferFunctions: [(name: String, code: UInt8)] = [
    ("ITU_R_709_2", 1), ("SMPTE_240M_1995", 7), ("Linear", 8), ("IEC_sRGB", 13), ("ITU_R_2020", 14),
    ("SMPTE_ST_2084_PQ", 16), ("SMPTE_ST_428_1", 17), ("ITU_R_2100_HLG", 18),
  ]
  static let matrices: [(name: String, code: UInt8)] = [
    ("ITU_R_709_2", 1), ("ITU_R_601_4", 6), ("SMPTE_240M_1995", 7), ("ITU_R_2020", 9),
  ]

  static func code(_ name: String, in list: [(name: String, code: UInt8)]) -> UInt8? {
    list.first { $0.name == name }?.code
  }

  /// What a pixel buffer's attachments say.
  static func description(of buffer: CVPixelBuffer) -> (primaries: UInt8?, transfer: UInt8?, matrix: UInt8?) {
    func name(_ key: String) -> String? {
      CVBufferCopyAttachment(buffer, key as CFString, nil) as? String
    }
    return (
      name("CVImageBufferColorPrimaries").flatMap { code($0, in: primaries) },
      name("CVImageBufferTransferFunction").flatMap { code($0, in: transferFunctions) },
      name("CVImageBufferYCbCrMatrix").flatMap { code($0, in: matrices) }
    )
  }
}
