// SPDX-License-Identifier: Apache-2.0
/// The colour description of a stream, as code points of ITU-T H.273.
package struct ColorDescription: Hashable, Sendable {
  /// The code point 2 means "unspecified" in all three.
  package static let unspecified = 2

  /// colour_primaries
  package var primaries: Int
  /// transfer_characteristics
  package var transfer: Int
  /// matrix_coefficients
  package var matrix: Int

  package init(
    primaries: Int = unspecified, transfer: Int = unspecified, matrix: Int = unspecified
  ) {
    self.primaries = primaries
    self.transfer = transfer
    self.matrix = matrix
  }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.u(&primaries, 8)
    c.u(&transfer, 8)
    c.u(&matrix, 8)
  }
}
