// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation
import H264Encoder

/// Divides a movie into segments, and its bits among them.
struct SegmentCutter: Sendable {
  /// The size that the user asked for: the number of segments, or the length of each.
  enum Size: Sendable {
    case count(Int)
    case seconds(Double)
  }

  let complexity: MovieComplexity
  let size: Size
  /// The bit rate of the whole movie, in bits a second; nil for a constant quality.
  let bitRate: Int?
  /// Whether all segments have the same bit rate.
  var isConstant = false
  /// The decoder's buffer that all segments share at a variable bit rate; nil without one.
  var buffer: H264EncoderConfiguration.LookAhead.Buffer?

  /// The fewest frames of a segment; with fewer, a rate control cannot meet a rate.
  private static let fewestFrames = 12
  /// The least rate of a segment, as a fraction of the average: a still picture takes about this
  /// for its headers.
  private static let minFraction = 0.01
  /// The exponent for the bit rate of a segment in the analysis. A fast pass overstates the rate of
  /// complex parts, because it lacks the tools that help there. Measured with joined clips, against
  /// the bits that libx264 gives their parts in two passes over the whole.
  private static let exponent = 0.8
  /// How far a segment's share may exceed its proportion of the analysis's bytes.
  private static let maxGain = 1.6

  func segments() -> [PlannedSegment] {
    let pictures = complexity.pictures
    let cuts = [0] + boundaries() + [pictures.count]
    let end = complexity.end
    let bytes: [Double] = zip(cuts, cuts.dropFirst()).map { cut in
      Double(pictures[cut.0..<cut.1].reduce(0) { $0 + $1.bytes })
    }
    let allBytes = max(bytes.reduce(0, +), 1)
    let times: [CMTime] = cuts.map { $0 < pictures.count ? pictures[$0].time : end }
    let seconds: [Double] = zip(times, times.dropFirst()).map { ($0.1 - $0.0).seconds }
    let shares: [Int]? = bitRate.map { bitRate in
      if isConstant { return seconds.map { _ in bitRate } }
      return rates(
        of: needs(bytes, seconds, cuts: cuts, bits: Double(bitRate) * seconds.reduce(0, +)), seconds: seconds,
        average: Double(bitRate))
    }
    return bytes.indices.map { index in
      PlannedSegment(
        index: index, firstFrame: cuts[index], frames: cuts[index + 1] - cuts[index],
        start: PlannedTime(times[index]), end: PlannedTime(times[index + 1]),
        complexity: bytes[index] / allBytes,
        bitRate: shares?[index])
    }
  }

  /// The bits that each segment needs, relative to the other segments.
  /// - Parameters:
  ///   - bytes: the bytes of each segment in the analysis.
  ///   - seconds: the duration of each segment.
  ///   - cuts: the indices of the segments' first pictures, and the number of pictures.
  ///   - bits: the bits of the whole movie.
  private func needs(_ bytes: [Double], _ seconds: [Double], cuts: [Int], bits: Double) -> [Double] {
    if let statistics = complexity.statistics {
      // The statistics tell the bits of each picture at other qualities.
      let parts = zip(cuts, cuts.dropFirst()).map { $0.0..<$0.1 }
      return buffer.map { statistics.bits(of: parts, all: bits, buffer: $0) }
        ?? statistics.shares(of: parts, bits: bits)
    }
    let weights: [Double] = zip(bytes, seconds).map { pow($0.0 / max($0.1, 1e-6), Self.exponent) * $0.1 }
    let totalWeight = max(weights.reduce(0, +), 1e-6)
    let allBytes = max(bytes.reduce(0, +), 1)
    // A still picture does not gain from more bits.
    return zip(weights, bytes).map { min($0.0 / totalWeight, Self.maxGain * $0.1 / allBytes) }
  }

  /// Bit rates in proportion to the needs, but not below what an encoder can use, and not above the
  /// rate of the decoder's buffer. Their average over the movie is kept as far as these limits
  /// allow.
  private func rates(of needs: [Double], seconds: [Double], average: Double) -> [Int] {
    let minimum = max(average * Self.minFraction, 1000)
    let maximum = max(buffer.map { Double($0.maximumRate) } ?? .infinity, minimum)
    let bits = average * seconds.reduce(0, +)
    func rates(_ factor: Double) -> [Double] {
      zip(needs, seconds).map { min(max(factor * $0.0 / max($0.1, 1e-6), minimum), maximum) }
    }
    // The factor is found by bisection of its logarithm, because the needs may be fractions or
    // bits.
    let middle = log2(max(bits, 1) / max(needs.reduce(0, +), 1e-9))
    var (low, high) = (middle - 40, middle + 40)
    for _ in 0..<60 {
      let here = (low + high) / 2
      let all = zip(rates(exp2(here)), seconds).reduce(0) { $0 + $1.0 * $1.1 }
      if all < bits { low = here } else { high = here }
    }
    return rates(exp2(high)).map { min(max(Int(clamping: $0.rounded()), 1), BitRate.segments.upperBound) }
  }

  /// The indices of the first pictures of all segments but the first. The segments are about
  /// equally long; a boundary is moved to a scene cut within a quarter of the length, because a key
  /// frame is cheap there.
  private func boundaries() -> [Int] {
    let count = complexity.pictures.count
    let parts = min(wantedCount, max(count / Self.fewestFrames, 1), PartFolder.maxSegments)
    guard parts > 1 else { return [] }
    let length = Double(count) / Double(parts)
    let reach = Int(length / 4)
    var cuts: [Int] = []
    for part in 1..<parts {
      let target = Int((Double(part) * length).rounded())
      let minimum = (cuts.last ?? 0) + Self.fewestFrames / 2
      let window = max(target - reach, minimum)..<max(min(target + reach + 1, count - 1), minimum + 1)
      let near = window.filter { $0 < count && complexity.pictures[$0].isKeyFrame }
      cuts.append(near.min { abs($0 - target) < abs($1 - target) } ?? target)
    }
    return cuts
  }

  private var wantedCount: Int {
    switch size {
    case .count(let count): return count
    case .seconds(let seconds):
      guard let first = complexity.pictures.first else { return 1 }
      return max(Int(clamping: ((complexity.end - first.time).seconds / seconds).rounded()), 1)
    }
  }
}

extension EncodingPlan {
  /// The decoder's buffer that a session uses for a variable bit rate; nil without a highest rate.
  var sharedBuffer: H264EncoderConfiguration.LookAhead.Buffer? {
    maximumRate.map {
      H264EncoderConfiguration.LookAhead.Buffer(
        maximumRate: $0, size: Int(Double($0) * (bufferSeconds ?? BufferModel.variableRateDuration)))
    }
  }
}
