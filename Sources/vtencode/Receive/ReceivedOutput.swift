// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import RealTimeTransport

/// A decoded frame for those that show it.
struct Shown {
  var frame: MediaReceiver.Frame
  var picture: CVPixelBuffer
  /// The times of decoding and of capture in seconds of `SessionTime`; the latter is nil if it is
  /// not known.
  var time: Double
  var captured: Double?
}

/// Decodes the frames of a receiver, determines their times, and writes them to the file.
final class ReceivedOutput {
  private let place: ReceivedFile.Place?
  private let maxFrames: Int
  private var decoder: CallDecoder
  /// The audio; nil if none is expected.
  var audio: ReceivedAudio?
  private var file: ReceivedFile?
  /// The last frame's RTP time stamp, and its time in seconds since the first frame. The time stamp
  /// wraps around after some hours.
  private var stamp: (rtp: UInt32, time: Double)?
  private var lastDecoded = 0.0
  private var lastTime = -1.0
  private(set) var frames = 0
  private var numbers: (first: Int64, last: Int64)?
  private var unshown: [Shown] = []
  private(set) var keyFrames = 0
  private(set) var log = ArrivalLog()

  init(_ place: ReceivedFile.Place?, maxFrames: Int) {
    self.place = place
    self.maxFrames = maxFrames
    decoder = CallDecoder(.h264)
  }

  /// Prepares for frames of a codec; without this they are H.264.
  func expect(_ codec: VideoCodec) { decoder = CallDecoder(codec) }

  var isFull: Bool { frames >= maxFrames }
  /// The number of frames that were sent between the first and the last one received, both
  /// included.
  var sentCount: Int { numbers.map { Int($0.last - $0.first) + 1 } ?? 0 }

  /// Decodes a frame and writes it. Frames beyond the number that the user asked for are ignored.
  /// - Returns: false if it cannot be decoded.
  /// - Throws: a `Failure` if the file cannot be written.
  func decode(_ frame: MediaReceiver.Frame) throws -> Bool {
    guard !isFull else { return true }
    let before = stamp ?? (frame.timestamp, 0)
    let time = before.time + Double(Int32(bitPattern: frame.timestamp &- before.rtp)) / MediaClock.rtpRate
    let decoded: (picture: CVPixelBuffer, sample: CMSampleBuffer)?
    do {
      decoded = try decoder.decodeSample(
        frame.units, time: time, isSync: frame.descriptor.isKeyFrame)
    } catch is Failure {
      // Invalid parameter sets from the network do not end the session.
      return false
    }
    guard let decoded else { return false }
    let now = SessionTime.now
    stamp = (frame.timestamp, time)
    lastDecoded = now
    numbers = (numbers?.first ?? frame.number, frame.number)
    frames += 1
    keyFrames += frame.descriptor.isKeyFrame ? 1 : 0
    unshown.append(Shown(frame: frame, picture: decoded.picture, time: now))
    if let place, time > lastTime {
      if file == nil, let format = decoded.sample.formatDescription {
        file = try ReceivedFile(place, format: format, hasAudio: audio != nil)
      }
      try file?.append(decoded.sample)
      lastTime = time
    }
    return true
  }

  /// Whether the file has the audio; nil without a file.
  var writesAudio: Bool? { place == nil ? nil : file?.hasAudio ?? false }

  /// Decodes audio, and writes what has a place with the pictures.
  /// - Parameters:
  ///   - packets: what came since the last call.
  ///   - pictureTime: the sender's NTP time of an RTP time stamp of the pictures; nil if it is not
  ///     known.
  ///   - audioTime: the same of the audio.
  /// - Throws: a `Failure` if the file cannot be written.
  func take(
    _ packets: [AudioReceiver.Packet], pictureTime: (UInt32) -> UInt64?, audioTime: (UInt32) -> UInt64?
  ) throws {
    guard let audio, place != nil else { return }
    let now = SessionTime.now
    audio.add(packets, at: now)
    let anchor = stamp.map {
      ReceivedAudio.Anchor(time: $0.time, decoded: lastDecoded, captured: pictureTime($0.rtp))
    }
    for piece in audio.take(anchor, at: now, captureTime: audioTime) { try file?.append(piece) }
  }

  /// Determines the capture times of the pictures decoded since the last call, and shows them.
  /// - Parameters:
  ///   - captureTime: converts an RTP time stamp to seconds of `SessionTime`; nil if that is not
  ///     yet possible.
  ///   - show: shows a picture.
  func showDecoded(_ captureTime: (UInt32) -> Double?, show: (Shown) throws -> Void) rethrows {
    defer { unshown.removeAll(keepingCapacity: true) }
    for var shown in unshown {
      shown.captured = captureTime(shown.frame.timestamp).flatMap {
        ArrivalLog.plausibleDelays.contains(shown.time - $0) ? $0 : nil
      }
      log.add(at: shown.time, delay: shown.captured.map { shown.time - $0 })
      try show(shown)
    }
  }

  /// Completes the file.
  /// - Returns: its path; nil if there is none.
  func finish() async throws -> String? { try await file?.finish() }
}
