// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoBitstream

/// The part of a decoded image that is shown: the property `clap` (ISO/IEC 14496-12, 12.1.4).
struct HEIFAperture: Equatable {
  /// A fraction of 32-bit numbers.
  struct Fraction: Equatable {
    var numerator: Int64
    var denominator: Int64
  }

  /// The size in samples.
  var width: Fraction
  var height: Fraction
  /// The distances of the center from that of the decoded image.
  var horizontalOffset: Fraction
  var verticalOffset: Fraction

  /// Creates the aperture that begins at the upper left corner.
  /// - Parameters:
  ///   - width: The width of the part.
  ///   - height: The height of the part.
  ///   - decodedWidth: The width of the decoded image.
  ///   - decodedHeight: The height of the decoded image.
  init(width: Int, height: Int, decodedWidth: Int, decodedHeight: Int) {
    self.width = Fraction(numerator: Int64(width), denominator: 1)
    self.height = Fraction(numerator: Int64(height), denominator: 1)
    horizontalOffset = Fraction(numerator: Int64(width - decodedWidth), denominator: 2)
    verticalOffset = Fraction(numerator: Int64(height - decodedHeight), denominator: 2)
  }

  /// Reads the content of the box.
  init(_ reader: inout ByteReader<Data>) throws {
    func fraction(isSigned: Bool) throws -> Fraction {
      let (above, below) = (try reader.uint32(), try reader.uint32())
      // Offsets are signed, and so may be their denominators.
      let denominator = isSigned ? Int64(Int32(bitPattern: below)) : Int64(below)
      guard denominator > 0 else { throw SyntaxError.invalid }
      return Fraction(
        numerator: isSigned ? Int64(Int32(bitPattern: above)) : Int64(above), denominator: denominator)
    }
    width = try fraction(isSigned: false)
    height = try fraction(isSigned: false)
    horizontalOffset = try fraction(isSigned: true)
    verticalOffset = try fraction(isSigned: true)
  }

  /// The content of the box.
  var content: Data {
    var data = Data()
    for value in [width, height, horizontalOffset, verticalOffset] {
      data.append(bigEndian: Int32(truncatingIfNeeded: value.numerator))
      data.append(bigEndian: Int32(truncatingIfNeeded: value.denominator))
    }
    return data
  }

  /// Returns the part of a decoded image in whole samples, or nil if it is empty or leaves the image.
  func part(ofWidth decodedWidth: Int, height decodedHeight: Int) -> (
    x: Int, y: Int, width: Int, height: Int
  )? {
    func side(_ size: Fraction, _ offset: Fraction, _ decoded: Int) -> (start: Int, length: Int)? {
      let length = size.numerator / size.denominator
      guard length >= 1, length <= Int64(decoded) else { return nil }
      // The centers' distance from the edges is (size - 1) / 2.
      let twice = 2 * offset.numerator + (Int64(decoded) - length) * offset.denominator
      let start = twice / (2 * offset.denominator)
      guard twice >= 0, start + length <= Int64(decoded) else { return nil }
      return (Int(start), Int(length))
    }
    guard let x = side(width, horizontalOffset, decodedWidth),
      let y = side(height, verticalOffset, decodedHeight)
    else { return nil }
    return (x.start, y.start, x.length, y.length)
  }
}
