// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Encodes a movie in several passes. The pictures are decoded again for each pass, and the frames
/// of the best pass are sent to the output.
final class PassLoop: @unchecked Sendable {
  // Sendable: one thread runs it, and the results are read after that thread has ended.
  private let pipeline: Pipeline
  private let compressor: Compressor
  private let recorder: PassRecorder
  private let progress: ProgressLine
  /// The number of passes that were made.
  private(set) var made = 0
  /// The number of frames that passes over parts of the movie have encoded again.
  private(set) var framesAgain = 0
  /// Whether there was no room for another pass, so that the frames of the previous one are the
  /// result.
  private(set) var lacksRoom = false

  init(_ pipeline: Pipeline, _ compressor: Compressor, _ recorder: PassRecorder, _ progress: ProgressLine) {
    (self.pipeline, self.compressor, self.recorder, self.progress) = (
      pipeline, compressor, recorder, progress
    )
  }

  func run(
    samples: OutputQueue, synchronizer: AudioSynchronizer, damage: DamageCollector, counter: SampleCounter
  ) throws {
    do {
      var plan = PassPlan(
        target: pipeline.plan.bitRate, maximum: pipeline.plan.passes, tolerance: pipeline.plan.passTolerance,
        highest: pipeline.plan.maximumRate, hasStatistics: pipeline.plan.statistics != nil)
      var isWhole = false
      var isWanted = false
      var partCount = 0
      var continues = false
      repeat {
        var part: Set<CMTime>?
        if plan.isPartial {
          // If there is no room for this pass, the result of the previous one is kept.
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
          progress.begin(pass: plan.number, of: plan.maximum, frames: part?.count)
        }
        do {
          try compressor.beginPass(isLast: plan.isLast, rate: plan.requestedRate)
          let isFinished = try encodePass(samples, damage, only: part)
          if part == nil { isWhole = isFinished }
          if part != nil, !isFinished {
            // The frames of an interrupted part would leave a gap.
            _ = try? compressor.endPass(rate: plan.target)
            recorder.preferPassBefore()
            break
          }
          isWanted = try compressor.endPass(rate: plan.target)
          try recorder.check()
        } catch {
          // Running out of room in a pass that the user did not ask for must not lose the previous
          // pass.
          if part == nil, pipeline.plan.makesPassesOnDemand, Failure.lacksRoom(error), made > 0 {
            // Ending the pass releases the frames that the encoder still holds.
            _ = try? compressor.endPass(rate: plan.target)
            guard recorder.keepPassBefore() else { throw error }
            lacksRoom = true
            break
          }
          // After a pass that shows how few bits the movie can take, the encoder may reject a rate
          // as too low; the previous pass is then as close as it gets. The previous pass is also
          // kept if a pass over parts fails.
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
        // A complete pass over parts is judged in any case. The rate of an interrupted pass over
        // the whole movie means nothing.
        let isStopped = Interrupt.shared.isRequested || samples.isCancelled
        continues =
          (part != nil || !isStopped) && plan.advance(bitRate: recorder.bitRate, isWanted: isWanted)
          && !isStopped
      } while continues
      if plan.isWorse {
        recorder.preferPassBefore()
        framesAgain -= partCount
      }
      if isWhole { synchronizer.setEndOfMovie() }
      try recorder.forEach { sample in
        counter.add(sample, isVerbose: pipeline.plan.isVerbose)
        synchronizer.advance(to: sample.presentationTimeStamp + sample.duration)
        return samples.push(sample)
      }
      synchronizer.finish(isCut: false)
      samples.end()
    } catch {
      synchronizer.abandon()
      samples.end(error)
      throw error
    }
  }

  /// Encodes one pass.
  /// - Parameter part: the presentation times of the frames to encode; nil for all frames.
  /// - Returns: whether the movie, or the part, was encoded to its end.
  /// - Throws: a `Failure` if the movie cannot be read, or its frames not encoded or stored.
  private func encodePass(
    _ samples: OutputQueue, _ damage: DamageCollector, only part: Set<CMTime>?
  ) throws -> Bool {
    let reader = try FrameReader(pipeline.source, plan: pipeline.plan)
    defer {
      damage.add(pictures: reader.damage)
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
