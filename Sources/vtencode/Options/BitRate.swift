import ArgumentParser

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
    let rate = Double(width * height) * min(max(frameRate, 1), 240) * bitsPerSample
    let rounded = (rate / 10_000).rounded() * 10_000
    return BitRate(bitsPerSecond: min(max(Int(rounded), 64_000), allowed.upperBound))
  }
}
