// SPDX-License-Identifier: Apache-2.0
/// A receiver's note of when packets arrived, for congestion control feedback (RFC 8888).
public struct ArrivalRecorder: Sendable {
  private struct Stream: Sendable {
    var unwrapper = SequenceUnwrapper()
    /// The highest number that has come.
    var highest: Int64?
    /// A packet whose number lies far above the highest: believed when its successor comes.
    var suspect: (number: UInt16, time: Double)?
    /// The first number that was not reported yet.
    var next: Int64?
    var arrivals: [Int64: Double] = [:]

    mutating func add(_ number: UInt16, at time: Double) {
      let sequence = unwrapper.unwrap(number)
      highest = max(highest ?? sequence, sequence)
      // What has been reported as missing stays so.
      if sequence >= next ?? sequence { arrivals[sequence] = time }
    }
  }

  /// By how much a number may lie above the highest at once (RFC 3550, A.1).
  private static let mostAhead = 3000

  /// Sources that are listened to: media, and what is sent again.
  private var streams: [UInt32: Stream]
  /// Packets of each that one report tells of: together no more than it may.
  private let mostOfStream: Int

  public init(sources: [UInt32]) {
    streams = Dictionary(sources.map { ($0, Stream()) }, uniquingKeysWith: { one, _ in one })
    mostOfStream = StreamArrivals.mostPackets / max(streams.count, 1)
  }

  public mutating func add(source: UInt32, number: UInt16, at time: Double) {
    guard var stream = streams[source] else { return }
    if let highest = stream.highest,
      Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)) > Self.mostAhead
    {
      guard let suspect = stream.suspect, number == suspect.number &+ 1 else {
        stream.suspect = (number, time)
        streams[source] = stream
        return
      }
      stream.add(suspect.number, at: suspect.time)
    }
    stream.suspect = nil
    stream.add(number, at: time)
    // No report tells of more than the newest.
    if stream.arrivals.count > mostOfStream * 2, let highest = stream.highest {
      let first = highest - Int64(mostOfStream) + 1
      stream.arrivals = stream.arrivals.filter { $0.key >= first }
    }
    streams[source] = stream
  }

  /// What has arrived since the last report; nil if nothing has.
  public mutating func report(from sender: UInt32, clock: MediaClock, at time: Double) -> RTCPPacket? {
    var blocks: [StreamArrivals] = []
    for source in streams.keys.sorted() {
      guard var stream = streams[source], let last = stream.arrivals.keys.max(),
        let least = stream.arrivals.keys.min()
      else { continue }
      let first = max(stream.next ?? least, last - Int64(mostOfStream) + 1)
      let offsets = (first...last).map { number in
        stream.arrivals[number].map {
          UInt16(min(max((time - $0) * 1024, 0), Double(StreamArrivals.farPast)))
        }
      }
      blocks.append(
        StreamArrivals(source: source, first: UInt16(truncatingIfNeeded: first), offsets: offsets))
      stream.next = last + 1
      stream.arrivals.removeAll(keepingCapacity: true)
      streams[source] = stream
    }
    guard !blocks.isEmpty else { return nil }
    let stamp = UInt32(truncatingIfNeeded: clock.ntpTime(at: time) >> 16)
    return .congestionFeedback(sender: sender, streams: blocks, time: stamp)
  }
}
