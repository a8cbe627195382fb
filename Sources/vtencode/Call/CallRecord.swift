// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// What a call was, for the summary, the report and the tables.
struct CallRecord: Sendable {
  /// What became of a picture at the sender.
  struct Frame: Sendable {
    /// Seconds from the first.
    var time: Double
    /// Bits a second that the encoder was asked for.
    var rate: Int
    /// Rate control left it out; it has no number.
    var isDropped = false
    var bytes = 0
    var isKeyFrame = false
    /// It was made to get over a loss.
    var isRepair = false
    var layer = 0
    var averageQP: Double?
    var highestQP: Int?
    /// Decibels, as the encoder says.
    var quality: Double?
  }

  /// What a picture was at a receiver. One for each picture of the sender.
  struct Shown: Sendable {
    /// When it was shown, in seconds; nil if it never was.
    var time: Double?
    /// Decibels of what the receiver shows in its place: the picture before, if it never came.
    var quality: Double?
    /// Its frame was left out on the way, as the line was too slow.
    var isThinned = false
    /// It is not what the encoder says that it should be.
    var isDamaged = false
    /// Seconds that the last of its packets waits before the line.
    var queueingDelay = 0.0
  }

  struct Receiver: Sendable {
    var name: String
    var shown: [Shown] = []
    var decoded = 0
    /// Complete frames that the decoder refused although the receiver had all that they depend on.
    var decodeErrors = 0
    /// Frames that came and were of no use, since something before them was missing.
    var unusable = 0
    /// Frames of which packets were missing.
    var incomplete = 0
    var packets = 0
    var lostPackets = 0
    var droppedPackets = 0
    var malformedPackets = 0
    var requests = 0
    /// Packets that were asked for again, that were sent again, and that came then.
    var requestedPackets = 0
    var resentPackets = 0
    var resentBytes = 0
    var recoveredPackets = 0
    var acknowledgements = 0
    /// The NAL units of each frame that was decoded, if the plan keeps them.
    var frames: [[[UInt8]]] = []
    var bandwidth: BandwidthSchedule
  }

  var encoderID = ""
  var frameRate = 30.0
  var frames: [Frame] = []
  var receivers: [Receiver] = []
  var packets: [CapturedPacket] = []
  var sequenceParameterSets: [[UInt8]] = []
  var pictureParameterSets: [[UInt8]] = []

  var duration: Double { (frames.last?.time ?? 0) + 1 / frameRate }
}

// MARK: - Figures

extension CallRecord {
  var sent: [Frame] { frames.filter { !$0.isDropped } }
  var bits: Int { frames.reduce(0) { $0 + $1.bytes } * 8 }
  var rate: Double { Double(bits) / max(duration, 1e-9) }
  var repairs: [Frame] { frames.filter(\.isRepair) }
  /// Bits of the frames that were made to get over a loss.
  var repairBits: Int { repairs.reduce(0) { $0 + $1.bytes } * 8 }

  /// Mean bytes of frames that are neither key frames nor repairs.
  var usualSize: Double {
    let usual = sent.filter { !$0.isKeyFrame && !$0.isRepair }
    return usual.isEmpty ? 0 : Double(usual.reduce(0) { $0 + $1.bytes }) / Double(usual.count)
  }

  /// A stretch in which a receiver's picture stood still for too long, in seconds.
  struct Freeze: Sendable {
    var start: Double
    var end: Double
    var length: Double { end - start }
  }

  /// As WebRTC's statistics count them: three frames and 150 ms longer than usual, whichever is more.
  func freezes(of receiver: Receiver) -> [Freeze] {
    let interval = 1 / frameRate
    let limit = max(3 * interval, interval + 0.15)
    let times = receiver.shown.compactMap(\.time).sorted()
    // Of nothing that was ever shown the whole call stood still.
    if times.isEmpty, let first = frames.first, let last = frames.last {
      return [Freeze(start: first.time, end: last.time + interval)]
    }
    return zip(times, times.dropFirst()).compactMap { a, b in
      b - a > limit ? Freeze(start: a, end: b) : nil
    }
  }

  /// Seconds from the capture of each picture that was shown to its appearance.
  func delays(of receiver: Receiver) -> [Double] {
    zip(frames, receiver.shown).compactMap { frame, shown in shown.time.map { $0 - frame.time } }
  }

  /// Mean PSNR of what a receiver shows for each picture of the source.
  func quality(of receiver: Receiver) -> Double? {
    let all = receiver.shown.compactMap(\.quality)
    return all.isEmpty ? nil : all.reduce(0, +) / Double(all.count)
  }

  /// The value below which a share of all lies; nil if there is none.
  static func quantile(_ share: Double, of values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    return sorted[min(Int((share * Double(sorted.count)).rounded(.up)) - 1, sorted.count - 1).clampedToZero]
  }
}

extension Int {
  fileprivate var clampedToZero: Int { Swift.max(self, 0) }
}
