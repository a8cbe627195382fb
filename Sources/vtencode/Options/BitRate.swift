// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// A bit rate in bits a second, given as `1500000`, `1500k`, `1.5M` or `1G`.
struct BitRate: ExpressibleByArgument, Sendable, Comparable {
  static let allowed = 1_000...1_000_000_000
  /// The text that follows an argument that is not a rate in the error message.
  static let advice = "it takes bits a second, such as 1500000, 1500k or 1.5M"

  var bitsPerSecond: Int

  static func < (one: BitRate, other: BitRate) -> Bool { one.bitsPerSecond < other.bitsPerSecond }

  init(bitsPerSecond: Int) {
    self.bitsPerSecond = bitsPerSecond
  }

  /// Reads any finite number, also outside of `allowed`: the options check the range, so that their
  /// error can name it.
  init?(argument: String) {
    var digits = argument[...]
    var factor = 1.0
    switch digits.last {
    case "k", "K": factor = 1_000
    case "m", "M": factor = 1_000_000
    case "g", "G": factor = 1_000_000_000
    default: break
    }
    if factor > 1 { digits = digits.dropLast() }
    guard let number = Double(digits), number.isFinite else { return nil }
    let rounded = (number * factor).rounded()
    guard abs(rounded) < 1e15 else { return nil }
    bitsPerSecond = Int(rounded)
  }

  var defaultValueDescription: String { TextFormat.bitRate(Double(bitsPerSecond)) }

  /// Suggests a bit rate for a size, frame rate and codec: 0.11 bits per sample for H.264 and 0.07
  /// for HEVC, at least 64 kbit/s.
  static func suggested(width: Int, height: Int, frameRate: Double, codec: Codec) -> BitRate {
    let bitsPerSample = codec == .hvc1 ? 0.07 : 0.11
    let rate = Double(width) * Double(height) * min(max(frameRate, 1), 240) * bitsPerSample
    let rounded = (rate / 10_000).rounded() * 10_000
    return BitRate(bitsPerSecond: min(max(Int(rounded), 64_000), allowed.upperBound))
  }

  /// Suggests a bit rate for a movie: the rate for its encoded size and frame rate, but not more
  /// than the source itself has, scaled from the size before cropping to the encoded size. Bits
  /// beyond the source's rate would only preserve its coding artefacts.
  static func suggested(fit: PictureFit, source: MovieSource, codec: Codec) -> BitRate {
    let bySize = suggested(width: fit.width, height: fit.height, frameRate: source.frameRate, codec: codec)
    guard let ofSource = ofSource(source, fit: fit) else { return bySize }
    return min(bySize, ofSource)
  }

  /// The highest bit rate of a movie that is encoded by quality: what pictures of its size take
  /// where they are hardest to encode, such as noise or leaves in the wind, but not more than the
  /// source itself has. It is the same for all codecs: a quality means about the same SSIM with
  /// each, and noise takes as many bits with HEVC as with H.264.
  static func ceiling(fit: PictureFit, source: MovieSource) -> BitRate {
    let bySize = suggested(width: fit.width, height: fit.height, frameRate: source.frameRate, codec: .avc1)
    let hardest = BitRate(
      bitsPerSecond: min(bySize.bitsPerSecond.multipliedClamped(by: 4), allowed.upperBound))
    guard let ofSource = ofSource(source, fit: fit) else { return hardest }
    return min(hardest, ofSource)
  }

  /// The bit rate of a source, scaled from the size before cropping to the encoded size; nil if it
  /// is not known.
  private static func ofSource(_ source: MovieSource, fit: PictureFit) -> BitRate? {
    guard source.dataRate >= 8_000 else { return nil }
    // A smaller picture needs fewer bits, though not in proportion to its area; an enlarged picture
    // has no more detail than the source.
    let area = Double(fit.width * fit.height) / max(source.meanArea, 1)
    let ofSource = source.dataRate * pow(min(area, 1), 0.75)
    let rounded = Int(clamping: (ofSource / 1_000).rounded()).multipliedClamped(by: 1_000)
    return BitRate(bitsPerSecond: min(max(rounded, 8_000), allowed.upperBound))
  }
}

extension ExpressibleByArgument {
  /// Makes a `transform` for an option whose value the parser would otherwise reject without an
  /// explanation.
  /// - Parameter advice: describes the values that the option takes; the error message ends with
  ///   it.
  static func reading(or advice: String) -> @Sendable (String) throws -> Self {
    { argument in
      guard let value = Self(argument: argument) else { throw ValidationError(advice) }
      return value
    }
  }
}
