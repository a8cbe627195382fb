// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation
import H264Encoder

/// Where a movie is cut, and what each segment gets of its bits.
struct SegmentCutter: Sendable {
  /// What a person asked for.
  enum Size: Sendable {
    case count(Int)
    case seconds(Double)
  }

  let complexity: MovieComplexity
  let size: Size
  /// Bits a second of the whole; nil for a quality.
  let bitRate: Int?
  /// All segments have the same rate.
  var isConstant = false
  /// Of a decoder, which all segments share at a rate that varies; nil without one.
  var buffer: H264EncoderConfiguration.LookAhead.Buffer?

  /// Shorter, and a rate control has nothing to work with.
  private static let fewestFrames = 12
  /// Of the average rate: a picture that stands still takes that for its headers.
  private static let leastShare = 0.01
  /// Of the bits a second: a quick pass overstates what is difficult, for it lacks the tools that help there. Found with
  /// clips joined, against what libx264 gives their parts in two passes over the whole.
  private static let exponent = 0.8
  /// Over the share that is in proportion.
  private static let mostGain = 1.6

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

  /// What each segment needs, to a common factor.
  /// - Parameter bits: of the whole movie.
  private func needs(_ bytes: [Double], _ seconds: [Double], cuts: [Int], bits: Double) -> [Double] {
    if let statistics = complexity.statistics {
      // The encoder knows what each picture takes at another quality.
      let parts = zip(cuts, cuts.dropFirst()).map { $0.0..<$0.1 }
      return buffer.map { statistics.bits(of: parts, all: bits, buffer: $0) }
        ?? statistics.shares(of: parts, bits: bits)
    }
    let powers: [Double] = zip(bytes, seconds).map { pow($0.0 / max($0.1, 1e-6), Self.exponent) * $0.1 }
    let allPowers = max(powers.reduce(0, +), 1e-6)
    let allBytes = max(bytes.reduce(0, +), 1)
    // A still picture makes nothing of more bits.
    return zip(powers, bytes).map { min($0.0 / allPowers, Self.mostGain * $0.1 / allBytes) }
  }

  /// In proportion to the needs, but no less than an encoder can make use of, and no more than a decoder's buffer carries;
  /// the whole stays the same, as far as that goes.
  private func rates(of needs: [Double], seconds: [Double], average: Double) -> [Int] {
    let least = max(average * Self.leastShare, 1000)
    let most = max(buffer.map { Double($0.maximumRate) } ?? .infinity, least)
    let bits = average * seconds.reduce(0, +)
    func rates(_ factor: Double) -> [Double] {
      zip(needs, seconds).map { min(max(factor * $0.0 / max($0.1, 1e-6), least), most) }
    }
    // The factor by its logarithm: needs may be shares or bits.
    let middle = log2(max(bits, 1) / max(needs.reduce(0, +), 1e-9))
    var (low, high) = (middle - 40, middle + 40)
    for _ in 0..<60 {
      let here = (low + high) / 2
      let all = zip(rates(exp2(here)), seconds).reduce(0) { $0 + $1.0 * $1.1 }
      if all < bits { low = here } else { high = here }
    }
    return rates(exp2(high)).map { min(max(Int(clamping: $0.rounded()), 1), BitRate.segments.upperBound) }
  }

  /// First pictures of all segments but the first: as near to equal parts as that goes, but at a cut where there is one
  /// near, as a key frame costs nothing there.
  private func boundaries() -> [Int] {
    let count = complexity.pictures.count
    let parts = min(wantedCount, max(count / Self.fewestFrames, 1), PartFolder.mostSegments)
    guard parts > 1 else { return [] }
    let length = Double(count) / Double(parts)
    let reach = Int(length / 4)
    var cuts: [Int] = []
    for part in 1..<parts {
      let place = Int((Double(part) * length).rounded())
      let least = (cuts.last ?? 0) + Self.fewestFrames / 2
      let window = max(place - reach, least)..<max(min(place + reach + 1, count - 1), least + 1)
      let near = window.filter { $0 < count && complexity.pictures[$0].isKeyFrame }
      cuts.append(near.min { abs($0 - place) < abs($1 - place) } ?? place)
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
  /// What a session makes of the buffer of a rate that varies; nil without one.
  var sharedBuffer: H264EncoderConfiguration.LookAhead.Buffer? {
    maximumRate.map {
      H264EncoderConfiguration.LookAhead.Buffer(
        maximumRate: $0, size: Int(Double($0) * (bufferSeconds ?? BufferModel.variableRateDuration)))
    }
  }
}
