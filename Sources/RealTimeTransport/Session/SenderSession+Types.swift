// SPDX-License-Identifier: Apache-2.0
extension SenderSession {
  public struct Configuration: Sendable {
    public var recovery = RecoveryMode.ltr
    public var stream = MediaStream.Configuration()
    public var frameRate = 30.0
    /// Of the media; the next number is that of what is sent again.
    public var source: UInt32
    public var nonce: Greeting.Nonce
    public var name = "sender"
    /// Seconds from one key frame to the next, however often the receiver asks.
    public var keyFrameInterval = 1.0
    /// The receiver is a player that knows nothing of greetings: nothing is heard of it, media goes at once and at the
    /// highest rate, with a key frame every ``SenderSession/joinInterval`` seconds. Where that may go is the caller's care.
    public var isOneWay = false
    /// Bits a second that the path may be given: what it takes is found out.
    public var rates = CongestionController.Limits()

    public init(source: UInt32, nonce: Greeting.Nonce) {
      self.source = source
      self.nonce = nonce
    }
  }

  public enum State: Equatable, Sendable {
    /// The receiver has not answered yet.
    case greeting
    case open
    /// It answers no more.
    case silent
    /// One of both said good-bye, and the other one has heard it or does not answer.
    case closed
  }

  public struct Counts: Equatable, Sendable {
    public var frames = 0
    public var keyFrames = 0
    public var repairs = 0
    public var repairBytes = 0
    public var packets = 0
    /// Of media, with RTP's headers, and of what was sent again.
    public var mediaBytes = 0
    public var resentPackets = 0
    public var resentBytes = 0
    /// Of forward error correction.
    public var parityPackets = 0
    public var parityBytes = 0
    public var requests = 0
    /// Packets that were asked for again beyond what may be repaired (``RepairBudget``).
    public var ignoredRequests = 0
    /// Datagrams that were not authentic, or not packets at all.
    public var refused = 0
    /// Frames that came while the receiver was silent.
    public var withheld = 0

    public init() {}
  }
}
