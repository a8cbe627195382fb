// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Writes a movie with `AVAssetWriter`. The file gets its name when it is complete.
final class MovieOutput: Output, @unchecked Sendable {
  // Sendable: one task changes the properties, before `start`; the writer and its inputs have their
  // own locks.
  private let path: String
  private let type: AVFileType
  private let replaces: Bool
  /// The time in the source at which the movie begins.
  private let beginning: CMTime
  private let metadata: [AVMetadataItem]
  private let isFastStart: Bool
  private var pending: PendingFile?
  private var writer: AVAssetWriter?
  private var inputs: [AVAssetWriterInput] = []

  /// - Parameters:
  ///   - path: the movie file.
  ///   - type: its file type.
  ///   - replaces: whether an existing file may be replaced.
  ///   - beginning: the time in the source at which the movie begins.
  ///   - metadata: metadata of the whole movie.
  ///   - isFastStart: whether the index is moved to the front of the file.
  init(
    path: String, type: AVFileType, replaces: Bool, beginning: CMTime, metadata: [AVMetadataItem],
    isFastStart: Bool
  ) {
    (self.path, self.type, self.replaces, self.beginning) = (path, type, replaces, beginning)
    (self.metadata, self.isFastStart) = (metadata, isFastStart)
  }

  var name: String { "a .\((path as NSString).pathExtension) file" }
  let tracks = Set(OutputTrack.Kind.allCases)
  func plays(_ audio: CMFormatDescription) -> Bool { AudioTrackProperties.isPlayable(audio, in: type) }
  let isLive = false
  // The writer makes an edit list for the beginning.
  let beginsAtZero = false
  let backPressure = BackPressure.waits
  let outcomeOfInterruptedRun = "nothing was written"

  func open() throws {
    let pending = try PendingFile(for: path, replaces: replaces)
    self.pending = pending
    do {
      let writer = try AVAssetWriter(outputURL: URL(fileURLWithPath: pending.path), fileType: type)
      writer.shouldOptimizeForNetworkUse = isFastStart
      writer.metadata = metadata
      self.writer = writer
    } catch {
      throw Failure(
        "cannot write '\(path)': \(Failure.describe(error))", lacksRoom: Failure.lacksRoom(error))
    }
  }

  func add(_ track: OutputTrack) -> OutputTrack.ID? {
    guard let writer else { return nil }
    let input = Self.input(for: track)
    guard writer.canAdd(input) else { return nil }
    writer.add(input)
    if track.kind == .chapters, let video = inputs.first(where: { $0.mediaType == .video }) {
      video.addTrackAssociation(
        withTrackOf: input, type: AVAssetTrack.AssociationType.chapterList.rawValue)
    }
    inputs.append(input)
    return inputs.count - 1
  }

  private static func input(for track: OutputTrack) -> AVAssetWriterInput {
    let types: [OutputTrack.Kind: AVMediaType] = [
      .video: .video, .audio: .audio, .subtitles: .subtitle, .chapters: .text,
    ]
    let settings = track.encoding.map { encoding -> [String: Any] in
      [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: encoding.sampleRate,
        AVNumberOfChannelsKey: encoding.channels, AVEncoderBitRateKey: encoding.bitRate,
      ]
    }
    let input = AVAssetWriterInput(
      mediaType: types[track.kind] ?? .video, outputSettings: settings,
      sourceFormatHint: settings == nil ? track.format : nil)
    input.languageCode = track.languageCode
    input.marksOutputTrackAsEnabled = track.isEnabled
    input.transform = track.transform
    input.mediaTimeScale = track.timescale
    input.expectsMediaDataInRealTime = track.isPaced
    return input
  }

  func start() throws {
    guard let writer else { return }
    guard writer.startWriting() else { throw failure(writer) }
    writer.startSession(atSourceTime: beginning)
  }

  func append(
    to track: OutputTrack.ID, from next: @escaping @Sendable () throws -> CMSampleBuffer?,
    whenFull: @escaping @Sendable (Bool) -> Void
  ) async throws {
    guard let writer else { return }
    let input = inputs[track]
    let queue = DispatchQueue(label: "vtencode.\(input.mediaType.rawValue)")
    let end = OneTimeResult()
    // After a failure on one track, the writer never asks for samples of the others, so waiting
    // calls are cancelled.
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        end.attach(continuation)
        input.requestMediaDataWhenReady(on: queue) { [self] in
          do {
            whenFull(false)
            while input.isReadyForMoreMediaData {
              guard let sample = try next() else {
                input.markAsFinished()
                end.complete(.success(()))
                return
              }
              guard input.append(sample) else { throw failure(writer) }
            }
            if writer.status == .failed { throw failure(writer) }
            whenFull(true)
          } catch {
            input.markAsFinished()
            end.complete(.failure(error))
          }
        }
      }
    } onCancel: {
      end.complete(.failure(CancellationError()))
    }
  }

  func finish() async throws {
    guard let writer else { return }
    await writer.finishWriting()
    guard writer.status == .completed else { throw failure(writer) }
  }

  func publish(isPart: Bool) throws -> OutputResult {
    guard let pending else { return OutputResult() }
    let bytes = (try? FileManager.default.attributesOfItem(atPath: pending.path)[.size] as? NSNumber)?
      .intValue
    return OutputResult(fileBytes: bytes ?? 0, path: try pending.commit(isPart: isPart))
  }

  func abandon() {
    if let writer, writer.status == .writing { writer.cancelWriting() }
    pending?.discard()
  }

  private func failure(_ writer: AVAssetWriter) -> Failure {
    let reason = writer.error.map(Failure.describe) ?? "the writer gave no reason"
    return Failure(
      "cannot write '\(path)': \(reason)", lacksRoom: writer.error.map(Failure.lacksRoom) ?? false)
  }
}

/// Resumes a continuation with the first of several results, whichever of the two comes first.
private final class OneTimeResult: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
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

  func complete(_ new: Result<Void, any Error>) {
    let waiting = lock.withLock {
      defer { continuation = nil }
      guard result == nil else { return nil as CheckedContinuation<Void, any Error>? }
      result = new
      return continuation
    }
    waiting?.resume(with: new)
  }
}
