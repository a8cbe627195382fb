// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Encodes a clip of a few seconds again if it has missed its bit rate: so short a time gives the encoder's rate
/// control no chance to make up for a surprise, such as the pages that a recording of a screen turns.
struct RateRefinement {
  /// Seconds of a clip: one that is shorter has no bit rate to speak of, one that is longer comes out right at once.
  static let clipLengths = 1.5..<60
  /// A share of the target that is no miss: what is promised is 0.05, and encoding again takes as long again.
  static let tolerance = 0.049
  /// libx265 with several threads gives other sizes each time, on clips with cuts by a fifth: some tries are spent on
  /// that.
  private static let mostRepeats = 6

  let pipeline: Pipeline
  private var tried: [(asked: Double, got: Double)] = []

  init(_ pipeline: Pipeline) { self.pipeline = pipeline }

  /// Whether a report is of a clip that can be done better.
  private func isMissed(_ report: RunReport) -> Bool {
    let plan = pipeline.plan
    // Several passes come right by themselves.
    guard plan.purpose != .conferencing, !report.madePasses, !report.lackedRoom, plan.mayEncodeAgain,
      !plan.isPaced,
      !plan.isConstantBitRate,
      plan.quality == nil,
      pipeline.destination.path != nil, !Interrupt.shared.isRequested,
      Self.clipLengths.contains(report.videoSeconds)
    else { return false }
    return miss(report) > Self.tolerance
  }

  private func miss(_ report: RunReport) -> Double {
    abs(report.bitRate / Double(pipeline.plan.bitRate) - 1)
  }

  /// Runs until the rate is right, or nothing else is left to ask for, or it has been tried often enough. What was
  /// written best so far stands under the final name.
  mutating func run() async throws -> RunReport {
    var best = try await pipeline.run()
    var asked = Double(pipeline.plan.bitRate)
    var latest = best
    var seconds = best.wallSeconds
    var runs = 1
    while isMissed(latest), tried.count < Self.mostRepeats, let path = best.written.path {
      tried.append((asked, latest.bitRate))
      guard let next = nextTarget() else { break }
      asked = next
      var plan = pipeline.plan
      plan.bitRate = Int(asked)
      let pending = try PendingFile(for: path, replaces: true)
      defer { pending.discard() }
      var destination = pipeline.destination
      destination.path = pending.path
      // What is interrupted is no better than the whole that is there.
      destination.isWholeOrNothing = true
      // Whatever fails now, the whole file of the first run is there.
      guard
        let again = try? await Pipeline(source: pipeline.source, plan: plan, destination: destination).run()
      else { break }
      latest = again
      runs += 1
      seconds += latest.wallSeconds
      if miss(latest) < miss(best) {
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
    return best
  }

  /// The rate to ask for: where the line through two results, both in logarithms, meets the target; through two on both
  /// sides of it if there are such. Nil if the content makes nothing of another rate.
  private func nextTarget() -> Double? {
    guard let last = tried.last, last.got > 0 else { return nil }
    let target = Double(pipeline.plan.bitRate)
    // Content with cuts answers in jumps, up and down: neighbours in what was asked for.
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
        // A limit of the data rate can be all that counts at first.
        guard last.got > target else { return nil }
        slope = 0.3
      }
    }
    // At a higher average a decoder's buffer would fill faster.
    let highest = min(target * 4, pipeline.plan.maximumRate.map(Double.init) ?? .infinity)
    let next = min(max(last.asked * pow(target / last.got, 1 / min(slope, 2)), target / 8, 1000), highest)
    return tried.contains { Int($0.asked) == Int(next) } ? nil : next
  }
}
