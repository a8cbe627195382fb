// SPDX-License-Identifier: Apache-2.0
/// Records when packets arrive at a receiver, for congestion control feedback (RFC 8888).
public struct ArrivalRecorder: Sendable {
  private struct Stream: Sendable {
    var unwrapper = SequenceUnwrapper()
    /// The highest sequence number that has arrived, unwrapped.
    var highest: Int64?
    /// A packet whose number lies far above the highest: it is accepted when its successor arrives.
    var suspect: (number: UInt16, time: Double)?
    /// The first sequence number that was not reported yet.
    var next: Int64?
    /// The arrival times in seconds of packets that were not reported yet, by sequence number.
    var arrivals: [Int64: Double] = [:]

    mutating func add(_ number: UInt16, at time: Double) {
      let sequence = unwrapper.unwrap(number)
      highest = max(highest ?? sequence, sequence)
      // A packet that was reported as missing is not reported again.
      if sequence >= next ?? sequence { arrivals[sequence] = time }
    }
  }

  /// By how much a sequence number may exceed the highest one (MAX_DROPOUT of RFC 3550, A.1).
  private static let maxDropout = 3000

  /// The recorded streams by synchronisation source: media, retransmissions and repair packets.
  private var streams: [UInt32: Stream]
  /// The largest number of packets of each stream in a report, so that all streams together keep
  /// the report's limit.
  private let maxPacketsPerStream: Int

  /// Creates a recorder.
  /// - Parameter sources: The synchronisation sources to record; packets of others are ignored.
  public init(sources: [UInt32]) {
    streams = Dictionary(sources.map { ($0, Stream()) }, uniquingKeysWith: { one, _ in one })
    maxPacketsPerStream = StreamArrivals.maxPackets / max(streams.count, 1)
  }

  /// Records a packet that has arrived.
  /// - Parameters:
  ///   - source: Its synchronisation source.
  ///   - number: Its sequence number.
  ///   - time: When it arrived, in seconds.
  public mutating func add(source: UInt32, number: UInt16, at time: Double) {
    guard var stream = streams[source] else { return }
    if let highest = stream.highest,
      Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)) > Self.maxDropout
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
    // A report contains the newest packets only.
    if stream.arrivals.count > maxPacketsPerStream * 2, let highest = stream.highest {
      let first = highest - Int64(maxPacketsPerStream) + 1
      stream.arrivals = stream.arrivals.filter { $0.key >= first }
    }
    streams[source] = stream
  }

  /// Makes a report of the packets that have arrived since the last one; nil if there are none.
  /// - Parameters:
  ///   - sender: The synchronisation source of the report.
  ///   - clock: The clock that the report's time stamp is of.
  ///   - time: The current time, in seconds.
  public mutating func report(from sender: UInt32, clock: MediaClock, at time: Double) -> RTCPPacket? {
    var blocks: [StreamArrivals] = []
    for source in streams.keys.sorted() {
      guard var stream = streams[source], let last = stream.arrivals.keys.max(),
        let minimum = stream.arrivals.keys.min()
      else { continue }
      let first = max(stream.next ?? minimum, last - Int64(maxPacketsPerStream) + 1)
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
