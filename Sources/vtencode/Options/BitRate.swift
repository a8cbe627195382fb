// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// Bits a second, as people write them: `1500000`, `1500k`, `1.5M`.
struct BitRate: ExpressibleByArgument, Sendable, Equatable {
  static let allowed = 1_000...1_000_000_000

  var bitsPerSecond: Int

  init(bitsPerSecond: Int) {
    self.bitsPerSecond = bitsPerSecond
  }

  /// Takes any number; whether it is in the allowed range is checked where the message can say so.
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

  var defaultValueDescription: String { Wording.bitRate(Double(bitsPerSecond)) }

  /// A rate that gives a good picture for a codec: so many bits for each sample.
  static func suggested(width: Int, height: Int, frameRate: Double, codec: Codec) -> BitRate {
    let bitsPerSample = codec == .hvc1 ? 0.07 : 0.11
    let rate = Double(width) * Double(height) * min(max(frameRate, 1), 240) * bitsPerSample
    let rounded = (rate / 10_000).rounded() * 10_000
    return BitRate(bitsPerSecond: min(max(Int(rounded), 64_000), allowed.upperBound))
  }

  /// A rate for a movie: what its picture's size asks for, but no more than the movie has itself. More bits than the
  /// source had would keep its faults, and nothing else.
  static func suggested(fit: PictureFit, source: MovieSource, codec: Codec) -> BitRate {
    let bySize = suggested(width: fit.width, height: fit.height, frameRate: source.frameRate, codec: codec)
    guard source.dataRate >= 8_000 else { return bySize }
    // A smaller picture needs fewer bits, though not in proportion; a larger one has nothing more to say.
    let area = Double(fit.width * fit.height) / Double(max(source.width * source.height, 1))
    let ofSource = source.dataRate * pow(min(area, 1), 0.75)
    guard ofSource < Double(bySize.bitsPerSecond) else { return bySize }
    return BitRate(bitsPerSecond: max(Int((ofSource / 1_000).rounded()) * 1_000, 8_000))
  }
}

extension ExpressibleByArgument {
  /// For options whose value the parser would refuse without a word of what is right.
  /// - Parameter advice: says that, behind the value and the option.
  static func reading(or advice: String) -> @Sendable (String) throws -> Self {
    { argument in
      guard let value = Self(argument: argument) else { throw ValidationError(advice) }
      return value
    }
  }
}
