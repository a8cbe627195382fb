import CodecInterface

/// The packets that a decoder has taken and whose outcome nobody knows yet, or cannot be told yet.
struct PacketLedger {
  private struct Entry {
    let token: Int64
    let time: Int64?
    var outcome: DecodedFrame.Outcome?
  }

  let order: PictureOrder
  /// More packets than this cannot be under way: the oldest is lost.
  let depthLimit: Int
  private var entries: [Entry] = []
  private var ready: [DecodedFrame] = []
  /// Errors that libavcodec reported for some packet, it did not say for which.
  private var errors: [CodecError] = []

  init(order: PictureOrder, depthLimit: Int) {
    self.order = order
    self.depthLimit = depthLimit
  }

  var isEmpty: Bool { entries.isEmpty && ready.isEmpty }

  func isPending(_ token: Int64) -> Bool { entries.contains { $0.token == token && $0.outcome == nil } }

  mutating func take(_ packet: CompressedPacket) {
    entries.append(Entry(token: packet.token, time: packet.presentationTime))
    if entries.count > depthLimit, let oldest = entries.firstIndex(where: { $0.outcome == nil }) {
      lose(at: oldest)
    }
  }

  mutating func settle(_ token: Int64, _ outcome: DecodedFrame.Outcome) {
    guard let index = entries.firstIndex(where: { $0.token == token && $0.outcome == nil }) else { return }
    settle(at: index, outcome)
  }

  /// A picture came in order of presentation: what was taken before and is shown before cannot come any more.
  mutating func pictureCame(_ token: Int64, _ outcome: DecodedFrame.Outcome) {
    guard let index = entries.firstIndex(where: { $0.token == token && $0.outcome == nil }) else { return }
    if let time = entries[index].time {
      var lost: [Int64] = []
      for entry in entries[..<index] where entry.outcome == nil {
        if let earlier = entry.time, earlier < time { lost.append(entry.token) }
      }
      for token in lost {
        if let index = entries.firstIndex(where: { $0.token == token }) { lose(at: index) }
      }
    }
    settle(token, outcome)
  }

  mutating func note(_ error: CodecError) { errors.append(error) }

  /// The decoder has given all that it had.
  mutating func loseAll() {
    while let index = entries.firstIndex(where: { $0.outcome == nil }) { lose(at: index) }
    errors = []
  }

  /// What can be told, in the ledger's order.
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
