// SPDX-License-Identifier: Apache-2.0
/// The model of a decoder's buffer as a leaky bucket. The buffer fills at a constant rate, never
/// beyond its size, and each frame takes its bits out at its decode time. An encoder that never
/// lets it underflow keeps every window of W seconds within `size + maximumRate * W` bits.
public struct BufferModel: Sendable, Equatable {
  /// The rate at which the buffer fills, in bits per second.
  public var maximumRate: Int
  /// The size of the buffer in bits.
  public var size: Int
  /// The share of the buffer that is filled when the first frame is taken out, 0 to 1.
  public var initialFullness: Double

  /// Creates a model.
  /// - Parameters:
  ///   - maximumRate: the rate at which the buffer fills, in bits per second.
  ///   - size: the size of the buffer in bits.
  ///   - initialFullness: the share of it that is filled when the first frame is taken out, 0 to 1.
  public init(maximumRate: Int, size: Int, initialFullness: Double = 0.9) {
    self.maximumRate = maximumRate
    self.size = size
    self.initialFullness = initialFullness
  }

  /// The size of the buffer of a constant rate, in seconds of the rate, unless the caller sets one.
  /// It is short so that each window of a second stays near the rate.
  public static let constantRateDuration = 0.5
  /// The size of the buffer of a variable rate, in seconds of the highest rate, unless the caller
  /// sets one.
  public static let variableRateDuration = 2.5
  /// The least size of a buffer that keeps to a hard limit, in seconds of the limit's rate.
  fileprivate static let minSizeDuration = 0.14
}

extension RateRequest {
  /// The bit rate to aim at, in bits per second; nil where the mode is quality.
  public var targetRate: Int? {
    switch mode {
    case .quality: nil
    case .average(let rate), .constant(let rate), .variable(let rate): rate
    }
  }

  /// The buffer that keeps to everything this rate control asks for; nil if it sets no limit.
  public var bufferModel: BufferModel? {
    let fullness = initialBufferFullness ?? 0.9
    if !limits.isEmpty { return limitModel(fullness: fullness) }
    switch mode {
    case .constant(let rate):
      let seconds = bufferDuration ?? BufferModel.constantRateDuration
      return BufferModel(maximumRate: rate, size: bits(rate, seconds), initialFullness: fullness)
    case .variable(let rate):
      let maximum = max(maximumBitRate ?? rate.multipliedClamped(by: 2), rate)
      let seconds = bufferDuration ?? BufferModel.variableRateDuration
      return BufferModel(maximumRate: maximum, size: bits(maximum, seconds), initialFullness: fullness)
    case .average(let rate):
      guard maximumBitRate != nil || bufferDuration != nil else { return nil }
      let maximum = max(maximumBitRate ?? rate.multipliedClamped(by: 2), rate)
      let seconds = bufferDuration ?? BufferModel.variableRateDuration
      return BufferModel(maximumRate: maximum, size: bits(maximum, seconds), initialFullness: fullness)
    case .quality:
      guard let maximum = maximumBitRate else { return nil }
      let seconds = bufferDuration ?? BufferModel.variableRateDuration
      return BufferModel(maximumRate: maximum, size: bits(maximum, seconds), initialFullness: fullness)
    }
  }

  /// The buffer that keeps to the hard limits.
  ///
  /// For each limit of L bits in W seconds, `size + maximumRate * W` must not exceed L. The closer
  /// the average rate is to the limit, the smaller the size has to be. The buffer's rate is a
  /// little above the average, so that the buffer refills after a key frame. It is not higher,
  /// since encoders leave half of a small buffer unused and with it a part of the average rate:
  /// with a limit of one and a half times the rate, 0.2 instead of 0.04 here costs 3 to 16 % of the
  /// rate.
  private func limitModel(fullness: Double) -> BufferModel {
    let usable = limits.map { (bits: Double($0.bytes) * 8 * 0.97, seconds: $0.seconds) }
    let lowest = usable.map { $0.bits / $0.seconds }.min() ?? 1
    // Streams that are joined differ in their average rates but share one buffer. In a window
    // across a join, each of them has the bits that arrive during its part of the window.
    let target = hasFramesBefore || hasFramesAfter ? lowest : min(Double(targetRate ?? Int.max), lowest)
    let maximum = usable.map { limit in
      limit.bits / limit.seconds * (1 - min(max(BufferModel.minSizeDuration / limit.seconds, 0.08), 0.4))
    }
    let rate = min(target + 0.04 * (lowest - target), maximum.min() ?? lowest)
    let size = usable.map { $0.bits - rate * $0.seconds }.min() ?? rate
    return BufferModel(
      maximumRate: max(Int(clamping: rate), 1000), size: max(Int(clamping: size), 1000),
      initialFullness: fullness)
  }

  /// The bits of some seconds at a rate in bits per second, within a range that an encoder accepts.
  private func bits(_ rate: Int, _ seconds: Double) -> Int {
    let bits = Double(rate) * seconds
    // This is false for NaN as well.
    return bits > 1000 ? Int(min(bits, 2e12)) : 1000
  }
}

extension RateRequest {
  /// The bit rate that the stream may have for long, in bits per second, which its level has to
  /// allow; nil where only the quality is set. A limit higher than that of any level does not
  /// count.
  public var sustainedRate: Int? {
    let limit = limits.map { Double($0.bytes) * 8 / $0.seconds }.min().flatMap {
      $0 <= Self.highestRate ? Int(clamping: $0) : nil
    }
    return [targetRate, maximumBitRate, limit].compactMap { $0 }.max()
  }

  /// MaxBR of level 6.2 of H.264, in the High profiles, in bits per second (Table A-1).
  private static let highestRate = 1e9
}
