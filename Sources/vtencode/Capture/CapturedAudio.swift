// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// Audio that is captured with pictures, on their time line. It is read on a thread of its own,
/// so that no device has to wait for an output.
final class CapturedAudio: @unchecked Sendable {
  // Sendable: `condition` guards what the threads share; the reading thread alone uses the input
  // and the clock until it has ended.
  /// The most audio that waits to be taken, in frames: five seconds. More of it waits in the
  /// device.
  private static let capacity = 5 * PCMFormat.rate
  /// The time without audio after which a device counts as gone, in parts of half a second.
  private static let patience = 10

  /// The name of the source.
  let name: String
  let channels: Int
  private let input: any AudioInput
  private let condition = MonotonicCondition()
  private var pieces: [(data: Data, position: Int64)] = []
  private var waiting = 0
  private var hasBegun = false
  private var isFinished = false
  private var isStopped = false
  private var failureText: String?
  private var clock = CaptureClock()
  private var losses = (gaps: 0, frames: Int64(0))

  /// Opens a source.
  /// - Throws: a `Failure` if it cannot be used.
  convenience init(_ source: AudioSource) throws {
    self.init(try source.open(), name: source.name)
  }

  init(_ input: any AudioInput, name: String) {
    (self.input, self.name, channels) = (input, name, input.channels)
  }

  /// Begins to record. Later calls have no effect.
  /// - Parameter origin: the time of the pictures' beginning by `SessionTime`, which is position 0.
  func begin(at origin: Double) {
    let isFirst = condition.withLock {
      defer { hasBegun = true }
      return !hasBegun && !isStopped
    }
    guard isFirst else { return }
    // Nobody waits for this thread: a device that has hung up would hold it. It needs none of
    // Swift's cooperative threads, which those who wait for the audio may block.
    let code = WorkerThread.start("microphone") { [self] in
      do {
        try record(from: origin)
        end("\(name) has ended")
      } catch {
        end((error as? Failure)?.message ?? Failure.describe(error))
      }
    }
    if code != 0 { end(ResourceLimits.noThread(code).message) }
  }

  private func record(from origin: Double) throws {
    while let piece = try input.read() {
      let frames = piece.data.count / 4 / channels
      let captured = piece.captured.map { Int64((($0 - origin) * Double(PCMFormat.rate)).rounded()) }
      let (position, stretch) = clock.place(frames: frames, captured: captured)
      if stretch != 0 { input.stretch(by: stretch * max(frames / 1000, 1), over: max(frames, 1000)) }
      let continues = condition.withLock {
        losses = (clock.gaps, clock.lostFrames)
        while waiting >= Self.capacity, !isStopped { condition.wait() }
        guard !isStopped else { return false }
        pieces.append((piece.data, position))
        waiting += frames
        condition.broadcast()
        return true
      }
      guard continues else { return }
    }
  }

  private func end(_ reason: String) {
    condition.withLock {
      if !isFinished, !isStopped, !Interrupt.shared.isRequested { failureText = reason }
      isFinished = true
      condition.broadcast()
    }
  }

  /// Waits for audio.
  /// - Returns: the samples, and the place of the first frame on the time line, in frames; nil when
  ///   the source has ended or `stop` was called.
  func next() -> (data: Data, position: Int64)? {
    condition.withLock {
      var idle = 0
      while pieces.isEmpty, !isFinished, !isStopped {
        // Several waits, so that a process that was stopped meanwhile does not blame the device.
        if !hasBegun {
          condition.wait()
        } else if !condition.wait(untilSessionTime: SessionTime.now + 0.5) {
          idle += 1
          guard idle < Self.patience else {
            failureText = "\(name) has given no audio for \(Self.patience / 2) s"
            isFinished = true
            break
          }
        }
      }
      guard !isStopped, !pieces.isEmpty else { return nil }
      let piece = pieces.removeFirst()
      waiting -= piece.data.count / 4 / channels
      condition.broadcast()
      return piece
    }
  }

  /// Ends recording and all waits.
  func stop() {
    condition.withLock {
      isStopped = true
      condition.broadcast()
    }
  }

  /// Why there is no more audio; nil if it has not ended by itself.
  var failure: String? { condition.withLock { failureText } }

  /// A description of lost audio for the summary; nil if none was lost.
  var remark: String? {
    let (losses, failure) = condition.withLock { (self.losses, failureText) }
    var parts: [String] = []
    if losses.gaps > 0 {
      let seconds = TextFormat.fixed(Double(losses.frames) / Double(PCMFormat.rate), 2)
      parts.append("\(TextFormat.plural(losses.gaps, "gap")) of \(seconds) s in all filled with silence")
    }
    if let failure { parts.append("silence since the source ended: \(failure)") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
