// SPDX-License-Identifier: Apache-2.0
/// Puts packets back into the order of their sequence numbers. It waits for packets that are late,
/// up to a time limit. Times are in seconds.
public struct ReorderBuffer: Sendable {
  private struct Waiting: Sendable {
    var packet: RTPPacket
    var arrival: Double
  }

  /// The time that a packet waits for a missing one before it.
  public var timeout: Double
  /// The time until which packets wait at least; see ``hold(until:)``.
  private var held = -Double.infinity
  private var unwrapper = SequenceUnwrapper()
  /// The next sequence number to output, unwrapped; nil before the first packet.
  public private(set) var next: Int64?
  private var waiting: [Int64: Waiting] = [:]
  /// The number of packets that arrived too late, or twice.
  public private(set) var lateOrDuplicate = 0
  /// The largest number of waiting packets: a sender that skips numbers on purpose must not fill
  /// the memory.
  public static let maxWaitingPackets = 1024

  public init(timeout: Double) { self.timeout = timeout }

  /// Adds a packet.
  /// - Parameters:
  ///   - packet: The packet.
  ///   - time: When it arrived.
  ///   - isBeginning: Whether the stream begins with this packet. If it does not, and no packet was
  ///     output yet, it waits for those that may have been sent before it.
  /// - Returns: The packets that can be output now, with their unwrapped sequence numbers.
  public mutating func add(
    _ packet: RTPPacket, at time: Double, isBeginning: Bool = true
  ) -> [(packet: RTPPacket, sequence: Int64)] {
    let sequence = unwrapper.unwrap(packet.sequenceNumber)
    if next == nil, isBeginning {
      next = sequence
      waiting = waiting.filter { $0.key > sequence }
    }
    guard sequence >= next ?? sequence, waiting[sequence] == nil else {
      lateOrDuplicate += 1
      return []
    }
    waiting[sequence] = Waiting(packet: packet, arrival: time)
    return release(at: time)
  }

  /// Makes packets wait until a time, but at most twice as long as usual. This is for gaps that
  /// were found only now, after some of the packets after them had arrived.
  /// - Parameter time: The time to wait for.
  public mutating func hold(until time: Double) { held = time }

  private func isExpired(_ arrival: Double, at time: Double) -> Bool { time >= end(of: arrival) - 1e-9 }

  private func end(of arrival: Double) -> Double {
    min(max(arrival + timeout, held), arrival + 2 * timeout)
  }

  /// The time when ``release(at:)`` outputs packets without a further one arriving; nil if none
  /// waits.
  public var deadline: Double? {
    waiting.min { $0.key < $1.key }.map { end(of: $0.value.arrival) }
  }

  /// Removes and returns the packets that are in order, and those that have waited long enough for
  /// a missing one.
  /// - Parameter time: The current time.
  public mutating func release(at time: Double) -> [(packet: RTPPacket, sequence: Int64)] {
    var result: [(packet: RTPPacket, sequence: Int64)] = []
    if next == nil, let oldest = waiting.values.map(\.arrival).min(),
      isExpired(oldest, at: time) || waiting.count > Self.maxWaitingPackets
    {
      next = waiting.keys.min()
    }
    while var number = next, !waiting.isEmpty {
      if waiting[number] == nil {
        guard let first = waiting.keys.min(), let waited = waiting[first],
          waiting.count > Self.maxWaitingPackets || isExpired(waited.arrival, at: time)
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
