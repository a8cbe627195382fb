// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import RealTimeTransport

/// A frame that was decoded, for whoever shows it.
struct Shown {
  var frame: MediaReceiver.Frame
  var picture: CVPixelBuffer
  /// When it was decoded, and when its picture was taken, in seconds of `SessionTime`; nil before that is known.
  var time: Double
  var captured: Double?
}

/// What becomes of the frames that a receiver gives out: they are decoded, timed, and written.
final class ReceivedOutput {
  private let place: ReceivedFile.Place?
  private let mostFrames: Int
  private let decoder = CallDecoder()
  private var file: ReceivedFile?
  /// The last frame's, and its time from the first, in seconds: the stamp wraps after some hours.
  private var stamp: (rtp: UInt32, time: Double)?
  private var lastTime = -1.0
  private(set) var frames = 0
  private var numbers: (first: Int64, last: Int64)?
  private var unsettled: [Shown] = []
  private(set) var keyFrames = 0
  private(set) var log = ArrivalLog()

  init(_ place: ReceivedFile.Place?, mostFrames: Int) {
    self.place = place
    self.mostFrames = mostFrames
  }

  var isFull: Bool { frames >= mostFrames }
  /// Frames that the sender sent from the first to the last that came.
  var sentCount: Int { numbers.map { Int($0.last - $0.first) + 1 } ?? 0 }

  /// Takes a frame; what comes behind the last that is wanted is left out.
  /// - Returns: False if it cannot be decoded.
  func take(_ frame: MediaReceiver.Frame) throws -> Bool {
    guard !isFull else { return true }
    let before = stamp ?? (frame.timestamp, 0)
    let time = before.time + Double(Int32(bitPattern: frame.timestamp &- before.rtp)) / MediaClock.rtpRate
    let decoded: (picture: CVPixelBuffer, sample: CMSampleBuffer)?
    do {
      decoded = try decoder.decodeSample(
        frame.units, time: time, isSync: frame.descriptor.isKeyFrame)
    } catch is Failure {
      // What comes from outside ends no session.
      return false
    }
    guard let decoded else { return false }
    let now = SessionTime.now
    stamp = (frame.timestamp, time)
    numbers = (numbers?.first ?? frame.number, frame.number)
    frames += 1
    keyFrames += frame.descriptor.isKeyFrame ? 1 : 0
    unsettled.append(Shown(frame: frame, picture: decoded.picture, time: now))
    if let place, time > lastTime {
      if file == nil, let format = decoded.sample.formatDescription {
        file = try ReceivedFile(place, format: format)
      }
      try file?.append(decoded.sample)
      lastTime = time
    }
    return true
  }

  /// Works out how old the pictures were that were decoded since the last time, and shows them.
  func settle(_ captureTime: (UInt32) -> Double?, show: (Shown) throws -> Void) rethrows {
    defer { unsettled.removeAll(keepingCapacity: true) }
    for var shown in unsettled {
      shown.captured = captureTime(shown.frame.timestamp).flatMap {
        ArrivalLog.plausibleDelays.contains(shown.time - $0) ? $0 : nil
      }
      log.add(at: shown.time, delay: shown.captured.map { shown.time - $0 })
      try show(shown)
    }
  }

  /// - Returns: The name of the file; nil if there is none.
  func finish() async throws -> String? { try await file?.finish() }
}
