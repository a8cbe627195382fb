// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Writes a movie through AVAssetWriter: the encoded samples as they are, and the source's sound beside them.
struct MovieSink: SampleSink {
  let path: String
  let type: AVFileType
  let source: MovieSource
  let plan: EncodingPlan
  let gate: SoundGate
  let damage: DamageCollector
  let replaces: Bool
  /// An interrupted run leaves nothing.
  var isWholeOrNothing = false
  /// What becomes the movie's beginning.
  var start = CMTime.zero

  func write(_ samples: BoundedQueue<CMSampleBuffer>) async throws -> SinkReport {
    // The file's header needs the codec's parameter sets, which come with the first sample.
    guard let first = try await onThread("first sample", { try samples.pop() }) else { return SinkReport() }
    let pending = try PendingFile(for: path, replaces: replaces)
    defer { pending.discard() }
    let writer = try makeWriter(pending.path)
    let video = makeVideoInput(format: first.formatDescription)
    guard writer.canAdd(video) else { throw Failure("a .\(ending) file cannot hold this video; try .mov") }
    writer.add(video)
    let (sounds, report) = try await makeSounds(for: writer)
    var (texts, textReport) = try await makeTexts(for: writer, video: video)
    guard writer.startWriting() else { throw failure(writer) }
    writer.startSession(atSourceTime: start)

    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let waiting = SingleElement(first)
          try await feed(video, of: writer, whenFull: { gate.wants(sound: $0) }) {
            try waiting.take() ?? samples.pop()
          }
        }
        for sound in sounds {
          group.addTask { try await feed(sound.input, of: writer) { try sound.next() } }
        }
        for text in texts {
          group.addTask { try await feed(text.input, of: writer) { try text.next() } }
        }
        do {
          // Not `waitForAll`, which tells of a failure only when both tracks have ended.
          for try await _ in group {}
        } catch {
          // The other track must not wait for what will not come.
          samples.cancel()
          gate.abandon()
          throw error
        }
      }
    } catch {
      writer.cancelWriting()
      throw error
    }
    await writer.finishWriting()
    guard writer.status == .completed else { throw failure(writer) }
    let bytes = (try? FileManager.default.attributesOfItem(atPath: pending.path)[.size] as? NSNumber)?
      .intValue
    if isWholeOrNothing { try Interrupt.shared.check() }
    let name = try pending.commit(isPart: !isWholeOrNothing && Interrupt.shared.isRequested)
    for sound in sounds { if let lost = sound.damage { damage.note(sound: lost) } }
    for text in texts {
      if let lost = text.damage { damage.note(sound: lost) }
      if text.isChapters { textReport.chapters = text.written }
    }
    return SinkReport(fileBytes: bytes ?? 0, sound: report, text: textReport, path: name)
  }

  private var ending: String { (path as NSString).pathExtension }

  private func makeWriter(_ path: String) throws -> AVAssetWriter {
    do {
      let writer = try AVAssetWriter(outputURL: URL(fileURLWithPath: path), fileType: type)
      writer.shouldOptimizeForNetworkUse = plan.isFastStart
      writer.metadata = source.metadata
      return writer
    } catch {
      throw Failure(
        "cannot write '\(self.path)': \(Failure.describe(error))", lacksRoom: Failure.lacksRoom(error))
    }
  }

  private func makeVideoInput(format: CMFormatDescription?) -> AVAssetWriterInput {
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: format)
    input.transform = source.transform
    // Times are kept to the tick; fields have halves of them.
    let timescale = source.timescale
    input.mediaTimeScale = plan.deinterlacing == .field && timescale <= .max / 2 ? timescale * 2 : timescale
    input.expectsMediaDataInRealTime = plan.isPaced
    return input
  }

  /// The sound tracks that go into the file, and what is to be said of them.
  private func makeSounds(for writer: AVAssetWriter) async throws -> ([SoundTrack], SoundReport) {
    var tracks: [SoundTrack] = []
    var report = SoundReport()
    report.total = source.sounds.count
    guard plan.audio != .none else { return (tracks, report) }
    for facts in source.sounds {
      if try await facts.isEncrypted(in: source.asset) {
        throw Failure(
          "sound track \(facts.number) of '\(source.name)' is encrypted, and there is no key to it; leave the sound "
            + "out with --no-audio, or decrypt it first")
      }
      let encodes = plan.audio == .aac || plan.audio == .auto && !facts.isPlayable(in: type)
      do {
        let sound = try SoundTrack(source, facts, encodes: encodes, bitRate: plan.audioBitRate, gate: gate)
        guard writer.canAdd(sound.input) else {
          sound.cancel()
          throw Failure(
            encodes
              ? "sound track \(facts.number) cannot be encoded as AAC at this rate; give a lower --audio-bitrate, or "
                + "leave the sound out with --no-audio"
              : "a .\(ending) file cannot hold sound track \(facts.number) (\(facts.codecName)) as it is; "
                + "encode it with --audio aac, or leave it out with --no-audio")
        }
        writer.add(sound.input)
        tracks.append(sound)
        if encodes { report.encoded += 1 } else { report.copied += 1 }
      } catch let failure as Failure {
        // Asked for by name, it is owed; otherwise the picture is worth having without.
        guard plan.audio == .auto else { throw failure }
        report.leftOut.append(
          "track \(facts.number) (\(facts.codecName)) left out: it cannot be decoded here")
      }
    }
    return (tracks, report)
  }

  /// The subtitles and chapters that go into the file, and what is to be said of them.
  private func makeTexts(
    for writer: AVAssetWriter, video: AVAssetWriterInput
  ) async throws -> ([TextTrack], TextReport) {
    var tracks: [TextTrack] = []
    var report = TextReport()
    let hasText = writer.availableMediaTypes.contains(.subtitle)
    if plan.keepsSubtitles {
      for (index, subtitles) in source.subtitles.enumerated() {
        let text = hasText ? try? await TextTrack(subtitles: subtitles, of: source, gate: gate) : nil
        guard let text, writer.canAdd(text.input) else {
          text?.cancel()
          report.leftOut.append("subtitle track \(index + 1) left out: it cannot be read")
          continue
        }
        writer.add(text.input)
        tracks.append(text)
        report.subtitles += 1
      }
    }
    if hasText, plan.keepsChapters, let chapters = try TextTrack(chapters: source.chapters, gate: gate) {
      writer.add(chapters.input)
      video.addTrackAssociation(
        withTrackOf: chapters.input, type: AVAssetTrack.AssociationType.chapterList.rawValue)
      tracks.append(chapters)
    }
    return (tracks, report)
  }

  private func failure(_ writer: AVAssetWriter) -> Failure {
    let reason = writer.error.map(Failure.describe) ?? "the writer gave no reason"
    return Failure(
      "cannot write '\(path)': \(reason)", lacksRoom: writer.error.map(Failure.lacksRoom) ?? false)
  }

  /// Hands samples to one input whenever it can take them, until there are no more.
  /// - Parameter whenFull: told when the input takes no more for now (true), and when it does again.
  private func feed(
    _ input: AVAssetWriterInput, of writer: AVAssetWriter,
    whenFull: @escaping @Sendable (Bool) -> Void = { _ in },
    _ next: @escaping @Sendable () throws -> CMSampleBuffer?
  ) async throws {
    let queue = DispatchQueue(label: "vtencode.\(input.mediaType.rawValue)")
    let end = OneTimeResult()
    // A writer that failed on one track never asks for the other again.
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        end.attach(continuation)
        input.requestMediaDataWhenReady(on: queue) {
          do {
            whenFull(false)
            while input.isReadyForMoreMediaData {
              if isWholeOrNothing { try Interrupt.shared.check() }
              guard let sample = try next() else {
                input.markAsFinished()
                end.settle(.success(()))
                return
              }
              guard input.append(sample) else { throw failure(writer) }
            }
            if writer.status == .failed { throw failure(writer) }
            whenFull(true)
          } catch {
            input.markAsFinished()
            end.settle(.failure(error))
          }
        }
      }
    } onCancel: {
      end.settle(.failure(CancellationError()))
    }
  }
}

/// Hands the first of several results to whoever waits for one, now or later.
private final class OneTimeResult: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var result: Result<Void, any Error>?
  private var continuation: CheckedContinuation<Void, any Error>?

  func attach(_ waiting: CheckedContinuation<Void, any Error>) {
    let known = lock.withLock {
      if result == nil { continuation = waiting }
      return result
    }
    if let known { waiting.resume(with: known) }
  }

  func settle(_ new: Result<Void, any Error>) {
    let waiting = lock.withLock {
      defer { continuation = nil }
      guard result == nil else { return nil as CheckedContinuation<Void, any Error>? }
      result = new
      return continuation
    }
    waiting?.resume(with: new)
  }
}

/// Holds one element until it is taken, once.
private final class SingleElement<Element>: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
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
