// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a page says: a JSON object with a `type`. Anything else closes its connection.
enum WebMessage: Equatable, Sendable {
  /// A key frame is asked for; `isLost`: since the page's decoder lost its thread, not by a person.
  case keyFrame(isLost: Bool)
  /// This share of what is received is to be thrown away, 0 to `mostLoss`.
  case lose(Double)
  /// Bits a second that the sender may send; nil is no limit.
  case cap(Double?)
  /// What time is it here? With the page's own time, in milliseconds, which comes back.
  case clock(Double)
  /// What the page has shown.
  case figures(Figures)

  /// What a page says of itself: its word, and nobody else's.
  struct Figures: Codable, Equatable, Sendable {
    var shown = 0
    var dropped = 0
    /// Seconds from capture to canvas, of the last frames.
    var delayP50: Double?
    var delayP95: Double?
  }

  static let mostBytes = 1024
  static let mostLoss = 0.9
  static let rates = 20_000.0...1e9
  /// Seconds from capture to canvas that can be: the clocks of page and program are known to some milliseconds, and a page
  /// that has stood still may show what is old.
  static let delays = -1.0...3600

  private struct Wire: Decodable {
    var type: String
    var lost: Bool?
    var share: Double?
    var rate: Double?
    var time: Double?
    var shown: Int?
    var dropped: Int?
    var delayP50: Double?
    var delayP95: Double?
  }

  /// - Returns: nil if this is none of them.
  init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.mostBytes, let wire = try? JSONDecoder().decode(Wire.self, from: Data(bytes))
    else { return nil }
    switch wire.type {
    case "key": self = .keyFrame(isLost: wire.lost ?? false)
    case "lose":
      guard let share = wire.share, (0...Self.mostLoss).contains(share) else { return nil }
      self = .lose(share)
    case "cap":
      guard wire.rate.map(Self.rates.contains) ?? true else { return nil }
      self = .cap(wire.rate)
    case "clock":
      guard let time = wire.time, time.isFinite else { return nil }
      self = .clock(time)
    case "figures":
      let delays = [wire.delayP50, wire.delayP95].compactMap { $0 }
      guard let shown = wire.shown, let dropped = wire.dropped, shown >= 0, dropped >= 0,
        delays.allSatisfy(Self.delays.contains)
      else { return nil }
      self = .figures(
        Figures(shown: shown, dropped: dropped, delayP50: wire.delayP50, delayP95: wire.delayP95))
    default: return nil
    }
  }
}

/// What pages ask of a session, kept until it asks: the newest of each kind, so that nothing piles up.
struct WebRequests: Equatable, Sendable {
  var wantsKeyFrame = false
  /// Nil: nobody has said another one.
  var loss: Double?
  var cap: Cap?
  /// No page is open any more: what they wished for goes with them.
  var isDeserted = false

  enum Cap: Equatable, Sendable {
    case unlimited
    case rate(Double)
  }
}

/// What the session is up to, for the charts: a JSON object that pages get four times a second.
struct WebStatus: Encodable, Sendable {
  let type = "status"
  /// `waiting`, `open` or `ended`.
  var state: String
  /// Seconds of `SessionTime`.
  var time: Double
  /// Bits a second that came, and bits of repair among them.
  var rate = 0.0
  var repairRate = 0.0
  /// Share of packets lost lately, and round trip in seconds; nil if it is not known.
  var loss = 0.0
  var roundTrip: Double?
  /// Seconds from capture to decoded here.
  var delay: Double?
  var frames = 0
  var keyFrames = 0
  var requests = 0
  /// What the buttons have done: the share that is thrown away, and the rate that the sender has agreed to.
  var thrownShare = 0.0
  var thrown = 0
  var cap: Double?
  var clients = 0

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}
