// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads and encodes the audio of a call on a thread of its own, and gives its packets out at their
/// times.
final class AudioPump: @unchecked Sendable {
  // Sendable: `condition` guards what the threads share; only the audio's thread uses the rest.
  /// The longest time on the audio's time line in seconds.
  private static let longest = 1e8

  private let audio: any CallAudio
  private let encoding: OpusEncoding
  private let send: @Sendable (OpusPacket, _ captured: Double) -> Void
  private let condition = NSCondition()
  /// When the pictures' time 0 is, by `SessionTime`.
  private var origin: Double?
  private var isStopped = false
  private var hasEnded = true
  private var error: String?

  /// - Parameters:
  ///   - audio: the audio.
  ///   - maxRate: the highest bit rate that the other end wants, in bits a second; nil for none.
  ///   - send: is given each packet, with the time by `SessionTime` when its first sample was
  ///     taken.
  /// - Throws: a `Failure` if it cannot be encoded.
  init(
    _ audio: any CallAudio, maxRate: Int?, send: @escaping @Sendable (OpusPacket, _ captured: Double) -> Void
  ) throws {
    self.audio = audio
    self.send = send
    encoding = try OpusEncoding(channels: audio.channels, maxRate: maxRate)
  }

  /// Begins.
  /// - Parameter origin: when the pictures' time 0 is, by `SessionTime`.
  func start(at origin: Double) {
    condition.lock()
    defer { condition.unlock() }
    guard self.origin == nil, !isStopped else { return }
    self.origin = origin
    hasEnded = false
    audio.begin(at: origin)
    Task.detached { [self] in
      do { try await onThread("audio") { [self] in try run(from: origin) } } catch {
        end(error: (error as? Failure)?.message ?? Failure.describe(error))
      }
      end(error: nil)
    }
  }

  /// Ends, and waits until no packet comes any more.
  func stop() {
    condition.lock()
    defer { condition.unlock() }
    isStopped = true
    audio.stop()
    while !hasEnded { condition.wait() }
  }

  /// Why the audio ended before its end; nil if it did not.
  var failure: String? {
    condition.lock()
    defer { condition.unlock() }
    return error
  }

  private func end(error: String?) {
    condition.lock()
    defer { condition.unlock() }
    if let error { self.error = error }
    hasEnded = true
    condition.broadcast()
  }

  private var mustStop: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isStopped || Interrupt.shared.isRequested
  }

  private func run(from origin: Double) throws {
    while !mustStop, let (data, time) = try audio.next() {
      guard abs(time) < Self.longest else { continue }
      let position = Int64((time * Double(OpusEncoding.rate)).rounded())
      for packet in try encoding.encode(data, at: position) {
        let captured = origin + Double(packet.position) / Double(OpusEncoding.rate)
        while SessionTime.now < captured, !mustStop {
          SessionTime.sleep(until: min(captured, SessionTime.now + 0.1))
        }
        guard !mustStop else { return }
        send(packet, captured)
      }
    }
  }
}
