// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import H264Encoder

struct Bench {
  var clips: [ClipPictures] = []
  var effort = 3
  var threads = 1
  var traces = false

  private func configuration(_ clip: ClipPictures, rate: Int) -> H264EncoderConfiguration {
    var configuration = H264EncoderConfiguration(width: clip.width, height: clip.height)
    configuration.frameRate = clip.frameRate
    configuration.lowLatency.rateControl = .averageBitRate(rate)
    configuration.effort = effort
    configuration.threads = threads
    return configuration
  }

  /// A low, a medium and a high bit rate for the picture size.
  private func rates(_ clip: ClipPictures) -> [Int] {
    let samples = Double(clip.width * clip.height) * clip.frameRate
    return [0.02, 0.05, 0.12].map { Int(($0 * samples / 10_000).rounded()) * 10_000 }
  }

  private func text(_ value: Double, _ digits: Int = 1) -> String { Figure.fixed(value, digits) }
  private func kilobits(_ rate: Int) -> String { Figure.kilobits(rate) }

  private func trace(_ title: String, _ stream: Stream, _ rate: Int) {
    guard traces else { return }
    let perFrame = Double(rate) / stream.frameRate
    print(
      "\(title): "
        + stream.frames.map {
          $0.isDropped ? "-" : "\(text(Double($0.bits) / perFrame, 2))@\(text($0.averageQP))"
        }.joined(separator: " "))
  }

  // MARK: - Average and hard limits

  func average() throws -> ResultTable {
    var table = ResultTable(
      "Average over 10 s, over the first 5 s and over the worst 5 s that begin after the third second, and the fullest second against a hard limit of "
        + "1.5 times the rate a second",
      [
        "clip", "rate", "10 s", "first 5 s", "worst 5 s", "largest frame", "QP", "fullest second",
        "10 s with limit",
      ])
    for clip in clips {
      for rate in rates(clip) {
        let count = Int(clip.frameRate * 10)
        let free = try Stream.encode(clip, frames: count, configuration: configuration(clip, rate: rate))
        trace("\(clip.name) \(rate)", free, rate)
        var limited = configuration(clip, rate: rate)
        limited.dataRateLimits = [.init(bytes: rate * 3 / 16, seconds: 1)]
        let held = try Stream.encode(clip, frames: count, configuration: limited)
        let five = Int(clip.frameRate * 5)
        let expected = Double(rate) * 5
        let errors = (Int(clip.frameRate * 3)...(count - five)).map { start in
          (Double(free.bits(start..<(start + five))) / expected - 1) * 100
        }
        let worst = errors.max { abs($0) < abs($1) } ?? 0
        let largest = Double(free.frames.map(\.bits).max() ?? 0) / Double(rate)
        table.add([
          clip.name, kilobits(rate), text((free.rate / Double(rate) - 1) * 100) + " %",
          text((Double(free.bits(0..<five)) / expected - 1) * 100) + " %", text(worst) + " %",
          text(largest, 2) + " s", text(free.meanQP),
          text(Double(held.largestWindow(seconds: 1)) / (Double(rate) * 1.5) * 100) + " %",
          text((held.rate / Double(rate) - 1) * 100) + " %",
        ])
      }
    }
    return table
  }

  // MARK: - After a pause

  func pauses() throws -> ResultTable {
    var table = ResultTable(
      "A still picture for 5 s, then the clip for 5 s: wait before a channel of the rate, in milliseconds, mean of the "
        + "second and of the fifth second of motion, without and with two layers; and in addition the same without the still "
        + "picture",
      [
        "clip", "rate", "2nd second", "5th second", "2 layers: 2nd", "5th", "moving all the time: 2nd", "5th",
      ])
    for clip in clips {
      let rate = rates(clip)[1]
      let second = Int(clip.frameRate.rounded())
      func waits(still: Int, period: Int) throws -> [String] {
        let stream = try Stream.encode(
          clip, frames: still + 5 * second, configuration: configuration(clip, rate: rate), period: period,
          baseShare: period > 1 ? 0.6 : 1, picture: { max($0 - still, 0) })
        var wait = 0.0
        var waits: [Double] = []
        for frame in stream.frames {
          wait = max(wait - 1 / clip.frameRate, 0) + Double(frame.bits) / Double(rate)
          waits.append(wait)
        }
        return [1, 4].map { (n: Int) -> String in
          let start = still + n * second
          let sum: Double = waits[start..<(start + second)].reduce(0, +)
          return text(sum / Double(second) * 1000, 0)
        }
      }
      let one = try waits(still: 5 * second, period: 1)
      let two = try waits(still: 5 * second, period: 2)
      let moving = try waits(still: 0, period: 1)
      table.add([clip.name, kilobits(rate)] + one + two + moving)
    }
    return table
  }

  // MARK: - Steps of the rate

  func steps() throws -> ResultTable {
    var table = ResultTable(
      "Steps of the rate at 3 s (to a third, or a half) and back at 6 s: bits of the 10 frames after the step down "
        + "against their budget; frames after the step up until 5 frames in a row take 90 % of the new rate; "
        + "bits of frames 16 to 45 after it",
      ["clip", "rate", "to", "10 frames after down", "largest of them", "used after up", "16-45 after up"])
    for clip in clips {
      for rate in rates(clip).dropFirst() {
        for divisor in [2, 3] {
          let low = rate / divisor
          let second = Int(clip.frameRate.rounded())
          let stream = try Stream.encode(
            clip, frames: second * 6 + max(3 * second, 70), configuration: configuration(clip, rate: rate)
          ) { n, configuration in
            configuration.lowLatency.rateControl = .averageBitRate(
              n >= 3 * second && n < 6 * second ? low : rate)
          }
          let down = 3 * second
          let up = 6 * second
          let lowFrame = Double(low) / clip.frameRate
          let frame = Double(rate) / clip.frameRate
          if traces {
            trace(
              "\(clip.name) down",
              Stream(frames: Array(stream.frames[down..<(down + 12)]), frameRate: clip.frameRate), low)
            trace(
              "\(clip.name) up",
              Stream(frames: Array(stream.frames[up..<(up + 30)]), frameRate: clip.frameRate), rate)
          }
          let used = (0..<60).first { start in
            Double(stream.bits((up + start)..<(up + start + 5))) >= 0.9 * 5 * frame
          }
          table.add([
            clip.name, kilobits(rate), kilobits(low),
            text(Double(stream.bits(down..<(down + 10))) / (10 * lowFrame) * 100) + " %",
            text(Double(stream.frames[down..<(down + 10)].map(\.bits).max() ?? 0) / lowFrame, 2),
            used.map { "\($0) frames" } ?? "never",
            text(Double(stream.bits((up + 15)..<(up + 45))) / (30 * frame) * 100) + " %",
          ])
        }
      }
    }
    return table
  }

  // MARK: - Caps on the QP

  func caps() throws -> ResultTable {
    var table = ResultTable(
      "Cap on the QP over 10 s: highest QP of any macroblock, average rate, frames dropped (base and enhancement layer "
        + "apart in two layers)",
      [
        "clip", "rate", "cap", "highest", "rate error", "dropped", "two layers: rate error", "base",
        "enhancement",
      ])
    for clip in clips {
      let rate = rates(clip)[1]
      for cap in stride(from: 20, through: 40, by: 4) {
        var capped = configuration(clip, rate: rate)
        capped.maximumQP = cap
        capped.lowLatency.allowsFrameDropping = true
        let count = Int(clip.frameRate * 10)
        let stream = try Stream.encode(clip, frames: count, configuration: capped)
        trace("\(clip.name) cap \(cap)", stream, rate)
        let layered = try Stream.encode(
          clip, frames: count, configuration: capped, period: 2, baseShare: 0.6)
        table.add([
          clip.name, kilobits(rate), "\(cap)", "\(max(stream.highestQP, layered.highestQP))",
          text((stream.rate / Double(rate) - 1) * 100) + " %", "\(stream.dropped)",
          text((layered.rate / Double(rate) - 1) * 100) + " %",
          "\(layered.frames.count { $0.isDropped && $0.layer == 0 })",
          "\(layered.frames.count { $0.isDropped && $0.layer == 1 })",
        ])
      }
    }
    return table
  }

  // MARK: - Layers

  func layers() throws -> ResultTable {
    var table = ResultTable(
      "Base layer's share of the bits over 10 s",
      ["clip", "rate", "base frames", "asked", "share", "rate error", "QP base", "QP enhancement"])
    for clip in clips {
      for rate in rates(clip) {
        for (period, share) in [(2, 0.6), (2, 0.7), (2, 0.8), (4, 0.6)] {
          let stream = try Stream.encode(
            clip, frames: Int(clip.frameRate * 10), configuration: configuration(clip, rate: rate),
            period: period, baseShare: share)
          let base = stream.frames.filter { $0.layer == 0 }
          let rest = stream.frames.filter { $0.layer == 1 }
          func qp(_ frames: [Stream.Frame]) -> Double {
            frames.reduce(0) { $0 + $1.averageQP } / Double(max(frames.count, 1))
          }
          trace("\(clip.name) layers \(share)", stream, rate)
          table.add([
            clip.name, kilobits(rate), "1/\(period)", text(share, 2),
            text(Double(base.reduce(0) { $0 + $1.bits }) / Double(stream.bits), 3),
            text((stream.rate / Double(rate) - 1) * 100) + " %", text(qp(base)), text(qp(rest)),
          ])
        }
      }
    }
    return table
  }
}
