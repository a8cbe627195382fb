// SPDX-License-Identifier: Apache-2.0
/// Maps code points of ITU-T H.273 to the names that Core Video has for them, for streams, files
/// and pixel buffers alike.
package struct ColorCodePoints: Sendable {
  /// Each name and its code points. The first code point is the one that is written.
  private let entries: [(name: String, codes: [Int])]

  /// Names of colour_primaries.
  package static let primaries = ColorCodePoints(entries: [
    ("ITU_R_709_2", [1]), ("EBU_3213", [5]), ("SMPTE_C", [6, 7]), ("ITU_R_2020", [9]), ("DCI_P3", [11]),
    ("P3_D65", [12]), ("P22", [22]),
  ])

  /// Names of transfer_characteristics. BT.601 has the curve of BT.709, and BT.2020 has one curve
  /// for 10 and 12 bits.
  package static let transferFunctions = ColorCodePoints(entries: [
    ("ITU_R_709_2", [1, 6]), ("SMPTE_240M_1995", [7]), ("Linear", [8]), ("IEC_sRGB", [13]),
    ("ITU_R_2020", [14, 15]), ("SMPTE_ST_2084_PQ", [16]), ("SMPTE_ST_428_1", [17]), ("ITU_R_2100_HLG", [18]),
  ])

  /// Names of matrix_coefficients. BT.601 is written as 6, as in movie files.
  package static let matrices = ColorCodePoints(entries: [
    ("ITU_R_709_2", [1]), ("ITU_R_601_4", [6, 5]), ("SMPTE_240M_1995", [7]), ("ITU_R_2020", [9]),
    ("DCI_P3", [11]), ("P3_D65", [12]),
  ])

  /// The names of chroma locations by chroma_sample_loc_type.
  package static let chromaLocations = ["Left", "Center", "TopLeft", "Top", "BottomLeft", "Bottom"]

  /// Returns the name of a code point; nil if it has none.
  package func name(of code: Int) -> String? { entries.first { $0.codes.contains(code) }?.name }

  /// Returns the code point of a name; nil if the name is unknown.
  package func code(of name: String) -> Int? { entries.first { $0.name == name }?.codes.first }
}
