// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// One run from the source to the output. The session encodes on a thread of its own behind a short
/// queue, so that decoding and encoding overlap; the output has its own threads behind a queue of
/// samples. Memory use does not grow with the movie's length.
struct Pipeline: Sendable {
  let source: MovieSource
  let plan: EncodingPlan
  let destination: Destination
  /// The settings of further renditions of the same pictures.
  var renditions: [EncodingPlan] = []

  /// The number of encoded samples that may wait to be written; they are small compared with
  /// pictures.
  private static let waitingSamples = 256

  func run() async throws -> RunReport {
    do { return try await runOnce() } catch let failure as Failure
      where failure.lacksRoom && plan.passes > 1 && plan.passesAreOptional && !Interrupt.shared.isRequested
    {
      // The files of the passes have been removed by now. One pass needs no room for them, so it
      // may succeed.
      var plan = plan
      plan.passes = 1
      plan.makesPassesOnDemand = false
      plan.passesAreOptional = false
      var report = try await Pipeline(
        source: source, plan: plan, destination: destination, renditions: renditions
      )
      .runOnce()
      report.lackedRoom = true
      report.plan.notices.append(noticeOfMissingRoom("so the movie is encoded in one pass"))
      return report
    }
  }

  /// Reports that there was no room for several passes.
  /// - Parameter outcome: the consequence, as the end of the sentence.
  private func noticeOfMissingRoom(_ outcome: String) -> String {
    let notice = "there is no room next to the output for the temporary files of several passes, \(outcome)"
    if plan.progress.showsNotices { Console.note("vtencode: \(notice)") }
    return notice
  }

  private func runOnce() async throws -> RunReport {
    let (control, monitor) = (EncoderControl(), ServerMonitor())
    let output = destination.makeOutput(
      source: source, plan: plan, control: control, monitor: monitor, renditions: renditions)
    let samples = OutputQueue(capacity: Self.waitingSamples, backPressure: output.backPressure)
    let synchronizer = AudioSynchronizer(latest: plan.latestEnd(of: source))
    let counter = SampleCounter()
    try checkLimits()
    let began = SessionTime.now
    let progress = ProgressLine(
      total: expectedFrames, style: plan.isVerbose ? .none : plan.progress, servers: monitor)
    defer { progress.finish() }

    let recorder = try makeRecorder()
    defer { recorder?.close() }
    let compressor = try Compressor(plan, source: source, storage: recorder?.storage) { result in
      switch result {
      case .success(let sample?):
        if let recorder, recorder.isRecording { return progress.update(frames: recorder.add(sample)) }
        counter.add(sample, isVerbose: plan.isVerbose)
        progress.update(frames: counter.frames)
        _ = samples.push(sample)
      case .success(nil): counter.addDropped()
      case .failure(let failure): samples.end(failure)
      }
    }
    compressor.control = control
    let further = try renditions.map {
      try RenditionEncoder($0, source: source, readAs: plan, queueCapacity: Self.waitingSamples)
    }
    let queues = [samples] + further.map(\.samples)
    if plan.isVerbose { printSettings(of: compressor) }
    var notices: [String] = []
    if recorder != nil, !compressor.makesPasses, !plan.makesPassesOnDemand {
      notices.append(
        "the encoder \(compressor.encoderID) makes only one pass, so the movie is encoded in one")
      if plan.progress.showsNotices { Console.note("vtencode: \(notices[0])") }
    }
    let passes = compressor.makesPasses ? recorder.map { PassLoop(self, compressor, $0, progress) } : nil

    let damage = DamageCollector()
    let feed = OutputFeed(
      output: output, source: source, plan: plan, synchronizer: synchronizer, damage: damage,
      isAllOrNothing: destination.isAllOrNothing)
    let written: OutputReport
    do {
      async let encoding: Void = onThread("decode") {
        if let passes {
          try passes.run(samples: samples, synchronizer: synchronizer, damage: damage, counter: counter)
        } else {
          try encode(
            with: compressor, further, samples: samples, synchronizer: synchronizer, damage: damage)
        }
      }
      async let writing = cancelling(queues) {
        try await feed.write(samples, renditions: further.map(\.samples))
      }
      written = try await writing
      try await encoding
    } catch {
      // If one stage fails, the other must not wait for it.
      for queue in queues { queue.cancel() }
      throw error
    }
    if counter.frames == 0 { throw Self.noFrameFailure() }
    var report = counter.report(
      seconds: SessionTime.now - began, plan: plan, written: written, encoderID: compressor.encoderID)
    report.damage = damage.value
    report.renditions = further.map(\.report)
    report.passes = passes.map { $0.made + (plan.statistics == nil ? 0 : 1) } ?? 1
    report.framesAgain = passes?.framesAgain ?? 0
    report.madePasses = passes != nil
    if passes?.lacksRoom == true {
      report.lackedRoom = true
      notices.append(noticeOfMissingRoom("so the result of the last complete pass is written"))
    }
    report.plan.notices += notices
    return report
  }

  /// Checks that the limits of the process allow the run.
  /// - Throws: a `Failure` that names the limit.
  private func checkLimits() throws {
    try ResourceLimits.check(tracks: trackCount)
    try ResourceLimits.check(
      decoded: source.decodedSize, encoded: (plan.width, plan.height), isDeep: source.isDeep,
      hasFullChroma: plan.hasFullChroma)
    for rendition in renditions {
      try ResourceLimits.check(
        decoded: source.decodedSize, encoded: (rendition.width, rendition.height), isDeep: source.isDeep,
        hasFullChroma: plan.hasFullChroma)
    }
  }

  /// The error of a run without frames.
  private static func noFrameFailure() -> Failure {
    guard Interrupt.shared.isRequested else {
      return Failure("the encoder gave no frame; nothing was written")
    }
    return Failure(
      "interrupted before a frame was encoded; nothing was written", status: Interrupt.shared.status)
  }

  /// Makes the recorder of several passes; nil for one pass.
  private func makeRecorder() throws -> PassRecorder? {
    guard plan.passes > 1 else { return nil }
    let parent = destination.path.map(folder(of:)) ?? FileManager.default.temporaryDirectory.path
    return try PassRecorder(in: parent, learned: plan.statistics)
  }

  /// The number of the source's tracks that are read for this output.
  var trackCount: Int {
    guard destination.all.contains(where: \.holdsAudio) else { return 1 }
    return 1 + (plan.audio == .none ? 0 : source.captured == nil ? source.audioTracks.count : 1)
      + (plan.keepsSubtitles && destination.all.contains(where: \.holdsText) ? source.subtitles.count : 0)
  }

  private var expectedFrames: Int? {
    guard !plan.repetition.isEndless, let expected = source.expectedFrames else { return plan.frameLimit }
    return plan.frameLimit.map { min($0, expected) } ?? expected
  }

  // MARK: Stages

  /// Decodes pictures and passes them to the session, which blocks while its queue is full.
  private func encode(
    with compressor: Compressor, _ further: [RenditionEncoder], samples: OutputQueue,
    synchronizer: AudioSynchronizer, damage: DamageCollector
  ) throws {
    do {
      var reader = try FrameReader(source, plan: plan)
      var repetition = plan.repetition
      defer {
        damage.add(pictures: reader.damage)
        reader.cancel()
      }
      // A sender determines its own pace.
      let pacer = plan.isPaced && source.network?.isLive != true ? try Pacer() : nil
      var count = 0
      var isCut = false
      // An interruption ends the reading of what a sender sends. The pictures that the decoder
      // holds for reordering by then belong to the movie.
      let isDrained = source.network?.isLive == true
      while !Interrupt.shared.isRequested || isDrained, !samples.isCancelled, count < plan.frameLimit ?? .max
      {
        guard let read = try reader.next() else {
          if repetition.isEndless {
            repetition.advance()
            reader = try FrameReader(source, plan: plan)
            continue
          }
          // Audio that is captured has no end of its own.
          // After an interruption it ends with the pictures that have come.
          if source.captured == nil, !Interrupt.shared.isRequested { synchronizer.setEndOfMovie() }
          break
        }
        guard let frame = repetition.move(read) else { continue }
        count += 1
        if let pacer {
          try pacer.wait(until: frame.time)
          // A frame whose time has not yet come when the run is interrupted is not encoded.
          isCut = Interrupt.shared.isRequested
          if isCut { break }
        }
        source.captured?.begin(frame.time, captured: SessionTime.now)
        synchronizer.advance(to: frame.time + frame.duration)
        try compressor.encode(frame)
        for rendition in further { try rendition.encode(frame) }
      }
      synchronizer.finish(isCut: isCut)
      try compressor.complete()
      samples.end()
      for rendition in further { try rendition.finish() }
    } catch {
      synchronizer.abandon()
      samples.end(error)
      for rendition in further { rendition.samples.end(error) }
      throw error
    }
  }

  /// Cancels the queues of samples if the output fails, so that the encoding stage stops.
  private func cancelling<Value: Sendable>(
    _ queues: [OutputQueue], _ work: @Sendable () async throws -> Value
  ) async throws -> Value {
    do {
      return try await work()
    } catch {
      for queue in queues { queue.cancel() }
      throw error
    }
  }

  private func printSettings(of compressor: Compressor) {
    Console.note(
      "source   \(source.name): \(source.width)x\(source.height), \(TextFormat.fixed(source.frameRate, 3)) fps"
    )
    Console.note("encoder  \(compressor.encoderID), \(plan.codec.name), \(plan.width)x\(plan.height)")
    for (key, value) in compressor.settings() { Console.note("  \(key) = \(value)") }
  }
}
