// SPDX-License-Identifier: Apache-2.0
extension SenderSession {
  public struct Configuration: Sendable {
    public var recovery = RecoveryMode.ltr
    public var stream = MediaSender.Configuration()
    public var frameRate = 30.0
    /// The synchronisation source of the media. The next numbers are those of retransmissions, of
    /// repair packets, of the audio, and of the audio's retransmissions.
    public var source: UInt32
    public var nonce: Greeting.Nonce
    public var name = "sender"
    /// The shortest time in seconds between two key frames, however often the receiver asks.
    public var keyFrameInterval = 1.0
    /// Whether the receiver is a player that does not know greetings: nothing is received from it,
    /// and media is sent at once and at the highest rate, with a key frame every
    /// ``SenderSession/joinInterval`` seconds. The caller has to make sure that media may be sent
    /// there.
    public var isOneWay = false
    /// Whether audio is sent with the pictures; never to players.
    public var hasAudio = false
    /// The range of bit rates, in bits per second; the rate within it that the path carries is
    /// estimated.
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
    /// The receiver has answered that it does not take the codec; no media was sent.
    case refused
    /// The receiver does not answer any more.
    case silent
    /// One end has said goodbye, and the other one has answered or does not answer.
    case closed
  }

  public struct Counts: Equatable, Sendable {
    public var frames = 0
    public var keyFrames = 0
    public var repairs = 0
    public var repairBytes = 0
    public var packets = 0
    /// The number of bytes of media packets, including RTP headers, and of retransmissions.
    public var mediaBytes = 0
    public var resentPackets = 0
    public var resentBytes = 0
    /// The numbers of repair packets and of their bytes.
    public var parityPackets = 0
    public var parityBytes = 0
    public var requests = 0
    /// The number of packets that were asked for beyond the ``RepairBudget``.
    public var ignoredRequests = 0
    /// The number of datagrams that were not authentic, or no valid packets.
    public var refused = 0
    /// The number of frames that were not sent because the receiver was silent.
    public var withheld = 0

    public init() {}
  }
}
