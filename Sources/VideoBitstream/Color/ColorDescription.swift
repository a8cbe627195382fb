// SPDX-License-Identifier: Apache-2.0
/// colour_primaries, transfer_characteristics and matrix_coefficients: code points of ITU-T H.273.
package struct ColorDescription: Hashable, Sendable {
  /// 2 stands for "unspecified" in each.
  package static let unspecified = 2

  package var primaries: Int
  package var transfer: Int
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
