// SPDX-License-Identifier: Apache-2.0
/// What a sender makes of the receivers' feedback: what its next frame must answer.
public struct RecoveryPolicy: Sendable {
  /// What is asked of the next frame.
  public struct Wish: Equatable, Sendable {
    /// Tokens of long-term references that all receivers have.
    public var acknowledged: [Int64] = []
    public var forcesKeyFrame = false
    /// Predicted from acknowledged long-term references alone.
    public var forcesRefresh = false
    /// Numbers of frames that a receiver lacks.
    public var lost: [UInt16] = []

    public init() {}
  }

  private let mode: RecoveryMode
  private let receiverCount: Int
  private let clock: MediaClock
  /// Seconds from one key frame to the next, however often receivers ask.
  private let keyFrameInterval: Double
  /// Round trip in seconds: what the receivers' reports say, until then a guess.
  public private(set) var roundTrip: Double
  /// Seconds that a report may tell of: what is less, or more, counts as the nearest.
  public var plausibleTrips = 0.0...10
  private var holders: [Int64: Set<Int>] = [:]
  private var acknowledged: [Int64] = []
  /// Tokens of the frames since the last key frame, the oldest first: what was before it no encoder has any more.
  private var live: [Int64] = []
  /// Whether a refresh has something to refer to.
  private var hasAcknowledged = false
  private var isAsked = false
  /// Somebody is to see the stream who has seen nothing of it; stays until a key frame was made.
  private var isIntraAsked = false
  /// The number of each receiver's last full intra request.
  private var intraNumbers: [Int: UInt8] = [:]
  private var lost: [UInt16] = []
  private var lastRepair = -Double.infinity
  private var lastKeyFrame = -Double.infinity
  /// Tokens that some receivers have and others not.
  private static let mostTokens = 256

  /// - Parameters:
  ///   - roundTrip: a guess in seconds, until there is a measurement.
  ///   - keyFrameInterval: seconds; what comes in between waits.
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

  /// Takes a compound packet of a receiver.
  public mutating func take(_ packets: [RTCPPacket], from receiver: Int, at time: Double) {
    for packet in packets {
      switch packet {
      case .receiverReport(_, let blocks): for block in blocks { measure(block, at: time) }
      case .pictureLoss:
        // One that was sent before the repair came says nothing new.
        if time >= lastRepair + roundTrip { isAsked = true }
      case .fullIntraRequest(_, _, let number):
        if intraNumbers.updateValue(number, forKey: receiver) != number { isIntraAsked = true }
      case .referenceSelection(_, _, _, let token):
        guard live.contains(token) else { continue }
        holders[token, default: []].insert(receiver)
        // A refresh must serve all.
        if holders[token]?.count == receiverCount {
          acknowledged.append(token)
          hasAcknowledged = true
          holders[token] = nil
        }
        if holders.count > Self.mostTokens { holders.removeAll() }
        if acknowledged.count > Self.mostTokens { acknowledged.removeFirst(acknowledged.count / 2) }
      case .lostFrames(_, let frames):
        lost += frames
        lost.removeFirst(max(0, lost.count - RTCPPacket.mostLostFrames))
      default: break
      }
    }
  }

  /// Takes note of a round trip that was measured in another way.
  public mutating func note(roundTrip trip: Double) { roundTrip += (trip - roundTrip) * 0.25 }

  private mutating func measure(_ block: RTCPPacket.ReportBlock, at time: Double) {
    guard block.lastReport != 0 else { return }
    let now = UInt32(truncatingIfNeeded: clock.ntpTime(at: time) >> 16)
    let trip = Double(now &- block.lastReport &- block.delaySinceLastReport) / 65_536
    // What is longer is no round trip, but a wrong stamp, or one of the future.
    if trip < 10 { note(roundTrip: min(max(trip, plausibleTrips.lowerBound), plausibleTrips.upperBound)) }
  }

  /// What the next frame must answer; `leavesReference` says whether anything is left to predict from without frames.
  public mutating func takeWish(
    at time: Double, leavesReference: ([UInt16]) -> Bool = { _ in true }
  ) -> Wish {
    var wish = Wish()
    wish.acknowledged = acknowledged
    acknowledged.removeAll()
    // A refresh that has nothing to refer to is a key frame.
    let mayBeKeyFrame =
      switch mode {
      case .keyframe, .intraRefresh: true
      case .ltr: !hasAcknowledged
      case .invalidate: !leavesReference(lost)
      }
    let waits = mayBeKeyFrame && time < lastKeyFrame + keyFrameInterval
    switch mode {
    // Without feedback as a rule, a receiver asks for the key frame to begin with.
    case .keyframe, .intraRefresh: wish.forcesKeyFrame = isAsked && !waits
    case .ltr: wish.forcesRefresh = isAsked && !waits
    case .invalidate: wish.lost = waits ? [] : lost
    }
    if isIntraAsked, time >= lastKeyFrame + keyFrameInterval {
      // It repairs whatever else there is.
      (wish.forcesKeyFrame, wish.forcesRefresh, wish.lost) = (true, false, [])
    }
    if !waits {
      isAsked = false
      lost.removeAll()
    }
    return wish
  }

  /// Takes note of a frame that was made.
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
    if live.count > Self.mostTokens { live.removeFirst(live.count - Self.mostTokens) }
  }
}
