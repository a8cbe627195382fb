// SPDX-License-Identifier: Apache-2.0
/// Decides from the receivers' feedback how a sender's next frame has to be encoded. Times are in
/// seconds.
public struct RecoveryPolicy: Sendable {
  /// The requirements for the next frame.
  public struct FrameRequirements: Equatable, Sendable {
    /// The tokens of long-term references that all receivers have acknowledged.
    public var acknowledged: [Int64] = []
    public var forcesKeyFrame = false
    /// Whether the frame must be predicted from acknowledged long-term references alone.
    public var forcesRefresh = false
    /// The numbers of frames that a receiver lacks.
    public var lost: [UInt16] = []

    public init() {}
  }

  private let mode: RecoveryMode
  private let receiverCount: Int
  private let clock: MediaClock
  /// The shortest time between two key frames, however often receivers ask.
  private let keyFrameInterval: Double
  /// The smoothed round trip in seconds, from the receivers' reports; an estimate until there is a
  /// measurement.
  public private(set) var roundTrip: Double
  /// The range of round trips in seconds that reports may give; others are clamped to it.
  public var plausibleRTTs = 0.0...10
  /// The receivers that have acknowledged each token, while others have not.
  private var holders: [Int64: Set<Int>] = [:]
  /// The tokens that all receivers have acknowledged since the last call of `takeRequirements`.
  private var acknowledged: [Int64] = []
  /// The tokens of the frames since the last key frame, the oldest first: encoders discard those
  /// before it.
  private var live: [Int64] = []
  /// Whether a long-term reference since the last key frame was acknowledged by all receivers.
  private var hasAcknowledged = false
  /// Whether a receiver has reported a loss that was not answered yet.
  private var isAsked = false
  /// Whether a receiver needs a key frame because it has not seen the stream; stays true until one
  /// was made.
  private var isIntraAsked = false
  /// The sequence number of each receiver's last full intra request.
  private var intraNumbers: [Int: UInt8] = [:]
  /// The numbers of frames that receivers lack and that were not answered yet.
  private var lost: [UInt16] = []
  private var lastRepair = -Double.infinity
  private var lastKeyFrame = -Double.infinity
  /// The largest number of tokens in each list.
  private static let maxTokens = 256

  /// Creates a policy.
  /// - Parameters:
  ///   - mode: The way of recovery.
  ///   - receiverCount: The number of receivers.
  ///   - roundTrip: An estimate of the round trip in seconds, until there is a measurement.
  ///   - clock: The clock of the time stamps in reports.
  ///   - keyFrameInterval: The shortest time between two key frames; requests in between wait.
  public init(
    _ mode: RecoveryMode, receiverCount: Int, roundTrip: Double, clock: MediaClock,
    keyFrameInterval: Double = 0
  ) {
    self.mode = mode
    self.receiverCount = receiverCount
    self.roundTrip = roundTrip
    self.clock = clock
    self.keyFrameInterval = keyFrameInterval
  }

  /// Processes a compound packet of a receiver.
  /// - Parameters:
  ///   - packets: The packets.
  ///   - receiver: The receiver's number.
  ///   - time: When it arrived.
  public mutating func receive(_ packets: [RTCPPacket], from receiver: Int, at time: Double) {
    for packet in packets {
      switch packet {
      case .receiverReport(_, let blocks): for block in blocks { measure(block, at: time) }
      case .pictureLoss:
        // A report that was sent before the last repair arrived is about the same loss.
        if time >= lastRepair + roundTrip { isAsked = true }
      case .fullIntraRequest(_, _, let number):
        if intraNumbers.updateValue(number, forKey: receiver) != number { isIntraAsked = true }
      case .referenceSelection(_, _, _, let token):
        guard live.contains(token) else { continue }
        holders[token, default: []].insert(receiver)
        // A refresh must be decodable by all receivers.
        if holders[token]?.count == receiverCount {
          acknowledged.append(token)
          hasAcknowledged = true
          holders[token] = nil
        }
        if holders.count > Self.maxTokens { holders.removeAll() }
        if acknowledged.count > Self.maxTokens { acknowledged.removeFirst(acknowledged.count / 2) }
      case .lostFrames(_, let frames):
        lost += frames
        lost.removeFirst(max(0, lost.count - RTCPPacket.maxLostFrames))
      default: break
      }
    }
  }

  /// Records a round trip that was measured in another way.
  /// - Parameter rtt: The round trip in seconds.
  public mutating func note(roundTrip rtt: Double) { roundTrip += (rtt - roundTrip) * 0.25 }

  private mutating func measure(_ block: RTCPPacket.ReportBlock, at time: Double) {
    guard block.lastReport != 0 else { return }
    let now = UInt32(truncatingIfNeeded: clock.ntpTime(at: time) >> 16)
    let rtt = Double(now &- block.lastReport &- block.delaySinceLastReport) / 65_536
    // Longer values come from a wrong time stamp, or one of the future.
    if rtt < 10 { note(roundTrip: min(max(rtt, plausibleRTTs.lowerBound), plausibleRTTs.upperBound)) }
  }

  /// Returns the requirements for the next frame, and clears the requests that it answers.
  /// - Parameters:
  ///   - time: The current time.
  ///   - leavesReference: Whether references remain if frames with these numbers are not used.
  public mutating func takeRequirements(
    at time: Double, leavesReference: ([UInt16]) -> Bool = { _ in true }
  ) -> FrameRequirements {
    var requirements = FrameRequirements()
    requirements.acknowledged = acknowledged
    acknowledged.removeAll()
    // A refresh without an acknowledged reference is a key frame.
    let mayBeKeyFrame =
      switch mode {
      case .keyframe, .intraRefresh: true
      case .ltr: !hasAcknowledged
      case .invalidate: !leavesReference(lost)
      }
    let waits = mayBeKeyFrame && time < lastKeyFrame + keyFrameInterval
    switch mode {
    // Also with intra refresh, where a receiver asks for the key frame at the beginning.
    case .keyframe, .intraRefresh: requirements.forcesKeyFrame = isAsked && !waits
    case .ltr: requirements.forcesRefresh = isAsked && !waits
    case .invalidate: requirements.lost = waits ? [] : lost
    }
    if isIntraAsked, time >= lastKeyFrame + keyFrameInterval {
      // A key frame also repairs every loss.
      (requirements.forcesKeyFrame, requirements.forcesRefresh, requirements.lost) = (true, false, [])
    }
    if !waits {
      isAsked = false
      lost.removeAll()
    }
    return requirements
  }

  /// Records a frame that was encoded.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - isRepair: Whether it recovers from a loss.
  ///   - time: The current time.
  public mutating func note(_ frame: FrameSequencer.CodedFrame, isRepair: Bool, at time: Double) {
    if isRepair { lastRepair = time }
    if frame.isKeyFrame {
      lastKeyFrame = time
      isIntraAsked = false
      hasAcknowledged = false
      live.removeAll()
      holders.removeAll()
      acknowledged.removeAll()
    }
    guard let token = frame.token else { return }
    live.append(token)
    if live.count > Self.maxTokens { live.removeFirst(live.count - Self.maxTokens) }
  }
}
