// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// The results of a call, for the summary, the report and the tables.
struct CallRecord: Sendable {
  /// The result of a picture at the sender.
  struct Frame: Sendable {
    /// The time in seconds since the first picture.
    var time: Double
    /// The target bit rate in bits a second.
    var rate: Int
    /// Whether rate control dropped the frame, which then has no frame number.
    var isDropped = false
    var bytes = 0
    var isKeyFrame = false
    /// Whether the frame was encoded to recover from a loss.
    var isRepair = false
    var layer = 0
    var averageQP: Double?
    var highestQP: Int?
    /// The PSNR in decibels as the encoder reports it.
    var quality: Double?
  }

  /// The result of a picture at a receiver. There is an entry for each of the sender's pictures.
  struct Shown: Sendable {
    /// When the picture was shown, in seconds; nil if it never was.
    var time: Double?
    /// The PSNR in decibels of what the receiver shows at this picture's time, which is the
    /// previous picture if this one never came.
    var quality: Double?
    /// Whether the frame was dropped because the link was too slow.
    var isDroppedForLink = false
    /// Whether the picture's PSNR differs from the encoder's, so that the decoded picture is
    /// another one.
    var isDamaged = false
    /// How long the last packet of the frame waits before the link, in seconds.
    var queueingDelay = 0.0
  }

  struct Receiver: Sendable {
    var name: String
    var shown: [Shown] = []
    var decoded = 0
    /// Complete frames that could not be decoded although all their references had been received.
    var decodeErrors = 0
    /// Frames that were received and not decoded because of a missing reference.
    var unusable = 0
    /// Frames with missing packets.
    var incomplete = 0
    var packets = 0
    var lostPackets = 0
    var droppedPackets = 0
    var malformedPackets = 0
    var requests = 0
    /// The packets that were requested again. The following properties count those that were sent
    /// again, and those that then arrived.
    var requestedPackets = 0
    var resentPackets = 0
    var resentBytes = 0
    var recoveredPackets = 0
    var acknowledgements = 0
    /// The NAL units of each decoded frame, if the plan keeps them.
    var frames: [[[UInt8]]] = []
    var bandwidth: BandwidthSchedule
  }

  var encoderID = ""
  var frameRate = 30.0
  var frames: [Frame] = []
  var receivers: [Receiver] = []
  var packets: [CapturedPacket] = []
  var parameterSets: [[UInt8]] = []

  var duration: Double { (frames.last?.time ?? 0) + 1 / frameRate }
}

// MARK: - Figures

extension CallRecord {
  var sent: [Frame] { frames.filter { !$0.isDropped } }
  var bits: Int { frames.reduce(0) { $0 + $1.bytes } * 8 }
  var rate: Double { Double(bits) / max(duration, 1e-9) }
  var repairs: [Frame] { frames.filter(\.isRepair) }
  /// The bits of the frames that were encoded to recover from a loss.
  var repairBits: Int { repairs.reduce(0) { $0 + $1.bytes } * 8 }

  /// The mean size in bytes of the frames that are neither key frames nor repairs.
  var typicalSize: Double {
    let others = sent.filter { !$0.isKeyFrame && !$0.isRepair }
    return others.isEmpty ? 0 : Double(others.reduce(0) { $0 + $1.bytes }) / Double(others.count)
  }

  /// A period during which a receiver's picture did not change for too long, in seconds.
  struct Freeze: Sendable {
    var start: Double
    var end: Double
    var length: Double { end - start }
  }

  /// The freezes as WebRTC's statistics define them: an interval between pictures longer than three
  /// frame intervals and than one frame interval plus 150 ms.
  func freezes(of receiver: Receiver) -> [Freeze] {
    let interval = 1 / frameRate
    let limit = max(3 * interval, interval + 0.15)
    let times = receiver.shown.compactMap(\.time).sorted()
    // If nothing was ever shown, the whole call is one freeze.
    if times.isEmpty, let first = frames.first, let last = frames.last {
      return [Freeze(start: first.time, end: last.time + interval)]
    }
    return zip(times, times.dropFirst()).compactMap { a, b in
      b - a > limit ? Freeze(start: a, end: b) : nil
    }
  }

  /// The time from capturing to showing each picture that was shown, in seconds.
  func delays(of receiver: Receiver) -> [Double] {
    zip(frames, receiver.shown).compactMap { frame, shown in shown.time.map { $0 - frame.time } }
  }

  /// The mean PSNR in decibels of what a receiver shows for each picture of the source; nil if none
  /// was measured.
  func quality(of receiver: Receiver) -> Double? {
    let all = receiver.shown.compactMap(\.quality)
    return all.isEmpty ? nil : all.reduce(0, +) / Double(all.count)
  }

  /// The value that a given fraction of the values does not exceed; nil if there are none.
  static func quantile(_ fraction: Double, of values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    return sorted[
      min(Int((fraction * Double(sorted.count)).rounded(.up)) - 1, sorted.count - 1).clampedToZero]
  }
}

extension Int {
  fileprivate var clampedToZero: Int { Swift.max(self, 0) }
}
