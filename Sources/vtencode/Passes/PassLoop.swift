// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Encodes a movie in several passes: its pictures are decoded again for each, and what the last one gave is handed on.
final class PassLoop: @unchecked Sendable {
  // Sendable: run by one thread; `made` is asked for when that has ended.
  private let pipeline: Pipeline
  private let compressor: Compressor
  private let recorder: PassRecorder
  private let progress: ProgressLine
  /// Passes that were made.
  private(set) var made = 0

  init(_ pipeline: Pipeline, _ compressor: Compressor, _ recorder: PassRecorder, _ progress: ProgressLine) {
    (self.pipeline, self.compressor, self.recorder, self.progress) = (
      pipeline, compressor, recorder, progress
    )
  }

  func run(
    samples: BoundedQueue<CMSampleBuffer>, gate: SoundGate, damage: DamageCollector, tally: Tally
  ) throws {
    do {
      var plan = PassPlan(
        target: pipeline.plan.bitRate, most: pipeline.plan.passes, tolerance: pipeline.plan.passTolerance)
      var isWhole = false
      var isWanted = false
      repeat {
        progress.begin(pass: plan.number, of: plan.most)
        try recorder.begin()
        do {
          try compressor.beginPass(isLast: plan.isLast, rate: plan.asked == plan.target ? nil : plan.asked)
          isWhole = try encodePass(samples, damage)
          isWanted = try compressor.endPass()
        } catch {
          // An encoder that has learnt how little the movie can take may find the rate too low for a pass: what the pass
          // before gave is as near as it gets.
          guard made > 0, recorder.isEmpty, !recorder.isFailed else { throw error }
          break
        }
        try recorder.check()
        made += 1
      } while !Interrupt.shared.isRequested && !samples.isCancelled
        && plan.advance(bitRate: recorder.bitRate, isWanted: isWanted)
      if plan.isWorse { recorder.preferPassBefore() }
      if isWhole { gate.noteEndOfMovie() }
      try recorder.forEach { sample in
        tally.add(sample, isVerbose: pipeline.plan.isVerbose)
        gate.advance(to: sample.presentationTimeStamp + sample.duration)
        return samples.push(sample)
      }
      gate.finish(isCut: false)
      samples.end()
    } catch {
      gate.abandon()
      samples.end(error)
      throw error
    }
  }

  /// - Returns: Whether the movie was read to its end.
  private func encodePass(_ samples: BoundedQueue<CMSampleBuffer>, _ damage: DamageCollector) throws -> Bool {
    let reader = try FrameReader(pipeline.source, plan: pipeline.plan)
    defer {
      damage.note(pictures: reader.damage)
      reader.cancel()
    }
    var count = 0
    while !Interrupt.shared.isRequested, !samples.isCancelled, count < pipeline.plan.frameLimit ?? .max {
      guard let frame = try reader.next() else { return true }
      count += 1
      try compressor.encode(frame)
      try recorder.check()
    }
    return false
  }
}
