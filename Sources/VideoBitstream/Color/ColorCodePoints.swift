// SPDX-License-Identifier: Apache-2.0
/// The code points of ITU-T H.273 that have a name in Core Video: one table for streams, files and pixel buffers.
package struct ColorCodePoints: Sendable {
  /// A name and its code points: the first is the one that is written.
  private let entries: [(name: String, codes: [Int])]

  package static let primaries = ColorCodePoints(entries: [
    ("ITU_R_709_2", [1]), ("EBU_3213", [5]), ("SMPTE_C", [6, 7]), ("ITU_R_2020", [9]), ("DCI_P3", [11]),
    ("P3_D65", [12]), ("P22", [22]),
  ])

  /// BT.601's and BT.709's curves are one, and so are those of BT.2020 with 10 and 12 bits.
  package static let transferFunctions = ColorCodePoints(entries: [
    ("ITU_R_709_2", [1, 6]), ("SMPTE_240M_1995", [7]), ("Linear", [8]), ("IEC_sRGB", [13]),
    ("ITU_R_2020", [14, 15]), ("SMPTE_ST_2084_PQ", [16]), ("SMPTE_ST_428_1", [17]), ("ITU_R_2100_HLG", [18]),
  ])

  /// BT.601 is written as 6, as movie files do.
  package static let matrices = ColorCodePoints(entries: [
    ("ITU_R_709_2", [1]), ("ITU_R_601_4", [6, 5]), ("SMPTE_240M_1995", [7]), ("ITU_R_2020", [9]),
    ("DCI_P3", [11]), ("P3_D65", [12]),
  ])

  /// By chroma_sample_loc_type.
  package static let chromaLocations = ["Left", "Center", "TopLeft", "Top", "BottomLeft", "Bottom"]

  /// The name of a code point, nil if it has none.
  package func name(of code: Int) -> String? { entries.first { $0.codes.contains(code) }?.name }

  /// The code point of a name, nil if there is none.
  package func code(of name: String) -> Int? { entries.first { $0.name == name }?.codes.first }
}
