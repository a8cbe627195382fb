// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import UniformTypeIdentifiers

/// The functions that inputs call.
extension AVAssetWriter {
  func fail(_ error: AVError) {
    let isFirst = lock.withLock {
      guard currentStatus == .unknown || currentStatus == .writing, !isNaming else { return false }
      currentStatus = .failed
      currentError = error
      return true
    }
    if isFirst { tearDown(keepsFragments: true) }
  }

  func tearDown(keepsFragments: Bool) {
    let assembly = lock.withLock {
      defer { currentAssembly = nil }
      return currentAssembly
    }
    // This may run on the encoder's own thread, so encoders are invalidated on another one: the
    // thread must not wait for itself.
    assembly?.abandon(keeps: keepsFragments)
    releaseEncoders()
  }

  func releaseEncoders() {
    for input in inputs {
      let encoder = input.lock.withLock {
        defer { input.state.encoder = nil }
        return input.state.encoder
      }
      if let encoder { queue.async { encoder.invalidate() } }
      input.writerEnded()
    }
  }

  /// The source time at which the movie begins.
  /// - Throws: `AVError` if samples cannot be appended now: the writer is not writing, the session
  ///   has not started, or it has ended.
  func sessionStartForAppending(_ input: AVAssetWriterInput) throws -> CMTime {
    let (status, session, error) = lock.withLock { (currentStatus, self.session, currentError) }
    guard status == .writing else {
      throw error
        ?? AVError(.operationNotAllowed, reason: "A sample was appended while the writer was not writing.")
    }
    guard let start = session.start else {
      throw AVError(
        .operationNotAllowed, reason: "A sample was appended before startSession(atSourceTime:).",
        advice: "Start a session first, usually at the first sample's presentation time.")
    }
    guard session.end == nil else {
      throw AVError(.operationNotAllowed, reason: "A sample was appended after endSession(atSourceTime:).")
    }
    return start
  }

  /// Makes `finishWriting` wait for an input that is being marked as finished, until
  /// `inputFinished` is called. Takes no lock, since the caller holds the input's lock.
  func inputWillFinish() { finishing.enter() }

  /// Completes the encoder and the track of an input, after `inputWillFinish` was called.
  func inputFinished(_ input: AVAssetWriterInput) {
    guard let assembly, let track = input.track, status == .writing else { return finishing.leave() }
    if let encoder = input.encoder {
      queue.async { [self] in
        defer { finishing.leave() }
        do {
          try encoder.complete()
          try assembly.finish(track)
        } catch { fail(AVError.writing(error)) }
      }
    } else {
      defer { finishing.leave() }
      do { try assembly.finish(track) } catch { fail(AVError.writing(error)) }
    }
    wakeInputs()
  }

  /// Records that an input has taken samples up to a time on the movie's time line.
  func advance(_ input: AVAssetWriterInput, to time: CMTime) {
    lock.withLock {
      let id = ObjectIdentifier(input)
      positions[id] = max(positions[id] ?? time, time)
    }
    wakeInputs(except: input)
  }

  /// How far a track may run ahead of the other tracks.
  static let lead = CMTime(value: 1, timescale: 1)

  func isAhead(_ input: AVAssetWriterInput) -> Bool {
    // The dictionary is read under the lock. A copy of it would make the next change copy all
    // elements.
    let behind = lock.withLock { () -> [AVAssetWriterInput] in
      guard let own = positions[ObjectIdentifier(input)] else { return [] }
      return currentInputs.filter { other in
        // Text and metadata samples can be far apart, so other tracks do not wait for them.
        other !== input && !other.mediaType.isSparse
          && (positions[ObjectIdentifier(other)] ?? .zero) + Self.lead < own
      }
    }
    return behind.contains { !$0.isFinished }
  }

  func wakeInputs(except input: AVAssetWriterInput? = nil) {
    for other in inputs where other !== input { other.wake() }
  }

  /// Fragments are written before the duration of the last text sample is known, so text is refused
  /// in them.
  func checkText(_ plan: MovieAssembly.Plan) throws {
    guard plan.isSegmented || plan.options.isFragmented, inputs.contains(where: { $0.mediaType.isText })
    else {
      return
    }
    throw AVError(
      .incorrectlyConfigured, reason: "Text cannot be written into a movie in fragments or segments.",
      advice: "Leave movieFragmentInterval alone, or the text out.")
  }

  /// The interval at which encoders must put key frames so that segments can begin there; invalid
  /// if there are no segments.
  var keyFrameInterval: CMTime {
    isForSegments ? lock.withLock { properties.usedSegmentInterval } : .invalid
  }
  /// The source time from which the key frame interval is counted; invalid means the session's
  /// start.
  var segmentStart: CMTime { lock.withLock { properties.segmentStart } }

  var sessionStart: CMTime { lock.withLock { session.start ?? .zero } }
}
