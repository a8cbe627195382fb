// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The size of the pictures of a movie before they are cropped.
struct UncroppedSize: Sendable, Equatable {
  /// The width in samples.
  var width: Int
  /// The height in samples.
  var height: Int
  /// The duration of the pictures that have this size, in seconds.
  var seconds = 1.0

  var area: Double { Double(width) * Double(height) }

  /// The size after a quarter turn.
  var onItsSide: UncroppedSize { UncroppedSize(width: height, height: width, seconds: seconds) }
}

extension MovieSource {
  /// The sizes of the pictures before they are cropped: of each movie, if several are joined.
  var uncropped: [UncroppedSize] {
    uncroppedSizes.isEmpty ? [UncroppedSize(width: width, height: height)] : uncroppedSizes
  }

  /// Whether the pictures of a joined movie have several sizes.
  var joinsSizes: Bool {
    uncroppedSizes.contains { ($0.width, $0.height) != (uncroppedSizes[0].width, uncroppedSizes[0].height) }
  }

  /// The size of the largest pictures that are decoded.
  var decodedSize: (width: Int, height: Int) {
    let largest = uncropped.max { $0.area < $1.area }
    return (largest?.width ?? width, largest?.height ?? height)
  }

  /// The mean area, in samples, of the pictures that `dataRate` is the rate of.
  var meanArea: Double {
    let sizes = uncropped
    let seconds = sizes.map { max($0.seconds, 0.001) }
    return zip(sizes, seconds).map { $0.area * $1 }.reduce(0, +) / seconds.reduce(0, +)
  }

  /// Exchanges the widths and the heights of the pictures.
  mutating func swapSides() {
    (width, height) = (height, width)
    uncroppedSizes = uncroppedSizes.map(\.onItsSide)
  }

  /// Cuts a part out of all pictures.
  /// - Throws: a `Failure` if a picture is too small to hold the part.
  mutating func keep(_ part: CropRect) throws {
    // Pictures are cropped before they are scaled to one size, so the part must be in all of them.
    let sizes = uncropped
    let outside = sizes.first { part.x + part.width > $0.width || part.y + part.height > $0.height }
    if let outside {
      throw Failure(
        "--crop names a part outside of the \(sizes.count == 1 ? "picture, which is" : "pictures of one movie, which are") "
          + "\(outside.width)x\(outside.height)", status: 64)
    }
    uncroppedSizes = sizes
    crop = part
    (width, height) = (part.width, part.height)
  }
}

/// The time scale in which the times of several tracks are exact.
enum CommonTimescale {
  /// The largest time scale that is made of several.
  private static let largest = 1_000_000
  /// The time scale if a common one would be too large. It is that of MPEG-2 streams, which the
  /// usual frame rates fit.
  private static let defaultTimescale: CMTimeScale = 90_000

  /// The least common multiple of time scales, in ticks a second; 90,000 if it is larger than
  /// 1,000,000. One that is a multiple of all others is kept, whatever it is.
  static func of(_ timescales: [CMTimeScale]) -> CMTimeScale {
    let given = timescales.filter { $0 > 0 }.map(Int.init)
    guard let finest = given.max() else { return defaultTimescale }
    var common = 1
    for timescale in given {
      // Both factors are below 2^31, so that the product does not overflow.
      common = common / divisor(common, timescale) * timescale
      guard common <= max(finest, largest) else { return defaultTimescale }
    }
    return CMTimeScale(common)
  }

  /// The smallest time scale in which a time is exact; nil if it is not numeric.
  static func minimum(for time: CMTime) -> CMTimeScale? {
    guard time.isNumeric, time.timescale > 0 else { return nil }
    let shared = divisor(Int(time.timescale), Int(time.value.magnitude % UInt64(time.timescale)))
    return time.timescale / CMTimeScale(shared)
  }

  /// The greatest common divisor of a number above 0 and another one.
  private static func divisor(_ one: Int, _ other: Int) -> Int {
    var (a, b) = (one, other)
    while b != 0 { (a, b) = (b, a % b) }
    return a
  }
}
