// SPDX-License-Identifier: Apache-2.0
import CoreGraphics
import VideoBitstream

/// Color spaces as code points of ITU-T H.273, which HEIF files store in `colr` boxes of the type
/// `nclx`.
enum HEIFColor {
  /// The named color spaces. The matrices are those that video of these primaries uses.
  private nonisolated(unsafe) static let spaces: [(name: CFString, color: ColorDescription)] = [
    (CGColorSpace.sRGB, ColorDescription(primaries: 1, transfer: 13, matrix: 1)),
    (CGColorSpace.linearSRGB, ColorDescription(primaries: 1, transfer: 8, matrix: 1)),
    (CGColorSpace.itur_709, ColorDescription(primaries: 1, transfer: 1, matrix: 1)),
    (CGColorSpace.itur_709_HLG, ColorDescription(primaries: 1, transfer: 18, matrix: 1)),
    (CGColorSpace.itur_709_PQ, ColorDescription(primaries: 1, transfer: 16, matrix: 1)),
    (CGColorSpace.itur_2020, ColorDescription(primaries: 9, transfer: 1, matrix: 9)),
    (CGColorSpace.itur_2100_HLG, ColorDescription(primaries: 9, transfer: 18, matrix: 9)),
    (CGColorSpace.itur_2100_PQ, ColorDescription(primaries: 9, transfer: 16, matrix: 9)),
    (CGColorSpace.linearITUR_2020, ColorDescription(primaries: 9, transfer: 8, matrix: 9)),
    (CGColorSpace.dcip3, ColorDescription(primaries: 11, transfer: 17, matrix: 1)),
    (CGColorSpace.displayP3, ColorDescription(primaries: 12, transfer: 13, matrix: 1)),
    (CGColorSpace.displayP3_HLG, ColorDescription(primaries: 12, transfer: 18, matrix: 1)),
    (CGColorSpace.displayP3_PQ, ColorDescription(primaries: 12, transfer: 16, matrix: 1)),
    (CGColorSpace.linearDisplayP3, ColorDescription(primaries: 12, transfer: 8, matrix: 1)),
  ]

  /// Returns the code points of a named color space.
  ///
  /// Gray images are stored as sRGB: `CGColorSpaceCreateDeviceGray` has the name of linear gray,
  /// but its values are those of files and screens, and PNG and JPEG files do not describe them
  /// either.
  /// - Parameter space: The color space, or nil.
  static func description(of space: CGColorSpace?) -> ColorDescription {
    spaces.first { $0.name == space?.name }?.color
      ?? ColorDescription(primaries: 1, transfer: 13, matrix: 1)
  }

  /// Returns the color space of code points; sRGB for those that have no name.
  static func space(of color: ColorDescription?) -> CGColorSpace {
    // BT.601 and both sorts of BT.2020 have the transfer function of BT.709.
    let transfer = color.map { [6, 14, 15].contains($0.transfer) ? 1 : $0.transfer }
    let known = spaces.first { $0.color.primaries == color?.primaries && $0.color.transfer == transfer }
    return known.flatMap { CGColorSpace(name: $0.name) } ?? CGColorSpaceCreateDeviceRGB()
  }

  /// Returns the weights of red and blue in luma (ITU-T H.273, Table 4): BT.709 for matrices that
  /// `description(of:)` does not use.
  static func lumaWeights(matrix: UInt8) -> (red: Double, blue: Double) {
    matrix == 9 ? (0.2627, 0.0593) : (0.2126, 0.0722)
  }
}
