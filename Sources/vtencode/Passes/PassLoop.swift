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

  /// Encodes passes and sends the frames of the best one to the output.
  /// - Parameters:
  ///   - samples: The queue of the output. It is ended in any case, with the error if there is one.
  ///   - synchronizer: Is told which times of the movie are encoded.
  ///   - damage: Collects what is damaged in the movie.
  ///   - counter: Counts the frames that are sent.
  /// - Throws: a `Failure` if the movie cannot be read, or its frames not encoded or stored.
  func run(
    samples: OutputQueue, synchronizer: AudioSynchronizer, damage: DamageCollector, counter: SampleCounter
  ) throws {
    do {
      let isWhole = try encodePasses(samples, damage)
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

  /// A pass over the whole movie or over a part of it.
  private struct Pass {
    /// The presentation times of the frames to encode; nil for all frames.
    var part: Set<CMTime>?
    /// Whether the movie, or the part, was encoded to its end.
    var isFinished = false
    /// Whether the encoder asks for another pass.
    var isWanted = false
  }

  /// Encodes passes until the rate is met, no further pass is wanted, or the user stops.
  /// - Returns: whether the movie was encoded to its end. The recorder has the frames of the best
  ///   pass.
  private func encodePasses(_ samples: OutputQueue, _ damage: DamageCollector) throws -> Bool {
    var plan = PassPlan(
      target: pipeline.plan.bitRate, maximum: pipeline.plan.passes, tolerance: pipeline.plan.passTolerance,
      highest: pipeline.plan.maximumRate, hasStatistics: pipeline.plan.statistics != nil)
    var isWhole = false
    var partCount = 0
    var continues = false
    repeat {
      guard var pass = try begin(plan), try encode(&pass, plan, samples, damage) else { break }
      if pass.part == nil { isWhole = pass.isFinished }
      made += 1
      partCount = pass.part?.count ?? 0
      framesAgain += partCount
      // A complete pass over parts is judged in any case. The rate of an interrupted pass over the
      // whole movie means nothing.
      let isStopped = Interrupt.shared.isRequested || samples.isCancelled
      continues =
        (pass.part != nil || !isStopped)
        && plan.advance(bitRate: recorder.bitRate, isWanted: pass.isWanted) && !isStopped
    } while continues
    if plan.isWorse {
      recorder.preferPassBefore()
      framesAgain -= partCount
    }
    return isWhole
  }

  /// Makes room for the next pass.
  /// - Returns: nil if there is none, so that the frames of the previous pass are the result.
  /// - Throws: a `Failure` if there is no previous pass, or the user asked for this one.
  private func begin(_ plan: PassPlan) throws -> Pass? {
    var pass = Pass()
    do {
      if plan.isPartial {
        pass.part = try recorder.beginPart(compressor.rangesOfNextPass())
      } else {
        try recorder.begin()
      }
    } catch {
      lacksRoom = Failure.lacksRoom(error)
      guard plan.isPartial || (made > 0 && pipeline.plan.makesPassesOnDemand && lacksRoom) else {
        throw error
      }
      return nil
    }
    if plan.number > 1 || !pipeline.plan.makesPassesOnDemand {
      progress.begin(pass: plan.number, of: plan.maximum, frames: pass.part?.count)
    }
    return pass
  }

  /// Encodes a pass to its end.
  /// - Returns: whether its frames are a result; false if those of the previous pass are kept.
  /// - Throws: a `Failure` if there are none to keep.
  private func encode(
    _ pass: inout Pass, _ plan: PassPlan, _ samples: OutputQueue, _ damage: DamageCollector
  ) throws -> Bool {
    do {
      try compressor.beginPass(isLast: plan.isLast, rate: plan.requestedRate)
      pass.isFinished = try encodeFrames(samples, damage, only: pass.part)
      if pass.part != nil, !pass.isFinished {
        // The frames of an interrupted part would leave a gap.
        _ = try? compressor.endPass(rate: plan.target)
        recorder.preferPassBefore()
        return false
      }
      pass.isWanted = try compressor.endPass(rate: plan.target)
      try recorder.check()
      return true
    } catch {
      try keepPassBefore(pass, plan, after: error)
      return false
    }
  }

  /// Keeps the frames of the previous pass after an error in a pass that the result does not need.
  /// - Throws: the error if the result needs the pass.
  private func keepPassBefore(_ pass: Pass, _ plan: PassPlan, after error: any Error) throws {
    // Running out of room in a pass that the user did not ask for must not lose the previous pass.
    if pass.part == nil, pipeline.plan.makesPassesOnDemand, Failure.lacksRoom(error), made > 0 {
      // Ending the pass releases the frames that the encoder still holds.
      _ = try? compressor.endPass(rate: plan.target)
      guard recorder.keepPassBefore() else { throw error }
      lacksRoom = true
      return
    }
    // After a pass that shows how few bits the movie can take, the encoder may reject a rate as too
    // low; the previous pass is then as close as it gets. The previous pass is also kept if a pass
    // over parts fails.
    guard made > 0, !recorder.isFailed, pass.part != nil || recorder.isEmpty else { throw error }
    if pass.part != nil {
      _ = try? compressor.endPass(rate: plan.target)
      recorder.preferPassBefore()
      lacksRoom = Failure.lacksRoom(error)
    }
  }

  /// Encodes the frames of one pass.
  /// - Parameter part: the presentation times of the frames to encode; nil for all frames.
  /// - Returns: whether the movie, or the part, was encoded to its end.
  /// - Throws: a `Failure` if the movie cannot be read, or its frames not encoded or stored.
  private func encodeFrames(
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
