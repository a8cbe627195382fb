// SPDX-License-Identifier: Apache-2.0
import CodecInterface

/// The packets that a decoder has taken and whose outcome nobody knows yet, or cannot be told yet.
///
/// Times have no say in it: a client may number them as it likes. A packet is lost when the decoder is done with it
/// and holds no picture of it any more, or when the decoder has been emptied.
struct PendingPackets {
  private struct Entry {
    let token: Int64
    let number: Int
    var outcome: DecodedFrame.Outcome?
  }

  let order: PictureOrder
  private var entries: [Entry] = []
  private var ready: [DecodedFrame] = []
  /// Packets that were taken so far.
  private var count = 0
  /// Errors that libavcodec reported for some packet, it did not say for which.
  private var errors: [CodecError] = []

  init(order: PictureOrder) { self.order = order }

  var isEmpty: Bool { entries.isEmpty && ready.isEmpty }

  func isPending(_ token: Int64) -> Bool { entries.contains { $0.token == token && $0.outcome == nil } }

  mutating func take(_ packet: CompressedPacket) {
    entries.append(Entry(token: packet.token, number: count))
    count += 1
  }

  mutating func settle(_ token: Int64, _ outcome: DecodedFrame.Outcome) {
    guard let index = entries.firstIndex(where: { $0.token == token && $0.outcome == nil }) else { return }
    settle(at: index, outcome)
  }

  mutating func note(_ error: CodecError) { errors.append(error) }

  /// A decoder holds sixteen pictures for later at most (H.264, A.3.1; HEVC, A.4.2): their fields, twice.
  static let mostWaiting = 64

  /// Packets that were taken before the last `depth` ones and of which the decoder holds no picture are lost.
  ///
  /// A picture that is held may still be none to be seen, but a reference for as long as the stream likes. In
  /// decoding order all later ones wait for it, each with its memory: it is dropped when they are more than
  /// any decoder reorders.
  mutating func lose(before depth: Int, unless isHeld: (Int64) -> Bool) {
    while let index = entries.firstIndex(where: {
      $0.outcome == nil && count - $0.number > depth && !isHeld($0.token)
    }) {
      lose(at: index)
    }
    guard order == .decoding else { return }
    let oldest = count - depth - Self.mostWaiting
    while let index = entries.firstIndex(where: { $0.outcome == nil }), entries[index].number < oldest {
      settle(at: index, .dropped)
    }
  }

  /// The decoder has given all that it had.
  mutating func loseAll() {
    while let index = entries.firstIndex(where: { $0.outcome == nil }) { lose(at: index) }
    errors = []
  }

  /// What can be told, in the order that was asked for.
  mutating func takeReady() -> [DecodedFrame] {
    if order == .decoding {
      let count = entries.firstIndex { $0.outcome == nil } ?? entries.count
      for entry in entries.prefix(count) {
        if let outcome = entry.outcome { ready.append(DecodedFrame(token: entry.token, outcome: outcome)) }
      }
      entries.removeFirst(count)
    }
    defer { ready = [] }
    return ready
  }

  private mutating func lose(at index: Int) {
    settle(at: index, errors.isEmpty ? .dropped : .failed(errors.removeFirst()))
  }

  private mutating func settle(at index: Int, _ outcome: DecodedFrame.Outcome) {
    if order == .presentation {
      ready.append(DecodedFrame(token: entries[index].token, outcome: outcome))
      entries.remove(at: index)
    } else {
      entries[index].outcome = outcome
    }
  }
}
