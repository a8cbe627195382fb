// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Passes the encoded samples of a run to an output, together with the movie's audio and text.
struct OutputFeed: Sendable {
  let output: any Output
  let source: MovieSource
  let plan: EncodingPlan
  let synchronizer: AudioSynchronizer
  let damage: DamageCollector
  /// Whether an interrupted run leaves no output.
  var isAllOrNothing = false

  /// Writes all samples, and returns when the output is complete.
  /// - Parameters:
  ///   - samples: the pictures.
  ///   - renditions: the pictures of further renditions, which segments hold.
  /// - Returns: the output's part of the summary; empty if there was no sample.
  /// - Throws: a `Failure`, after the output has been abandoned.
  func write(_ samples: OutputQueue, renditions: [OutputQueue] = []) async throws -> OutputReport {
    // A movie's header needs the codec's parameter sets, which come with the first sample.
    guard let first = try await onThread("first sample", { try samples.pop() }) else { return OutputReport() }
    do {
      return try await write(first, samples, renditions)
    } catch {
      output.abandon()
      throw error
    }
  }

  private func write(
    _ first: CMSampleBuffer, _ samples: OutputQueue, _ renditions: [OutputQueue]
  ) async throws -> OutputReport {
    output.begin(with: first)
    try output.open()
    let video = try add(first)
    var further: [(id: OutputTrack.ID, first: SingleElement<CMSampleBuffer>, samples: OutputQueue)] = []
    for rendition in renditions {
      guard let first = try await onThread("first sample", { try rendition.pop() }) else { continue }
      further.append((try add(first), SingleElement(first), rendition))
    }
    let audioTracks = try await AudioFeed(source: source, plan: plan, synchronizer: synchronizer).add(
      to: output)
    let texts = try await TextFeed(source: source, plan: plan, synchronizer: synchronizer).add(to: output)
    try output.start()
    let shift = output.beginsAtZero ? SampleShift(toZero: first) : nil
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let waiting = SingleElement(first)
        try await append(to: video, shift, whenFull: { synchronizer.wants(audio: $0) }) {
          try waiting.take() ?? samples.pop()
        }
      }
      for (id, first, samples) in further {
        group.addTask { try await append(to: id, shift) { try first.take() ?? samples.pop() } }
      }
      for (id, audio) in audioTracks.tracks {
        group.addTask { try await append(to: id, shift) { try audio.next() } }
      }
      for (id, text) in texts.tracks {
        group.addTask { try await append(to: id, shift) { try text.next() } }
      }
      do {
        // Not `waitForAll`, which would report a failure only after all tracks have ended.
        for try await _ in group {}
      } catch {
        // The other tracks must not wait for samples that will never come.
        for queue in [samples] + renditions { queue.cancel() }
        synchronizer.abandon()
        output.abandon()
        throw error
      }
    }
    try await output.finish()
    try check()
    // A live stream ends when the user says so.
    let isCut = Interrupt.shared.isRequested && !plan.endsOnRequest
    let isPart = !isAllOrNothing && !output.isLive && isCut
    let result = try output.publish(isPart: isPart)
    var report = OutputReport(
      fileBytes: result.fileBytes, audio: audioTracks.report, text: texts.report,
      leftOut: samples.droppedCount,
      path: result.path)
    (report.servers, report.others, report.failures) = (result.servers, result.others, result.failures)
    for (_, audio) in audioTracks.tracks {
      if let lost = audio.damage { damage.add(audio: lost) }
      if let remark = audio.remark { report.audio.leftOut.append(remark) }
    }
    for (_, text) in texts.tracks {
      if let lost = text.damage { damage.add(audio: lost) }
      if text.isChapters { report.text.chapters = text.written }
    }
    return report
  }

  /// Adds the track of the pictures.
  private func add(_ first: CMSampleBuffer) throws -> OutputTrack.ID {
    guard let id = try output.add(videoTrack(first.formatDescription)) else {
      throw Failure("\(output.name) cannot hold this video; try .mov")
    }
    return id
  }

  private func check() throws {
    if isAllOrNothing { try Interrupt.shared.check(output.outcomeOfInterruptedRun) }
  }

  private func videoTrack(_ format: CMFormatDescription?) -> OutputTrack {
    var track = OutputTrack(.video, format: format)
    track.transform = source.transform
    // The source's time scale keeps its time stamps exact; those of fields need twice its
    // resolution.
    var timescale =
      source.convertedRate.map { FrameRateConverter.duration(of: $0).timescale } ?? source.timescale
    if plan.deinterlacing == .field, timescale <= .max / 2 { timescale *= 2 }
    // The times of a part are counted from its beginning, which may lie between two ticks.
    let beginning = source.part.flatMap { CommonTimescale.minimum(for: $0.start) }
    track.timescale = CommonTimescale.of([timescale] + [beginning].compactMap(\.self))
    track.isPaced = plan.isPaced
    return track
  }

  private func append(
    to track: OutputTrack.ID, _ shift: SampleShift?,
    whenFull: @escaping @Sendable (Bool) -> Void = { _ in },
    _ next: @escaping @Sendable () throws -> CMSampleBuffer?
  ) async throws {
    try await output.append(
      to: track,
      from: {
        while true {
          try check()
          guard let sample = try next() else { return nil }
          guard let shift else { return sample }
          // Audio before the first picture is dropped, since it would have a negative time.
          if let shifted = try shift.apply(to: sample) { return shifted }
        }
      }, whenFull: whenFull)
  }
}

/// Shifts time stamps so that a run's first picture has the decode time zero.
struct SampleShift: Sendable {
  private let origin: CMTime

  init(toZero first: CMSampleBuffer) {
    let decodeTime = first.decodeTimeStamp
    origin = decodeTime.isNumeric ? decodeTime : first.presentationTimeStamp
  }

  /// Shifts a sample's time stamps.
  /// - Returns: the shifted sample; nil if it begins before the first picture. Text that lasts
  ///   longer than that begins with the picture.
  func apply(to sample: CMSampleBuffer) throws -> CMSampleBuffer? {
    let isText = [.text, .subtitle].contains(sample.formatDescription?.mediaType)
    let end = sample.presentationTimeStamp + sample.duration
    guard sample.presentationTimeStamp >= origin || isText && end > origin else { return nil }
    let timings = try sample.sampleTimingInfos().map { timing in
      var moved = timing
      if timing.presentationTimeStamp < origin {
        moved.presentationTimeStamp = .zero
        moved.duration = end - origin
        return moved
      }
      moved.presentationTimeStamp = timing.presentationTimeStamp - origin
      if timing.decodeTimeStamp.isNumeric { moved.decodeTimeStamp = timing.decodeTimeStamp - origin }
      return moved
    }
    return try CMSampleBuffer(copying: sample, withNewTiming: timings)
  }
}

/// Holds one element that can be taken once.
private final class SingleElement<Element>: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private var element: Element?

  init(_ element: Element) { self.element = element }

  func take() -> Element? {
    lock.withLock {
      defer { element = nil }
      return element
    }
  }
}
