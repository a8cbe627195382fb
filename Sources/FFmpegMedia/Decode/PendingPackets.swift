// SPDX-License-Identifier: Apache-2.0
import CodecInterface

/// The packets that were sent to a decoder and whose outcome is not known, or must wait for that of
/// earlier packets.
///
/// Timestamps do not matter, since a client may choose them freely. A packet counts as lost when
/// the decoder has processed it and holds no picture of it, or when the decoder has been flushed.
struct PendingPackets {
  private struct Entry {
    let token: Int64
    let number: Int
    var outcome: DecodedFrame.Outcome?
  }

  let order: PictureOrder
  private var entries: [Entry] = []
  private var ready: [DecodedFrame] = []
  /// The number of packets that were sent so far.
  private var count = 0
  /// Errors that libavcodec has returned without saying for which packet.
  private var errors: [CodecError] = []

  init(order: PictureOrder) { self.order = order }

  var isEmpty: Bool { entries.isEmpty && ready.isEmpty }

  func isPending(_ token: Int64) -> Bool { entries.contains { $0.token == token && $0.outcome == nil } }

  mutating func append(_ packet: CompressedPacket) {
    entries.append(Entry(token: packet.token, number: count))
    count += 1
  }

  mutating func complete(_ token: Int64, _ outcome: DecodedFrame.Outcome) {
    guard let index = entries.firstIndex(where: { $0.token == token && $0.outcome == nil }) else { return }
    complete(at: index, outcome)
  }

  mutating func add(_ error: CodecError) { errors.append(error) }

  /// The most packets that wait for an earlier one. A decoder holds at most 16 pictures for
  /// reordering (H.264, A.3.1; HEVC, A.4.2), which may come in 32 packets of one field each; this
  /// is twice that.
  static let maxWaitingPackets = 64

  /// Reports packets as lost that were sent before the last `depth` ones and of which the decoder
  /// holds no picture.
  ///
  /// A picture that is held need not be one for output: it may be a reference for as long as the
  /// stream likes. In decoding order all later pictures wait for it, and occupy memory. Such a
  /// packet is dropped when more wait than any decoder reorders.
  /// - Parameters:
  ///   - depth: The number of latest packets that the decoder may still be working on.
  ///   - isHeld: Whether the decoder holds a picture of the packet with this token.
  mutating func markAsLost(before depth: Int, unless isHeld: (Int64) -> Bool) {
    while let index = entries.firstIndex(where: {
      $0.outcome == nil && count - $0.number > depth && !isHeld($0.token)
    }) {
      markAsLost(at: index)
    }
    guard order == .decoding else { return }
    let oldest = count - depth - Self.maxWaitingPackets
    while let index = entries.firstIndex(where: { $0.outcome == nil }), entries[index].number < oldest {
      complete(at: index, .dropped)
    }
  }

  /// Reports all packets as lost, after the decoder has been flushed.
  mutating func markAllAsLost() {
    while let index = entries.firstIndex(where: { $0.outcome == nil }) { markAsLost(at: index) }
    errors = []
  }

  /// Removes and returns the outcomes that can be reported, in the order asked for.
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

  private mutating func markAsLost(at index: Int) {
    complete(at: index, errors.isEmpty ? .dropped : .failed(errors.removeFirst()))
  }

  private mutating func complete(at index: Int, _ outcome: DecodedFrame.Outcome) {
    if order == .presentation {
      ready.append(DecodedFrame(token: entries[index].token, outcome: outcome))
      entries.remove(at: index)
    } else {
      entries[index].outcome = outcome
    }
  }
}
