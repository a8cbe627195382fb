// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Encodes a clip of a few seconds again if it missed its bit rate. A clip so short gives the rate
/// control no time to compensate for a surprise, such as a new page in a screen recording.
struct RateRefinement {
  /// The durations in seconds that are encoded again. A shorter clip has no meaningful bit rate,
  /// and a longer one meets its rate the first time.
  static let clipLengths = 1.5..<60
  /// The relative deviation from the bit rate that is accepted. 0.05 is the limit, and each further
  /// run takes as long as the first.
  static let tolerance = 0.049
  /// The duration in seconds from which on a movie is kept to its ceiling. The first key frame is
  /// most of a shorter clip, in the source perhaps none.
  static let shortestLimited = 1.0
  /// libx265 with several threads gives another size each time, by up to a fifth on clips with
  /// cuts, so there are some attempts more than the method needs.
  private static let maxRepeats = 6

  /// The run; with the ceiling's bit rate in place of a quality that took more.
  private var pipeline: Pipeline
  private var tried: [(asked: Double, got: Double)] = []

  init(_ pipeline: Pipeline) { self.pipeline = pipeline }

  /// Whether a report is of a clip that should be encoded again.
  private func missesTarget(_ report: RunReport) -> Bool {
    let plan = pipeline.plan
    if isTooLarge(report) { return true }
    // Several passes meet the rate by themselves.
    guard plan.purpose != .conferencing, !report.madePasses, !report.lackedRoom, plan.mayEncodeAgain,
      !plan.isPaced,
      !plan.isConstantBitRate,
      plan.quality == nil,
      pipeline.destination.path != nil, !Interrupt.shared.isRequested,
      Self.clipLengths.contains(report.videoSeconds)
    else { return false }
    return deviation(report) > Self.tolerance
  }

  /// Whether the file is larger than the user wants it to be.
  private func isTooLarge(_ report: RunReport) -> Bool {
    guard let limit = pipeline.plan.targetBytes, !Interrupt.shared.isRequested else { return false }
    return Int64(report.written.fileBytes) > limit
  }

  private func deviation(_ report: RunReport) -> Double {
    abs(report.bitRate / Double(pipeline.plan.bitRate) - 1)
  }

  /// Encodes until the rate is met, or until no other rate can come closer, or until the number of
  /// attempts is used up. The best result so far has the final name.
  mutating func run() async throws -> RunReport {
    var best = try await pipeline.run()
    var seconds = best.wallSeconds
    var runs = 1
    if let limited = limited(best), let path = best.written.path,
      let (report, pending) = try await encodeAgain(limited, inPlaceOf: path)
    {
      defer { pending.discard() }
      runs += 1
      seconds += report.wallSeconds
      if report.bitRate < best.bitRate {
        best = report
        best.written.path = try pending.commit(isPart: false)
        pipeline = Pipeline(source: pipeline.source, plan: limited, destination: pipeline.destination)
      }
    }
    var asked = Double(pipeline.plan.bitRate)
    var latest = best
    while missesTarget(latest), tried.count < Self.maxRepeats, let path = best.written.path {
      tried.append((asked, latest.bitRate))
      if isTooLarge(latest), let limit = pipeline.plan.targetBytes {
        // The excess over the size is taken from the bits of the pictures, with a margin for the
        // next run.
        let excess = Double(Int64(latest.written.fileBytes) - limit) * 8 / max(latest.videoSeconds, 0.1)
        let factor = min(max(1 - excess / max(latest.bitRate, 1), 0.5) * 0.985, 0.985)
        guard asked * factor >= 1000 else { break }
        asked *= factor
      } else {
        guard let next = nextTarget() else { break }
        asked = next
      }
      var plan = pipeline.plan
      plan.bitRate = Int(asked)
      guard let (again, pending) = try await encodeAgain(plan, inPlaceOf: path) else { break }
      defer { pending.discard() }
      latest = again
      runs += 1
      seconds += latest.wallSeconds
      let isBetter =
        isTooLarge(best) == isTooLarge(latest) ? deviation(latest) < deviation(best) : isTooLarge(best)
      if isBetter {
        let name = try pending.commit(isPart: false)
        best = latest
        best.written.path = name
      }
    }
    let notices = best.plan.notices
    best.plan = pipeline.plan
    best.plan.notices = notices
    best.wallSeconds = seconds
    best.runs = runs
    if isTooLarge(best), let limit = pipeline.plan.targetBytes {
      best.plan.notices.append(
        "the file is larger than --target-size \(TextFormat.bytes(Int(clamping: limit))), and a lower rate does not "
          + "make it smaller; --dimensions, --fps or a lower --audio-bitrate does")
      if pipeline.plan.progress.showsNotices { Console.note("vtencode: " + (best.plan.notices.last ?? "")) }
    }
    return best
  }

  /// The plan at the ceiling's bit rate, for a movie whose quality took more; nil if it may remain
  /// as it is.
  private func limited(_ report: RunReport) -> EncodingPlan? {
    var plan = pipeline.plan
    guard plan.ceilingBuffer == nil, plan.mayEncodeAgain, !Interrupt.shared.isRequested,
      report.videoSeconds >= Self.shortestLimited,
      plan.limitToCeiling(after: report.bitRate / (1 + Self.tolerance))
    else { return nil }
    plan.rateOfQuality = report.bitRate
    plan.setPasses(nil, source: pipeline.source, destination: pipeline.destination)
    return plan
  }

  /// Encodes once more, into a file next to the result so far.
  /// - Parameters:
  ///   - plan: the settings.
  ///   - path: the file of the result so far.
  /// - Returns: the report and the file, which the caller commits or discards; nil if the attempt
  ///   failed or was interrupted, so that the complete file of an earlier run is kept.
  /// - Throws: a `Failure` if there can be no file next to the result.
  private func encodeAgain(
    _ plan: EncodingPlan, inPlaceOf path: String
  ) async throws -> (RunReport, PendingFile)? {
    let pending = try PendingFile(for: path, replaces: true)
    var destination = pipeline.destination
    destination.path = pending.path
    destination.isAllOrNothing = true
    do {
      return (
        try await Pipeline(source: pipeline.source, plan: plan, destination: destination).run(), pending
      )
    } catch {
      pending.discard()
      return nil
    }
  }

  /// The next bit rate to ask for, by linear interpolation between two results on a logarithmic
  /// scale: between the closest two with the target between them, or else through the last two. Nil
  /// if another rate would change nothing.
  private func nextTarget() -> Double? {
    guard let last = tried.last, last.got > 0 else { return nil }
    let target = Double(pipeline.plan.bitRate)
    // With cuts, the resulting rate may jump up and down. Only neighbours in the order of the rates
    // asked for are therefore combined.
    let ordered = tried.sorted { $0.asked < $1.asked }
    let crossing = zip(ordered, ordered.dropFirst())
      .filter { ($0.got < target) != ($1.got < target) && Int($1.asked) - Int($0.asked) > 1000 }
      .min { $1.1.asked / $1.0.asked > $0.1.asked / $0.0.asked }
    if let (lower, upper) = crossing {
      let part = log(target / lower.got) / log(upper.got / lower.got)
      return lower.asked * pow(upper.asked / lower.asked, min(max(part, 0.15), 0.85))
    }
    var slope = 1.0
    if tried.count > 1 {
      let other = tried[tried.count - 2]
      slope = log(last.got / other.got) / log(last.asked / other.asked)
      if !(slope > 0.1) {
        // At high rates the limit of the data rate may decide alone, so a flat slope is expected
        // there.
        guard last.got > target else { return nil }
        slope = 0.3
      }
    }
    // A higher average would exceed the rate at which the decoder's buffer fills.
    let highest = min(target * 4, pipeline.plan.maximumRate.map(Double.init) ?? .infinity)
    let next = min(max(last.asked * pow(target / last.got, 1 / min(slope, 2)), target / 8, 1000), highest)
    return tried.contains { Int($0.asked) == Int(next) } ? nil : next
  }
}
