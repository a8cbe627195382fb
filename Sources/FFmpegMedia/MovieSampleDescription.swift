// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The part of a picture that is to be seen (`clap`; ISO/IEC 14496-12, 12.1.4), in pixels as fractions. The
/// offsets are those of its centre from the picture's.
package struct CleanAperture: Equatable, Sendable {
  package struct Fraction: Equatable, Sendable {
    package var numerator: Int32
    package var denominator: Int32
    package var value: Double { Double(numerator) / Double(denominator) }
  }

  package var width: Fraction
  package var height: Fraction
  package var horizontalOffset: Fraction
  package var verticalOffset: Fraction

  /// What is left of a picture when so many pixels are taken off at its sides; nil if that is nothing.
  init?(ofWidth width: Int32, height: Int32, left: Int, top: Int, right: Int, bottom: Int) {
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

  /// - Parameter bytes: the content of the box: four fractions of 32 bits each.
  /// - Returns: nil if the box is too short, or a fraction is none.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 32 else { return nil }
    let parts = (0..<8).map { Int32(truncatingIfNeeded: MovieBox.number(bytes[...], 4 * $0)) }
    guard stride(from: 1, to: 8, by: 2).allSatisfy({ parts[$0] > 0 }) else { return nil }
    width = Fraction(numerator: parts[0], denominator: parts[1])
    height = Fraction(numerator: parts[2], denominator: parts[3])
    horizontalOffset = Fraction(numerator: parts[4], denominator: parts[5])
    verticalOffset = Fraction(numerator: parts[6], denominator: parts[7])
  }

  /// - Parameter dictionary: as a format description has it, with fractions or plain numbers.
  /// - Returns: nil if a number is missing, or too large for a file.
  init?(_ dictionary: NSDictionary) {
    func fraction(_ plain: CFString, _ rational: CFString) -> Fraction? {
      if let parts = dictionary[rational] as? [NSNumber], parts.count == 2,
        let numerator = Int32(exactly: parts[0].int64Value),
        let denominator = Int32(exactly: parts[1].int64Value), denominator > 0
      {
        return Fraction(numerator: numerator, denominator: denominator)
      }
      guard let number = (dictionary[plain] as? NSNumber)?.doubleValue, abs(number) < 1e6 else { return nil }
      // Offsets are halves of samples where a side is odd.
      for denominator: Int32 in [1, 2] {
        if let numerator = Int32(exactly: number * Double(denominator)) {
          return Fraction(numerator: numerator, denominator: denominator)
        }
      }
      return Fraction(numerator: Int32((number * 1000).rounded()), denominator: 1000)
    }
    guard
      let width = fraction(
        kCMFormatDescriptionKey_CleanApertureWidth, kCMFormatDescriptionKey_CleanApertureWidthRational),
      let height = fraction(
        kCMFormatDescriptionKey_CleanApertureHeight, kCMFormatDescriptionKey_CleanApertureHeightRational),
      let horizontal = fraction(
        kCMFormatDescriptionKey_CleanApertureHorizontalOffset,
        kCMFormatDescriptionKey_CleanApertureHorizontalOffsetRational),
      let vertical = fraction(
        kCMFormatDescriptionKey_CleanApertureVerticalOffset,
        kCMFormatDescriptionKey_CleanApertureVerticalOffsetRational)
    else { return nil }
    (self.width, self.height, horizontalOffset, verticalOffset) = (width, height, horizontal, vertical)
  }

  /// The content of the box.
  var bytes: [UInt8] {
    [width, height, horizontalOffset, verticalOffset].flatMap {
      MovieBox.bytes(Int($0.numerator)) + MovieBox.bytes(Int($0.denominator))
    }
  }

  /// Whether it is a part of a picture of a size, and not all of it.
  func isPart(ofWidth width: Int32, height: Int32) -> Bool {
    func fits(_ part: Fraction, _ offset: Fraction, _ whole: Int32) -> Bool {
      part.value >= 1 && abs(offset.value) + part.value / 2 <= Double(whole) / 2
    }
    return fits(self.width, horizontalOffset, width) && fits(self.height, verticalOffset, height)
      && (self.width.value < Double(width) || self.height.value < Double(height))
  }

  /// As a format description has it (`kCMFormatDescriptionExtension_CleanAperture`).
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
      result[plain] = NSNumber(value: fraction.value)
      result[rational] =
        [NSNumber(value: fraction.numerator), NSNumber(value: fraction.denominator)] as NSArray
    }
    return result
  }
}

/// What a movie says of a track's samples (`stsd`; ISO/IEC 14496-12, 8.5.2) that libavformat does not tell.
struct MovieSampleDescription: Equatable {
  /// Samples of one of the kinds are encrypted (ISO/IEC 23001-7, and what came before it).
  var isProtected = false
  /// Of the first kind of samples, as the description measures the picture.
  var width: Int32 = 0
  var height: Int32 = 0
  var cleanAperture: CleanAperture?

  /// Descriptions, and boxes in one, that are looked at.
  private static let most = 64
  /// The formats of protected samples: MPEG's common encryption, and that of a shop.
  private static let protected: Set<String> = [
    "encv", "enca", "enct", "encs", "encm", "drmi", "drms", "drmt",
  ]
  /// Of a description of pictures, its header with it, before its boxes.
  private static let pictureHeader: Int64 = 86

  /// - Parameters: the place of the box's content in the file.
  init(_ bytes: ByteWindow, _ start: Int64, _ end: Int64) {
    var at = start + 8
    for index in 0..<Self.most {
      guard end - at >= 16, let head = bytes.read(at, 8) else { return }
      let next = at.addingClamped(Int64(MovieBox.number(head[...], 0)))
      guard next >= at + 16, next <= end else { return }
      if Self.protected.contains(String(decoding: head[4...], as: UTF8.self)) { isProtected = true }
      if index == 0 { readPicture(bytes, at, next) }
      at = next
    }
  }

  private mutating func readPicture(_ bytes: ByteWindow, _ start: Int64, _ end: Int64) {
    guard let size = bytes.read(start + 32, 4) else { return }
    width = Int32(MovieBox.number(size[...], 0, count: 2))
    height = Int32(MovieBox.number(size[...], 2, count: 2))
    var at = start + Self.pictureHeader
    for _ in 0..<Self.most {
      guard end - at >= 8, let head = bytes.read(at, 8) else { return }
      let length = Int64(MovieBox.number(head[...], 0))
      guard length >= 8, length <= end - at else { return }
      if head[4...].elementsEqual("clap".utf8), let content = bytes.read(at + 8, 32), length >= 40 {
        cleanAperture = CleanAperture(content)
        return
      }
      at += length
    }
  }
}

extension MediaStream {
  /// The stream with what a movie's boxes say of its samples.
  func described(_ boxes: MovieTables.Facts) -> MediaStream {
    var stream = self
    let description = boxes.descriptions[trackID]
    if description?.isProtected == true || boxes.encrypted.contains(trackID) { stream.isProtected = true }
    let (width, height) = (codec.pointer.pointee.width, codec.pointer.pointee.height)
    if kind == .video, let description, let aperture = description.cleanAperture, description.width == width,
      description.height == height, aperture.isPart(ofWidth: width, height: height)
    {
      stream.cleanAperture = aperture
    }
    return stream
  }
}
