// SPDX-License-Identifier: Apache-2.0
/// The reception statistics of a stream, for receiver reports (RFC 3550, 6.4.1 and appendix A).
public struct ReceptionStatistics: Sendable {
  private let source: UInt32
  private let clockRate: Double
  private var unwrapper = SequenceUnwrapper()
  private var first: Int64?
  private var highest: Int64 = 0
  private var received: Int64 = 0
  private var expectedBefore: Int64 = 0
  private var receivedBefore: Int64 = 0
  private var transit: Double?
  /// The interarrival jitter, in units of the RTP clock.
  private var jitter = 0.0
  private var lastReport: (middle: UInt32, arrival: Double)?

  public init(source: UInt32, clockRate: Double = 90_000) {
    self.source = source
    self.clockRate = clockRate
  }

  public mutating func add(_ packet: RTPPacket, at time: Double) {
    let sequence = unwrapper.unwrap(packet.sequenceNumber)
    if first == nil {
      first = sequence
      highest = sequence
    }
    highest = max(highest, sequence)
    received += 1
    // Only differences matter, so that wrapped time stamps can be used if differences are taken
    // modulo 2^32.
    let now = (time * clockRate).truncatingRemainder(dividingBy: 4_294_967_296) - Double(packet.timestamp)
    if let transit {
      var difference = abs(now - transit)
      if difference > 2_147_483_648 { difference = abs(difference - 4_294_967_296) }
      jitter += (difference - jitter) / 16
    }
    transit = now
  }

  public mutating func add(_ report: RTCPPacket.SenderReport, at time: Double) {
    lastReport = (UInt32(truncatingIfNeeded: report.ntpTime >> 16), time)
  }

  /// The number of packets that have not arrived, or not yet; negative where some arrived twice.
  public var cumulativeLost: Int64 { first.map { highest - $0 + 1 - received } ?? 0 }

  /// Makes a report block; nil before the first packet.
  /// - Parameter time: The current time in seconds.
  public mutating func report(at time: Double) -> RTCPPacket.ReportBlock? {
    guard let first else { return nil }
    let expected = highest - first + 1
    let expectedNow = expected - expectedBefore
    let lostNow = expectedNow - (received - receivedBefore)
    expectedBefore = expected
    receivedBefore = received
    let fraction = expectedNow > 0 && lostNow > 0 ? min(lostNow * 256 / expectedNow, 255) : 0
    return RTCPPacket.ReportBlock(
      source: source, fractionLost: UInt8(fraction), cumulativeLost: Int32(clamping: cumulativeLost),
      highestSequence: UInt32(truncatingIfNeeded: highest), jitter: UInt32(min(jitter, 4e9)),
      lastReport: lastReport?.middle ?? 0,
      delaySinceLastReport: lastReport.map { UInt32(clamping: Int64((time - $0.arrival) * 65_536)) } ?? 0)
  }
}
