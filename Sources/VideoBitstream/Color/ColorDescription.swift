// SPDX-License-Identifier: Apache-2.0

/// The colour space of the samples, in code points of ITU-T H.273: the syntax elements that
/// colour_description_present_flag announces in the VUI (H.264 and HEVC, E.2.1).
public struct ColorDescription: Hashable, Sendable {
  /// The code point that means "unspecified" in each of the three properties.
  public static let unspecified: UInt8 = 2

  /// colour_primaries.
  public var primaries: UInt8
  /// transfer_characteristics.
  public var transfer: UInt8
  /// matrix_coefficients.
  public var matrix: UInt8

  /// Creates a description, by default an unspecified one.
  /// - Parameters:
  ///   - primaries: colour_primaries.
  ///   - transfer: transfer_characteristics.
  ///   - matrix: matrix_coefficients.
  public init(primaries: UInt8 = unspecified, transfer: UInt8 = unspecified, matrix: UInt8 = unspecified) {
    self.primaries = primaries
    self.transfer = transfer
    self.matrix = matrix
  }

  /// Whether all properties are unspecified, as they are in a stream without a colour description.
  public var isUnspecified: Bool { self == ColorDescription() }

  /// Reads or writes the syntax elements, depending on the coder.
  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.u8(&primaries)
    c.u8(&transfer)
    c.u8(&matrix)
  }
}
