// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport

/// Decodes the audio of a session, and puts it on the time line of the received pictures.
final class ReceivedAudio {
  /// A picture by which the audio is placed.
  struct Anchor {
    /// Its time in the movie in seconds, and when it was decoded, by `SessionTime`.
    var time: Double
    var decoded: Double
    /// When it was taken, as the sender's NTP time; nil if the sender has not reported it.
    var captured: UInt64?
  }

  /// How long the sender's reports are waited for. Later the times of arrival take their place.
  private static let patience = 3.0
  /// The largest difference between the time of audio and the time that has passed: further away is
  /// only what a sender makes up.
  private static let maxDeviation = 60.0
  /// The largest number of packets that wait for the first picture and the reports.
  private static let maxWaiting = 512

  private let decoding: OpusDecoding
  private var joiner = AudioJoiner(channels: OpusDecoding.channels)
  /// The packets without a place, and when they came, by `SessionTime`.
  private var waiting: [(packet: AudioReceiver.Packet, time: Double)] = []
  /// The first packet's position and arrival, by which later ones are placed without reports.
  private var first: (position: Int64, time: Double)?
  /// When the first picture was decoded.
  private var began: Double?

  init() throws { decoding = try OpusDecoding() }

  /// - Parameter time: the current time.
  func add(_ packets: [AudioReceiver.Packet], at time: Double) {
    waiting += packets.map { ($0, time) }
    if waiting.count > Self.maxWaiting { waiting.removeFirst(waiting.count - Self.maxWaiting) }
  }

  /// Takes the audio whose time is known.
  /// - Parameters:
  ///   - anchor: the last picture; nil if none has come.
  ///   - time: the current time.
  ///   - captureTime: the sender's NTP time of an RTP time stamp of the audio; nil if it is not
  ///     known.
  /// - Returns: the pieces, which follow each other, from the movie's beginning on.
  func take(
    _ anchor: Anchor?, at time: Double, captureTime: (UInt32) -> UInt64?
  ) -> [AudioJoiner.Piece] {
    guard let anchor else { return [] }
    began = began ?? anchor.decoded - anchor.time
    var pieces: [AudioJoiner.Piece] = []
    while let (packet, arrival) = waiting.first {
      let seconds: Double
      if let captured = anchor.captured, let taken = captureTime(packet.timestamp) {
        seconds = anchor.time + Double(Int64(bitPattern: taken &- captured)) / 4_294_967_296
      } else if time - arrival > Self.patience || first != nil {
        let start = first ?? (packet.position, arrival)
        first = start
        seconds =
          start.time - (began ?? start.time) + Double(packet.position - start.position) / AudioSender.rtpRate
      } else {
        break
      }
      waiting.removeFirst()
      guard abs(seconds - (arrival - (began ?? arrival))) < Self.maxDeviation else { continue }
      let position = Int64((seconds * AudioSender.rtpRate).rounded())
      if let piece = joiner.add(decoding.decode(packet.payload), at: position) { pieces.append(piece) }
    }
    return pieces
  }
}
