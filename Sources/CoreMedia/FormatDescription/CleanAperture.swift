// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A clean aperture: the part of a picture that is presented (`clap`; ISO/IEC 14496-12, 12.1.4).
/// All values are fractions of pixels. The offsets are those of its centre from the centre of the
/// picture.
package struct CleanAperture: Equatable, Sendable {
  package struct Fraction: Equatable, Sendable {
    package var numerator: Int32
    package var denominator: Int32
    package var value: Double { Double(numerator) / Double(denominator) }

    /// The value as an integer if it is one, otherwise as a floating-point number.
    fileprivate var number: NSNumber {
      numerator % denominator == 0
        ? NSNumber(value: Int(numerator / denominator)) : NSNumber(value: value)
    }
  }

  package var width: Fraction
  package var height: Fraction
  package var horizontalOffset: Fraction
  package var verticalOffset: Fraction

  /// Creates the aperture that remains when pixels are cropped from the sides of a picture; nil if
  /// nothing remains, or an argument is negative or above 2^20.
  package init?(ofWidth width: Int32, height: Int32, left: Int, top: Int, right: Int, bottom: Int) {
    let limit = 0...1 << 20
    guard [left, top, right, bottom].allSatisfy({ limit.contains($0) }), Int(width) > left + right,
      Int(height) > top + bottom
    else { return nil }
    func fraction(_ number: Int, over denominator: Int32 = 1) -> Fraction {
      Fraction(numerator: Int32(number), denominator: denominator)
    }
    self.width = fraction(Int(width) - left - right)
    self.height = fraction(Int(height) - top - bottom)
    horizontalOffset = fraction(left - right, over: 2)
    verticalOffset = fraction(top - bottom, over: 2)
  }

  /// Parses the content of a box: four fractions of two 32-bit integers each.
  /// - Returns: Nil if the box is too short, or a denominator is not positive.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= 32 else { return nil }
    let parts = (0..<8).map { part in
      Int32(bitPattern: bytes[4 * part..<4 * part + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
    guard stride(from: 1, to: 8, by: 2).allSatisfy({ parts[$0] > 0 }) else { return nil }
    width = Fraction(numerator: parts[0], denominator: parts[1])
    height = Fraction(numerator: parts[2], denominator: parts[3])
    horizontalOffset = Fraction(numerator: parts[4], denominator: parts[5])
    verticalOffset = Fraction(numerator: parts[6], denominator: parts[7])
  }

  /// Converts the dictionary of a format description, with fractions or numbers. A missing offset
  /// is 0.
  /// - Returns: Nil if the width or the height is missing, or a number is too large for a file.
  package init?(_ dictionary: NSDictionary) {
    func fraction(_ plain: CFString, _ rational: CFString) -> Fraction? {
      if let parts = dictionary[rational] as? [NSNumber], parts.count == 2,
        let numerator = Int32(exactly: parts[0].int64Value),
        let denominator = Int32(exactly: parts[1].int64Value), denominator > 0
      {
        return Fraction(numerator: numerator, denominator: denominator)
      }
      guard let number = (dictionary[plain] as? NSNumber)?.doubleValue, abs(number) < 1e6 else { return nil }
      // An offset is a multiple of 1/2 if one of the lengths is odd.
      for denominator: Int32 in [1, 2] {
        if let numerator = Int32(exactly: number * Double(denominator)) {
          return Fraction(numerator: numerator, denominator: denominator)
        }
      }
      return Fraction(numerator: Int32((number * 1000).rounded()), denominator: 1000)
    }
    func offset(_ plain: CFString, _ rational: CFString) -> Fraction? {
      dictionary[plain] == nil && dictionary[rational] == nil
        ? Fraction(numerator: 0, denominator: 1) : fraction(plain, rational)
    }
    guard
      let width = fraction(
        kCMFormatDescriptionKey_CleanApertureWidth, kCMFormatDescriptionKey_CleanApertureWidthRational),
      let height = fraction(
        kCMFormatDescriptionKey_CleanApertureHeight, kCMFormatDescriptionKey_CleanApertureHeightRational),
      let horizontal = offset(
        kCMFormatDescriptionKey_CleanApertureHorizontalOffset,
        kCMFormatDescriptionKey_CleanApertureHorizontalOffsetRational),
      let vertical = offset(
        kCMFormatDescriptionKey_CleanApertureVerticalOffset,
        kCMFormatDescriptionKey_CleanApertureVerticalOffsetRational)
    else { return nil }
    (self.width, self.height, horizontalOffset, verticalOffset) = (width, height, horizontal, vertical)
  }

  /// The content of the box.
  package var bytes: [UInt8] {
    [width, height, horizontalOffset, verticalOffset].flatMap { fraction in
      [fraction.numerator, fraction.denominator].flatMap { number in
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
      }
    }
  }

  /// Whether the aperture is within a picture of this size and smaller than the picture.
  package func isPart(ofWidth width: Int32, height: Int32) -> Bool {
    func fits(_ part: Fraction, _ offset: Fraction, _ whole: Int32) -> Bool {
      part.value >= 1 && abs(offset.value) + part.value / 2 <= Double(whole) / 2
    }
    return fits(self.width, horizontalOffset, width) && fits(self.height, verticalOffset, height)
      && (self.width.value < Double(width) || self.height.value < Double(height))
  }

  /// The value of `kCMFormatDescriptionExtension_CleanAperture`.
  package var dictionary: NSDictionary {
    let result = NSMutableDictionary()
    for (plain, rational, fraction) in [
      (
        kCMFormatDescriptionKey_CleanApertureWidth, kCMFormatDescriptionKey_CleanApertureWidthRational, width
      ),
      (
        kCMFormatDescriptionKey_CleanApertureHeight, kCMFormatDescriptionKey_CleanApertureHeightRational,
        height
      ),
      (
        kCMFormatDescriptionKey_CleanApertureHorizontalOffset,
        kCMFormatDescriptionKey_CleanApertureHorizontalOffsetRational, horizontalOffset
      ),
      (
        kCMFormatDescriptionKey_CleanApertureVerticalOffset,
        kCMFormatDescriptionKey_CleanApertureVerticalOffsetRational, verticalOffset
      ),
    ] {
      result[plain] = fraction.number
      result[rational] =
        [NSNumber(value: fraction.numerator), NSNumber(value: fraction.denominator)] as NSArray
    }
    return result
  }
}
