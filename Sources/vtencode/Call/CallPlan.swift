// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// All that a simulated call depends on.
struct CallPlan: Sendable {
  /// That the shortest stretch of time with a limit holds: of five, ten a second queue for half a second where the line
  /// grows narrow.
  static let windowFrames = 3.0

  var width: Int
  var height: Int
  var frameRate: Double
  /// Frames to send; nil is all of the movie.
  var frameLimit: Int?

  var recovery = RecoveryMode.ltr
  /// Lost packets are sent once more when the receiver asks for them.
  var retransmits = false
  /// Bits a second that the encoder is asked for; nil follows the bandwidth.
  var bitRate: Int?
  /// Share of the bandwidth that the encoder is given when it follows it.
  var utilisation = 0.85
  /// Seconds in which the encoder may send no more than the line carries meanwhile; nil is no limit.
  var window: Double?
  /// The base layer alone has half of the frames.
  var hasLayers = false
  var baseLayerBitRateFraction: Double?
  var maximumQP: Int?
  /// Frames in which an intra refresh passes over the picture.
  var intraRefreshFrames = 30
  /// References that the session may keep; nil leaves it to the encoder.
  var referenceCount: Int?
  /// Nil is the encoder of the low-latency mode.
  var encoderID: String?
  var effort: Int?
  /// One, so that the result is the same on every machine.
  var threads = 1

  /// Largest RTP packet, header included.
  var packetSize = 1200
  var link: NetworkLink.Configuration
  /// The second receiver's line, if there is one.
  var bottleneck: BandwidthSchedule?
  var feedbackLoss = LossModel.none
  var seed: UInt64 = 1

  /// The packets of the first receiver are kept.
  var keepsPackets = false
  /// The frames that the first receiver decoded are kept.
  var keepsFrames = false
  /// The pictures shown are compared with the source.
  var measuresQuality = true

  /// Of IPv4 and UDP.
  static let datagramHeaderSize = 28

  /// A call, at first with a window that is short, and holds some frames.
  init(width: Int, height: Int, frameRate: Double, link: NetworkLink.Configuration) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.link = link
    window = max(0.25, CallPlan.windowFrames / max(frameRate, 0.1))
  }

  /// For invalidation: what was sent while the word of a loss came back, and something older.
  mutating func chooseReferenceCount() {
    guard recovery == .invalidate else { return }
    referenceCount = min(Int((2 * link.delay + link.jitter) * frameRate) + 3, 16)
  }

  var encoderSettings: CallEncoder.Settings {
    var settings = CallEncoder.Settings(
      width: width, height: height, frameRate: frameRate, rate: rate(at: 0), mostRate: mostRate(at: 0))
    settings.recovery = recovery
    settings.id = encoderID
    // In real time the effort would follow this machine: the same seed is to give the same call.
    settings.effort = effort ?? 3
    settings.threads = threads
    settings.maximumQP = maximumQP
    settings.measuresQuality = measuresQuality
    settings.hasLayers = hasLayers
    settings.baseLayerBitRateFraction = baseLayerBitRateFraction
    settings.intraRefreshFrames = intraRefreshFrames
    settings.referenceCount = referenceCount
    settings.window = window
    return settings
  }

  /// Bits a second that the encoder is asked for at a time.
  func rate(at time: Double) -> Int { bitRate ?? Int((knownBandwidth(at: time) * utilisation).rounded()) }

  /// The same where repair takes some of the line: what is left of it, half of the rate at least.
  func rate(at time: Double, resentRate: Double) -> Int {
    let rate = rate(at: time)
    return max(min(rate, mostRate(at: time) - Int(resentRate)), rate / 2)
  }

  /// Bits a second that the line carries without headers, and the encoder may send in the short run.
  func mostRate(at time: Double) -> Int { max(rate(at: time), Int(knownBandwidth(at: time) * 0.94)) }

  /// The sender learns of a new bandwidth a round trip later.
  private func knownBandwidth(at time: Double) -> Double {
    link.bandwidth.rate(at: max(time - 2 * link.delay, 0))
  }
}
