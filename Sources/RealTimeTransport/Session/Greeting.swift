// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The greeting with which a sender begins a session. It contains a nonce, a number that cannot be
/// guessed; the receiver's answer returns it with a nonce of its own. A receiver that answers can
/// receive at its address: until then the sender sends nothing else there. An answer is never
/// longer than its greeting, and a receiver only answers until a greeting returns its own nonce.
/// The first byte distinguishes greetings from RTP and RTCP on the same port, as in RFC 7983.
///
/// All fields are in network byte order:
///
///     bytes  greeting                               bytes  answer
///      0..3  "OVTM"                                  0..3  "OVTM"
///         4  version, 2                                 4  version, 2
///         5  1                                          5  2
///         6  recovery mode                              6  codecs: see below
///         7  flags: see below                           7  0
///     8..23  sender's nonce                         8..23  sender's nonce
///    24..31  sender's clock, NTP                   24..39  receiver's nonce
///    32..35  source of the media                   40..51  check, from the greeting
///    36..39  frames in 1,000 s                     52..59  receiver's clock, NTP
///    40..47  receiver's clock minus sender's       60..63  receiver's source
///    48..51  round trip in microseconds            64..95  authentication
///    52..67  receiver's nonce, once known
///    68..79  check
///    80..95  0
///   96..127  authentication
///
/// The check is a random number of 96 bits, a new one in each greeting (RFC 7675, 5.1): an answer
/// proves that this greeting was received, and the next one's cannot be predicted.
///
/// Flags: 1 retransmission, 2 offset known, 4 forward error correction, 8 audio, 16 pictures in
/// HEVC in place of H.264.
///
/// Codecs: 1 the receiver takes HEVC, 2 it does not take H.264. Receivers before HEVC answer with
/// 0. A sender whose codec is not taken ends the session before it sends any media.
public struct Greeting: Equatable, Sendable {
  /// A number that cannot be guessed.
  public struct Nonce: Hashable, Sendable {
    public static let size = 16
    public var bytes: [UInt8]

    /// Creates a nonce.
    /// - Parameter bytes: 16 bytes; a shorter number is padded with zeros.
    public init(_ bytes: [UInt8]) {
      self.bytes =
        Array(bytes.prefix(Self.size)) + [UInt8](repeating: 0, count: max(0, Self.size - bytes.count))
    }

    public static func random(using generator: inout some RandomNumberGenerator) -> Nonce {
      Nonce((0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
  }

  /// The random number of one greeting, which its answer returns.
  public struct Check: Hashable, Sendable {
    public static let size = 12
    public var bytes: [UInt8]

    /// Creates a check.
    /// - Parameter bytes: 12 bytes; a shorter number is padded with zeros.
    public init(_ bytes: [UInt8]) {
      self.bytes =
        Array(bytes.prefix(Self.size)) + [UInt8](repeating: 0, count: max(0, Self.size - bytes.count))
    }

    public static func random(using generator: inout some RandomNumberGenerator) -> Check {
      Check((0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
  }

  public static let size = 128
  public static let authenticationSize = 32
  /// The longest round trip in seconds: an answer that took longer is ignored.
  public static let longestRoundTrip = 5.0
  static let magic: [UInt8] = Array("OVTM".utf8) + [2]

  public var nonce: Nonce
  public var clock: UInt64
  /// The synchronisation source of the media.
  public var source: UInt32
  public var recovery = RecoveryMode.ltr
  public var retransmits = true
  /// Whether repair packets (forward error correction) may come.
  public var protects = false
  /// Whether audio may come with the pictures.
  public var hasAudio = false
  /// The codec of the pictures.
  public var codec = VideoCodec.h264
  public var frameRate = 30.0
  /// The time in seconds by which the receiver's clock is ahead of the sender's; nil if the sender
  /// does not know it.
  public var clockOffset: Double?
  /// The round trip in seconds.
  public var roundTrip = 0.0
  /// The receiver's nonce from its answer; nil before the first.
  public var answered: Nonce?
  /// The random number of this greeting.
  public var check = Check([])

  public init(nonce: Nonce, clock: UInt64, source: UInt32) {
    self.nonce = nonce
    self.clock = clock
    self.source = source
  }

  /// Whether a datagram is a greeting or an answer.
  /// - Parameter bytes: The datagram.
  public static func isGreeting(_ bytes: [UInt8]) -> Bool { bytes.starts(with: magic) }

  /// Makes the datagram.
  /// - Parameter authenticate: Computes the authentication code of 32 bytes; nil without a key,
  ///   where zeros take its place.
  public func bytes(authenticate: (([UInt8]) -> [UInt8])? = nil) -> [UInt8] {
    var result = Self.magic
    result += [1, UInt8(RecoveryMode.allCases.firstIndex(of: recovery) ?? 0)]
    result.append(
      (retransmits ? 1 : 0) | (clockOffset == nil ? 0 : 2) | (protects ? 4 : 0) | (hasAudio ? 8 : 0)
        | (codec == .hevc ? 16 : 0))
    result += nonce.bytes
    result.append64(clock)
    result.append32(source)
    // 0 would be invalid; a rate that is not a number is sent as the lowest.
    result.append32(UInt32(frameRate > 0.001 ? min(frameRate, 1e6) * 1000 : 1))
    let offset = min(max(clockOffset ?? 0, -2e9), 2e9)
    result.append64(UInt64(bitPattern: Int64(offset * 4_294_967_296)))
    result.append32(UInt32(min(max(roundTrip, 0), 4000) * 1_000_000))
    result += (answered ?? Nonce([])).bytes
    result += check.bytes
    return Self.sealed(result, size: Self.size, authenticate)
  }

  /// Parses a greeting; nil if the datagram is not one, or not authentic.
  /// - Parameters:
  ///   - bytes: The datagram.
  ///   - authenticate: Computes the authentication code; nil without a key.
  public init?(_ bytes: [UInt8], authenticate: (([UInt8]) -> [UInt8])? = nil) {
    guard bytes.count == Self.size, bytes.starts(with: Self.magic + [1]),
      Self.isAuthentic(bytes, authenticate)
    else { return nil }
    var reader = ByteReader(bytes[6...])
    guard let mode = try? reader.uint8(), RecoveryMode.allCases.indices.contains(Int(mode)),
      let flags = try? reader.uint8(), let nonce = try? reader.bytes(Nonce.size),
      let clock = try? reader.uint64(),
      let source = try? reader.uint32(), let rate = try? reader.uint32(), rate > 0,
      let offset = try? reader.uint64(),
      let rtt = try? reader.uint32(), let answered = try? reader.bytes(Nonce.size),
      let check = try? reader.bytes(Check.size)
    else { return nil }
    self.init(nonce: Nonce(Array(nonce)), clock: clock, source: source)
    recovery = RecoveryMode.allCases[Int(mode)]
    retransmits = flags & 1 != 0
    protects = flags & 4 != 0
    hasAudio = flags & 8 != 0
    codec = flags & 16 != 0 ? .hevc : .h264
    frameRate = Double(rate) / 1000
    clockOffset = flags & 2 != 0 ? Double(Int64(bitPattern: offset)) / 4_294_967_296 : nil
    roundTrip = min(Double(rtt) / 1_000_000, Self.longestRoundTrip)
    let number = Nonce(Array(answered))
    self.answered = number == Nonce([]) ? nil : number
    self.check = Check(Array(check))
  }

  static func sealed(_ fields: [UInt8], size: Int, _ authenticate: (([UInt8]) -> [UInt8])?) -> [UInt8] {
    let body = fields + [UInt8](repeating: 0, count: size - authenticationSize - fields.count)
    let tag = authenticate?(body) ?? [UInt8](repeating: 0, count: authenticationSize)
    return body + tag.prefix(authenticationSize)
  }

  static func isAuthentic(_ bytes: [UInt8], _ authenticate: (([UInt8]) -> [UInt8])?) -> Bool {
    let tag = bytes.suffix(authenticationSize)
    guard let authenticate else { return tag.allSatisfy { $0 == 0 } }
    let right = authenticate(Array(bytes.dropLast(authenticationSize)))
    // In constant time, so that it does not tell where the codes differ.
    return right.count == tag.count && zip(right, tag).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// The answer of a receiver to a greeting.
  public struct Answer: Equatable, Sendable {
    public static let size = 96
    public var greetingNonce: Nonce
    public var nonce: Nonce
    /// The random number of the greeting.
    public var check: Check
    public var clock: UInt64
    public var source: UInt32
    /// The codecs of pictures that the receiver takes.
    public var codecs: Set<VideoCodec> = [.h264]

    public init(to greeting: Greeting, nonce: Nonce, clock: UInt64, source: UInt32) {
      greetingNonce = greeting.nonce
      self.nonce = nonce
      check = greeting.check
      self.clock = clock
      self.source = source
    }

    public func bytes(authenticate: (([UInt8]) -> [UInt8])? = nil) -> [UInt8] {
      let codecs: UInt8 = (self.codecs.contains(.hevc) ? 1 : 0) | (self.codecs.contains(.h264) ? 0 : 2)
      var result = Greeting.magic + [2, codecs, 0] + greetingNonce.bytes + nonce.bytes
      result += check.bytes
      result.append64(clock)
      result.append32(source)
      return Greeting.sealed(result, size: Self.size, authenticate)
    }

    /// Parses an answer; nil if the datagram is not one, or not authentic.
    /// - Parameters:
    ///   - bytes: The datagram.
    ///   - authenticate: Computes the authentication code; nil without a key.
    public init?(_ bytes: [UInt8], authenticate: (([UInt8]) -> [UInt8])? = nil) {
      guard bytes.count == Self.size, bytes.starts(with: Greeting.magic + [2]),
        Greeting.isAuthentic(bytes, authenticate)
      else { return nil }
      var reader = ByteReader(bytes[6...])
      guard let codecs = try? reader.uint8(), (try? reader.uint8()) != nil,
        let greetingNonce = try? reader.bytes(Nonce.size), let nonce = try? reader.bytes(Nonce.size),
        let check = try? reader.bytes(Check.size), let clock = try? reader.uint64(),
        let source = try? reader.uint32()
      else { return nil }
      self.greetingNonce = Nonce(Array(greetingNonce))
      self.nonce = Nonce(Array(nonce))
      self.check = Check(Array(check))
      self.clock = clock
      self.source = source
      if codecs & 1 != 0 { self.codecs.insert(.hevc) }
      if codecs & 2 != 0 { self.codecs.remove(.h264) }
    }
  }
}
