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
  /// Frames that were encoded once more, in passes over parts.
  private(set) var framesAgain = 0
  /// There was no room for another pass that was to be made: what is handed on is the one before.
  private(set) var lacksRoom = false

  init(_ pipeline: Pipeline, _ compressor: Compressor, _ recorder: PassRecorder, _ progress: ProgressLine) {
    (self.pipeline, self.compressor, self.recorder, self.progress) = (
      pipeline, compressor, recorder, progress
    )
  }

  func run(
    samples: OutputQueue, gate: SoundGate, damage: DamageCollector, tally: Tally
  ) throws {
    do {
      var plan = PassPlan(
        target: pipeline.plan.bitRate, most: pipeline.plan.passes, tolerance: pipeline.plan.passTolerance,
        highest: pipeline.plan.maximumRate, isLearned: pipeline.plan.statistics != nil)
      var isWhole = false
      var isWanted = false
      var partCount = 0
      var goesOn = false
      repeat {
        var part: Set<CMTime>?
        if plan.isPartial {
          // Where there is no room for another pass, the movie stays as it is.
          do { part = try recorder.beginPart(compressor.rangesOfNextPass()) } catch {
            lacksRoom = Failure.lacksRoom(error)
            break
          }
        } else {
          do { try recorder.begin() } catch {
            guard made > 0, pipeline.plan.makesPassesOnDemand, Failure.lacksRoom(error) else { throw error }
            lacksRoom = true
            break
          }
        }
        if plan.number > 1 || !pipeline.plan.makesPassesOnDemand {
          progress.begin(pass: plan.number, of: plan.most, frames: part?.count)
        }
        do {
          try compressor.beginPass(isLast: plan.isLast, rate: plan.asked)
          let isOver = try encodePass(samples, damage, only: part)
          if part == nil { isWhole = isOver }
          if part != nil, !isOver {
            // What was given up leaves a hole.
            _ = try? compressor.endPass(rate: plan.target)
            recorder.preferPassBefore()
            break
          }
          isWanted = try compressor.endPass(rate: plan.target)
          try recorder.check()
        } catch {
          // Passes that nobody asked for are no reason to lose what there is.
          if part == nil, pipeline.plan.makesPassesOnDemand, Failure.lacksRoom(error), made > 0 {
            // What the encoder still holds goes with the pass.
            _ = try? compressor.endPass(rate: plan.target)
            guard recorder.keepPassBefore() else { throw error }
            lacksRoom = true
            break
          }
          // An encoder that has learnt how little the movie can take may find the rate too low for a pass: what the pass
          // before gave is as near as it gets. So it is where a part fails.
          guard made > 0, !recorder.isFailed, part != nil || recorder.isEmpty else { throw error }
          if part != nil {
            _ = try? compressor.endPass(rate: plan.target)
            recorder.preferPassBefore()
            lacksRoom = Failure.lacksRoom(error)
          }
          break
        }
        made += 1
        partCount = part?.count ?? 0
        framesAgain += partCount
        // A part that is whole is judged in any case; of a pass over everything that was interrupted the rate says nothing.
        let isStopped = Interrupt.shared.isRequested || samples.isCancelled
        goesOn =
          (part != nil || !isStopped) && plan.advance(bitRate: recorder.bitRate, isWanted: isWanted)
          && !isStopped
      } while goesOn
      if plan.isWorse {
        recorder.preferPassBefore()
        framesAgain -= partCount
      }
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

  /// - Parameter part: presentation times of the frames to encode; nil for all.
  /// - Returns: Whether the movie was read to its end, or to that of the part.
  private func encodePass(
    _ samples: OutputQueue, _ damage: DamageCollector, only part: Set<CMTime>?
  ) throws -> Bool {
    let reader = try FrameReader(pipeline.source, plan: pipeline.plan)
    defer {
      damage.note(pictures: reader.damage)
      reader.cancel()
    }
    var count = 0
    var missing = part?.count ?? .max
    while !Interrupt.shared.isRequested, !samples.isCancelled, count < pipeline.plan.frameLimit ?? .max {
      guard let frame = try reader.next() else { return true }
      count += 1
      if let part, !part.contains(frame.time) { continue }
      try compressor.encode(frame)
      missing -= 1
      if missing == 0 { return true }
      try recorder.check()
    }
    return false
  }
}
