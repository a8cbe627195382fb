import AVFoundation
import Foundation

/// Writes a movie through AVAssetWriter: the encoded samples as they are, and the source's sound beside them.
struct MovieSink: SampleSink {
  let path: String
  let type: AVFileType
  let source: MovieSource
  let plan: EncodingPlan
  let gate: SoundGate

  func write(_ samples: BoundedQueue<CMSampleBuffer>) async throws -> SinkReport {
    // The file's header needs the codec's parameter sets, which come with the first sample.
    guard let first = try await onThread("first sample", { try samples.pop() }) else { return SinkReport() }
    let pending = try PendingFile(for: path)
    defer { pending.discard() }
    let writer = try makeWriter(pending.path)
    let video = makeVideoInput(format: first.formatDescription)
    guard writer.canAdd(video) else { throw Failure("a .\(ending) file cannot hold this video; try .mov") }
    writer.add(video)
    let sound = try makeSound(for: writer)
    guard writer.startWriting() else { throw failure(writer) }
    writer.startSession(atSourceTime: .zero)

    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let waiting = SingleElement(first)
          try await feed(video, of: writer) { try waiting.take() ?? samples.pop() }
        }
        if let sound {
          group.addTask { try await feed(sound.input, of: writer) { try sound.next() } }
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
    try pending.commit()
    return SinkReport(fileBytes: bytes ?? 0, keptSound: sound != nil)
  }

  private var ending: String { (path as NSString).pathExtension }

  private func makeWriter(_ path: String) throws -> AVAssetWriter {
    do {
      return try AVAssetWriter(outputURL: URL(fileURLWithPath: path), fileType: type)
    } catch {
      throw Failure("cannot write '\(self.path)': \(Failure.describe(error))")
    }
  }

  private func makeVideoInput(format: CMFormatDescription?) -> AVAssetWriterInput {
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: format)
    input.transform = source.transform
    // Times are kept to the tick.
    input.mediaTimeScale = source.timescale
    input.expectsMediaDataInRealTime = plan.isPaced
    return input
  }

  private func makeSound(for writer: AVAssetWriter) throws -> SoundTrack? {
    guard plan.keepsSound, let track = source.sound else { return nil }
    let sound = try SoundTrack(source, track: track, gate: gate)
    guard writer.canAdd(sound.input) else {
      throw Failure(
        "a .\(ending) file cannot hold the movie's sound; write a .mov, or leave it out with --no-audio")
    }
    writer.add(sound.input)
    return sound
  }

  private func failure(_ writer: AVAssetWriter) -> Failure {
    let reason = writer.error.map(Failure.describe) ?? "the writer gave no reason"
    return Failure("cannot write '\(path)': \(reason)")
  }

  /// Hands samples to one input whenever it can take them, until there are no more.
  private func feed(
    _ input: AVAssetWriterInput, of writer: AVAssetWriter,
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
            while input.isReadyForMoreMediaData {
              guard let sample = try next() else {
                input.markAsFinished()
                end.settle(.success(()))
                return
              }
              guard input.append(sample) else { throw failure(writer) }
            }
            if writer.status == .failed { throw failure(writer) }
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
  private let lock = NSLock()
  private var result: Result<Void, any Error>?
  private var continuation: CheckedContinuation<Void, any Error>?

  func attach(_ waiting: CheckedContinuation<Void, any Error>) {
    lock.lock()
    let known = result
    if known == nil { continuation = waiting }
    lock.unlock()
    if let known { waiting.resume(with: known) }
  }

  func settle(_ new: Result<Void, any Error>) {
    lock.lock()
    let waiting = result == nil ? continuation : nil
    if result == nil { result = new }
    continuation = nil
    lock.unlock()
    waiting?.resume(with: new)
  }
}

/// The source's sound, copied as it is stored.
private final class SoundTrack: @unchecked Sendable {
  let input: AVAssetWriterInput
  private let source: MovieSource
  private let reader: AVAssetReader
  private let output: AVAssetReaderTrackOutput
  private let gate: SoundGate

  init(_ source: MovieSource, track: AVAssetTrack, gate: SoundGate) throws {
    self.source = source
    self.gate = gate
    do {
      // A reader of its own: the two tracks are read at different paces.
      reader = try AVAssetReader(asset: source.asset)
    } catch {
      throw source.failure(error)
    }
    output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    guard reader.canAdd(output) else {
      throw Failure("the sound cannot be read; leave it out with --no-audio")
    }
    reader.add(output)
    input = AVAssetWriterInput(mediaType: .audio, outputSettings: nil, sourceFormatHint: source.soundFormat)
    input.expectsMediaDataInRealTime = false
    guard reader.startReading() else { throw source.failure(reader.error) }
  }

  func next() throws -> CMSampleBuffer? {
    guard let sample = output.copyNextSampleBuffer() else {
      if reader.status == .failed { throw source.failure(reader.error) }
      return nil
    }
    guard gate.admits(sample.presentationTimeStamp) else {
      reader.cancelReading()
      return nil
    }
    return sample
  }
}

/// Holds one element until it is taken, once.
private final class SingleElement<Element>: @unchecked Sendable {
  private let lock = NSLock()
  private var element: Element?

  init(_ element: Element) { self.element = element }

  func take() -> Element? {
    lock.lock()
    defer {
      element = nil
      lock.unlock()
    }
    return element
  }
}
