// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// The settings of a simulated call.
struct CallPlan: Sendable {
  /// The least length of the data rate limit's window, in frames. At five frames, low frame rates
  /// lead to long queues: at ten frames a second, half a second of frames waits when the bandwidth
  /// drops.
  static let windowFrames = 3.0

  var codec = Codec.avc1
  var width: Int
  var height: Int
  var frameRate: Double
  /// The number of frames to send; nil for the whole movie.
  var frameLimit: Int?

  var recovery = RecoveryMode.ltr
  /// Whether lost packets are sent again when the receiver requests them.
  var retransmits = false
  /// The target bit rate in bits a second; nil follows the bandwidth.
  var bitRate: Int?
  /// The target bit rate as a fraction of the bandwidth, if it follows the bandwidth.
  var utilisation = 0.85
  /// The length in seconds of the window in which the encoder may output no more than the link
  /// carries; nil sets no limit.
  var window: Double?
  /// Whether there are two temporal layers, of which the base layer has half of the frames.
  var hasLayers = false
  var baseLayerBitRateFraction: Double?
  var maximumQP: Int?
  /// The number of frames in which an intra refresh passes over the picture.
  var intraRefreshFrames = 30
  /// The number of reference pictures; nil leaves it to the encoder.
  var referenceCount: Int?
  /// The encoder's identifier; nil uses the low-latency encoder.
  var encoderID: String?
  var effort: Int?
  /// The number of the encoder's threads. The default is 1, so that the result is the same on every
  /// machine.
  var threads = 1

  /// The largest size of an RTP packet in bytes, including its header.
  var packetSize = 1200
  var link: NetworkLink.Configuration
  /// The bandwidth of the second receiver's link; nil if there is only one receiver.
  var bottleneck: BandwidthSchedule?
  var feedbackLoss = LossModel.none
  var seed: UInt64 = 1

  /// Whether the packets of the first receiver are kept.
  var keepsPackets = false
  /// Whether the frames that the first receiver decoded are kept.
  var keepsFrames = false
  /// Whether the pictures shown are compared with the source.
  var measuresQuality = true

  /// The size of the IPv4 and UDP headers in bytes.
  static let datagramHeaderSize = 28

  /// A call with default settings. The window is 250 ms, but at least three frames.
  init(width: Int, height: Int, frameRate: Double, link: NetworkLink.Configuration) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.link = link
    window = max(0.25, CallPlan.windowFrames / max(frameRate, 0.1))
  }

  /// Sets the number of references for recovery by invalidation: the frames sent during the round
  /// trip of a loss report, plus older ones, at most 16.
  mutating func chooseReferenceCount() {
    guard recovery == .invalidate else { return }
    referenceCount = min(Int((2 * link.delay + link.jitter) * frameRate) + 3, 16)
  }

  var encoderSettings: CallEncoder.Settings {
    var settings = CallEncoder.Settings(
      width: width, height: height, frameRate: frameRate, rate: rate(at: 0), maxRate: maxRate(at: 0))
    settings.codec = codec
    settings.recovery = recovery
    settings.id = encoderID
    // Real-time mode would adapt the effort to this machine, but the same seed has to give the same
    // call.
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

  /// The target bit rate at a time, in bits a second.
  func rate(at time: Double) -> Int { bitRate ?? Int((knownBandwidth(at: time) * utilisation).rounded()) }

  /// The target bit rate minus the rate of retransmissions that exceeds the link, but at least half
  /// of it.
  func rate(at time: Double, resentRate: Double) -> Int {
    let rate = rate(at: time)
    return max(min(rate, maxRate(at: time) - Int(resentRate)), rate / 2)
  }

  /// The limit of the data rate in bits a second: what the link carries without packet headers.
  func maxRate(at time: Double) -> Int { max(rate(at: time), Int(knownBandwidth(at: time) * 0.94)) }

  /// The bandwidth that the sender knows, which is one round trip old.
  private func knownBandwidth(at time: Double) -> Double {
    link.bandwidth.rate(at: max(time - 2 * link.delay, 0))
  }
}
