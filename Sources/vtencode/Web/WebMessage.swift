// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A message from a page: a JSON object with a `type`. Any other message closes the connection.
enum WebMessage: Equatable, Sendable {
  /// Requests a key frame. `isLost` is true if the page's decoder needs it, and false if the user
  /// asked for it.
  case keyFrame(isLost: Bool)
  /// Asks to drop this fraction of received packets, 0 to `maxLoss`.
  case lose(Double)
  /// Limits the sender's bit rate, in bits a second; nil removes the limit.
  case cap(Double?)
  /// Asks for the session's time. The value is the page's time in milliseconds, which is returned
  /// with the answer.
  case clock(Double)
  /// Reports what the page has shown.
  case figures(Figures)

  /// The figures that a page reports about itself. They cannot be verified.
  struct Figures: Codable, Equatable, Sendable {
    var shown = 0
    var dropped = 0
    /// Percentiles of the recent delays from capture to canvas, in seconds.
    var delayP50: Double?
    var delayP95: Double?
  }

  static let maxBytes = 1024
  static let maxLoss = 0.9
  static let rates = 20_000.0...1e9
  /// The delays from capture to canvas that are accepted, in seconds. The clocks of page and
  /// program are synchronised to some milliseconds, and a page that was suspended may show old
  /// frames.
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

  /// Parses a message.
  /// - Returns: nil if it is not valid.
  init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.maxBytes, let wire = try? JSONDecoder().decode(Wire.self, from: Data(bytes))
    else { return nil }
    switch wire.type {
    case "key": self = .keyFrame(isLost: wire.lost ?? false)
    case "lose":
      guard let share = wire.share, (0...Self.maxLoss).contains(share) else { return nil }
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

/// The requests from pages to a session since it last checked. Only the latest request of each kind
/// is kept.
struct WebRequests: Equatable, Sendable {
  var wantsKeyFrame = false
  /// The fraction of packets to drop; nil if no page has set another one.
  var loss: Double?
  var cap: Cap?
  /// Whether the last page has been closed, so that its settings are reset.
  var isLastPageClosed = false

  enum Cap: Equatable, Sendable {
    case unlimited
    case rate(Double)
  }
}

/// The state of the session for the charts. Pages get it as a JSON object four times a second.
struct WebStatus: Encodable, Sendable {
  let type = "status"
  /// `waiting`, `open` or `ended`.
  var state: String
  /// The time in seconds of `SessionTime`.
  var time: Double
  /// The received bit rate in bits a second, and the part of it that repairs losses.
  var rate = 0.0
  var repairRate = 0.0
  /// The recent fraction of lost packets, and the round trip time in seconds, which is nil if it is
  /// not known.
  var loss = 0.0
  var roundTrip: Double?
  /// The delay from capture to decoding in the program, in seconds.
  var delay: Double?
  var frames = 0
  var keyFrames = 0
  var requests = 0
  /// The effect of the controls: the fraction of packets that is dropped, how many were dropped,
  /// and the rate that the sender has agreed to, in bits a second.
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
