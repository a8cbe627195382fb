// SPDX-License-Identifier: Apache-2.0
/// A leaky bucket: it fills at a steady rate, never beyond its size, and each frame takes its bits out at its decode
/// time. An encoder that never lets it run dry keeps every window of W seconds within `size + maximumRate * W` bits.
public struct BufferModel: Sendable, Equatable {
  /// Bits a second at which the bucket fills.
  public var maximumRate: Int
  /// Bits that it holds.
  public var size: Int
  /// How full it is at the first frame, 0 to 1.
  public var initialFullness: Double

  public init(maximumRate: Int, size: Int, initialFullness: Double = 0.9) {
    self.maximumRate = maximumRate
    self.size = size
    self.initialFullness = initialFullness
  }

  /// Seconds of the constant rate that the bucket holds unless the caller says otherwise: short, so that each window
  /// of a second stays near the rate.
  public static let constantRateDuration = 0.5
  /// The same for a variable rate.
  public static let variableRateDuration = 2.5
  /// Seconds of a limit's rate that the bucket holds at the least.
  fileprivate static let leastSizeDuration = 0.14
}

extension RateControl {
  /// Bits a second to aim at, or nil if the mode is quality.
  public var targetRate: Int? {
    switch mode {
    case .quality: nil
    case .average(let rate), .constant(let rate), .variable(let rate): rate
    }
  }

  /// The bucket that keeps to all that this rate control demands, or nil if it sets no limit.
  public var bufferModel: BufferModel? {
    let fullness = initialBufferFullness ?? 0.9
    if !limits.isEmpty { return limitModel(fullness: fullness) }
    switch mode {
    case .constant(let rate):
      let seconds = bufferDuration ?? BufferModel.constantRateDuration
      return BufferModel(maximumRate: rate, size: bits(rate, seconds), initialFullness: fullness)
    case .variable(let rate):
      let most = max(maximumBitRate ?? rate.multipliedClamped(by: 2), rate)
      let seconds = bufferDuration ?? BufferModel.variableRateDuration
      return BufferModel(maximumRate: most, size: bits(most, seconds), initialFullness: fullness)
    case .average(let rate):
      guard maximumBitRate != nil || bufferDuration != nil else { return nil }
      let most = max(maximumBitRate ?? rate.multipliedClamped(by: 2), rate)
      let seconds = bufferDuration ?? BufferModel.variableRateDuration
      return BufferModel(maximumRate: most, size: bits(most, seconds), initialFullness: fullness)
    case .quality:
      guard let most = maximumBitRate else { return nil }
      let seconds = bufferDuration ?? BufferModel.variableRateDuration
      return BufferModel(maximumRate: most, size: bits(most, seconds), initialFullness: fullness)
    }
  }

  /// For each limit of L bits in W seconds, `size + maximumRate * W` must not exceed L. The closer the average is to
  /// the limit, the smaller the size has to be. The rate stays a little above the average, so that what a key frame
  /// took can be refilled; no more, since encoders leave half of a small bucket unused and with it some of the
  /// average (measured: with a limit of one and a half times the rate, 0.2 here cost 3 to 16 % of it).
  private func limitModel(fullness: Double) -> BufferModel {
    let usable = limits.map { (bits: Double($0.bytes) * 8 * 0.97, seconds: $0.seconds) }
    let lowest = usable.map { $0.bits / $0.seconds }.min() ?? 1
    // Streams that are joined differ in their averages, and have one model: of a window across a join, each has what comes
    // in during its part of it.
    let target = hasFramesBefore || hasFramesAfter ? lowest : min(Double(targetRate ?? Int.max), lowest)
    let most = usable.map { limit in
      limit.bits / limit.seconds * (1 - min(max(BufferModel.leastSizeDuration / limit.seconds, 0.08), 0.4))
    }
    let rate = min(target + 0.04 * (lowest - target), most.min() ?? lowest)
    let size = usable.map { $0.bits - rate * $0.seconds }.min() ?? rate
    return BufferModel(
      maximumRate: max(Int(clamping: rate), 1000), size: max(Int(clamping: size), 1000),
      initialFullness: fullness)
  }

  private func bits(_ rate: Int, _ seconds: Double) -> Int {
    let bits = Double(rate) * seconds
    // Not what is no number either.
    return bits > 1000 ? Int(min(bits, 2e12)) : 1000
  }
}

extension RateControl {
  /// Bits a second that a stream may come to for long, which its level has to allow; nil where only the quality is given.
  /// A limit that is beyond all levels says nothing.
  public var sustainedRate: Int? {
    let limit = limits.map { Double($0.bytes) * 8 / $0.seconds }.min().flatMap {
      $0 <= Self.highestRate ? Int(clamping: $0) : nil
    }
    return [targetRate, maximumBitRate, limit].compactMap { $0 }.max()
  }

  /// Of level 6.2 of H.264, in the High profiles.
  private static let highestRate = 1e9
}
