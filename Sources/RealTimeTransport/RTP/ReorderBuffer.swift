// SPDX-License-Identifier: Apache-2.0
/// Brings packets back into the order of their sequence numbers, and waits a little for those that are late.
public struct ReorderBuffer: Sendable {
  private struct Waiting: Sendable {
    var packet: RTPPacket
    var arrival: Double
  }

  /// Seconds that a packet waits for one before it.
  public var patience: Double
  private var held = -Double.infinity
  private var unwrapper = SequenceUnwrapper()
  /// The number that is to be given next; nil before the first packet.
  public private(set) var next: Int64?
  private var waiting: [Int64: Waiting] = [:]
  public private(set) var lateOrDoubled = 0
  /// Packets that wait at most: a sender that skips numbers on purpose must not fill the memory.
  public static let mostWaiting = 1024

  public init(patience: Double) { self.patience = patience }

  /// Takes a packet; gives those that are in order now. Where nothing was given yet, it waits for what may have been sent
  /// before it, unless nothing was (`isBeginning`).
  public mutating func add(
    _ packet: RTPPacket, at time: Double, isBeginning: Bool = true
  ) -> [(packet: RTPPacket, sequence: Int64)] {
    let sequence = unwrapper.unwrap(packet.sequenceNumber)
    if next == nil, isBeginning {
      next = sequence
      waiting = waiting.filter { $0.key > sequence }
    }
    guard sequence >= next ?? sequence, waiting[sequence] == nil else {
      lateOrDoubled += 1
      return []
    }
    waiting[sequence] = Waiting(packet: packet, arrival: time)
    return release(at: time)
  }

  /// Has packets wait until then, twice as long as usual at most: that others are missing was found out just now, though
  /// some of what is behind them has come.
  public mutating func hold(until time: Double) { held = time }

  private func isOver(_ arrival: Double, at time: Double) -> Bool { time >= end(of: arrival) - 1e-9 }

  private func end(of arrival: Double) -> Double {
    min(max(arrival + patience, held), arrival + 2 * patience)
  }

  /// When ``release(at:)`` has something to give that the next packet does not bring; nil if nothing waits.
  public var deadline: Double? {
    waiting.min { $0.key < $1.key }.map { end(of: $0.value.arrival) }
  }

  /// Packets that are in order, and those that waited long enough for one that does not come.
  public mutating func release(at time: Double) -> [(packet: RTPPacket, sequence: Int64)] {
    var result: [(packet: RTPPacket, sequence: Int64)] = []
    if next == nil, let oldest = waiting.values.map(\.arrival).min(),
      isOver(oldest, at: time) || waiting.count > Self.mostWaiting
    {
      next = waiting.keys.min()
    }
    while var number = next, !waiting.isEmpty {
      if waiting[number] == nil {
        guard let first = waiting.keys.min(), let waited = waiting[first],
          waiting.count > Self.mostWaiting || isOver(waited.arrival, at: time)
        else { break }
        number = first
      }
      guard let found = waiting.removeValue(forKey: number) else { break }
      result.append((found.packet, number))
      next = number + 1
    }
    return result
  }
}
