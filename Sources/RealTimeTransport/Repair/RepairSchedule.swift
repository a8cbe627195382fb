// SPDX-License-Identifier: Apache-2.0
/// A sender's repair beyond answering requests: it sends some retransmissions twice, and skips
/// pictures while retransmissions fill the line. It has no clock and sends nothing itself. Times
/// are in seconds, rates in bits per second.
public struct RepairSchedule: Sendable {
  /// The fraction of lost packets from which a retransmission is sent twice: if it is lost too, the
  /// picture is frozen for another round trip, while a copy costs only as many bits as were
  /// lost. The second constant is the time in seconds between the two, because losses come in
  /// bursts.
  private static let copyLoss = 0.004
  private static let copyDelay = 0.012
  /// The longest round trip, in seconds, at which copies are sent.
  private static let copyRTT = 0.15
  /// The largest number of copies that wait to be sent.
  private static let maxCopies = 256
  /// The largest number of packets of one request that are copied. A receiver that asks for more
  /// has seen the end of a burst of losses.
  private static let maxCopiesPerRequest = 2
  /// The length of the queue after a burst, in seconds of the line's rate, from which a picture is
  /// skipped, because it would only delay the repair; and the longest time in seconds without a
  /// picture that this may cause.
  private static let longQueue = 0.06
  private static let longestPause = 0.09
  /// The time in seconds over which retransmissions are counted, and the time after which the
  /// retransmissions of a burst no longer count as a queue.
  private static let resentSpan = 3.0
  private static let burstSpan = 0.25
  /// The time constant, in seconds, of `lossLevel`.
  private static let lossSpan = 3.5
  /// The usual time in seconds between two reports.
  private static let reportInterval = 1.0
  /// The size of the headers of IPv4 and UDP, in bytes.
  private static let headerSize = 28

  /// The number of bits that the line had still to carry at a time.
  private var queue = (bits: 0.0, time: 0.0)

  /// The sequence numbers of the packets to copy, with the time when each is due, in that order.
  private var copies: [(due: Double, number: UInt16)] = []
  /// The retransmissions of the last `resentSpan` seconds: when each was sent, its size in bits,
  /// and whether the packet was lost in a burst.
  private var resent: [(time: Double, bits: Int, isBurst: Bool)] = []
  private var losses: ReportedLosses
  private var lastReport: Double?
  /// The smoothed fraction of lost packets. It starts with a guess, because otherwise packets that
  /// are lost before the first report would have no protection.
  public private(set) var lossLevel = 0.02
  /// The fraction of the packets of about the last two seconds that the receiver did not get at the
  /// first attempt.
  public var lossShare: Double { losses.share }

  /// Creates a schedule.
  /// - Parameter firstSequence: The sequence number of the first media packet.
  public init(firstSequence: UInt16) { losses = ReportedLosses(firstSequence: firstSequence) }

  /// Processes a receiver's report block about the media.
  /// - Parameters:
  ///   - block: The report block.
  ///   - time: When it arrived.
  public mutating func update(_ block: RTCPPacket.ReportBlock, at time: Double) {
    losses.update(block, at: time)
    // Smoothed over time rather than over reports, because a report accompanies every request, so
    // that there are more of them when more is lost.
    let elapsed = min(max(time - (lastReport ?? time - Self.reportInterval), 0), 2 * Self.lossSpan)
    lastReport = time
    lossLevel += (losses.share - lossLevel) * elapsed / (elapsed + Self.lossSpan)
  }

  /// Records a packet that is sent, for the first time or again.
  /// - Parameters:
  ///   - packet: The packet's bytes.
  ///   - time: When it is sent.
  ///   - rate: The estimated rate of the line.
  public mutating func noteSent(_ packet: [UInt8], at time: Double, rate: Double) {
    queue = (queueLeft(at: time, rate: rate) + Double((packet.count + Self.headerSize) * 8), time)
  }

  private func queueLeft(at time: Double, rate: Double) -> Double {
    max(queue.bits - (time - queue.time) * rate, 0)
  }

  /// Records a packet that is sent again, in addition to ``noteSent(_:at:rate:)``.
  /// - Parameters:
  ///   - packet: The packet's bytes.
  ///   - isBurst: Whether it was lost together with others.
  ///   - time: When it is sent.
  public mutating func noteResent(_ packet: [UInt8], isBurst: Bool, at time: Double) {
    resent.removeAll { $0.time < time - Self.resentSpan }
    resent.append((time, packet.count * 8, isBurst))
  }

  /// Plans copies of the packets that a request asks for, where they help.
  /// - Parameters:
  ///   - numbers: The sequence numbers that are sent again.
  ///   - time: When they are sent.
  ///   - roundTrip: The shortest recent round trip.
  ///   - isProtected: Whether repair packets (forward error correction) are sent.
  /// - Returns: Whether the request is for a burst of lost packets.
  public mutating func plan(
    _ numbers: [UInt16], at time: Double, roundTrip: Double, isProtected: Bool
  ) -> Bool {
    guard numbers.count <= Self.maxCopiesPerRequest else { return true }
    guard lossLevel >= Self.copyLoss, roundTrip < Self.copyRTT, !isProtected else { return false }
    for number in numbers where copies.count < Self.maxCopies {
      copies.append((time + Self.copyDelay, number))
    }
    return false
  }

  /// The time when the next copy is due; infinite if none is planned.
  public var nextCopy: Double { copies.first?.due ?? .infinity }

  /// Removes and returns the sequence numbers of the copies that are due.
  /// - Parameter time: The current time.
  public mutating func takeCopies(at time: Double) -> [UInt16] {
    let due = copies.prefix { $0.due <= time + 1e-9 }.map(\.number)
    copies.removeFirst(due.count)
    return due
  }

  /// Computes the rate of retransmissions over the last seconds, in bits per second.
  /// - Parameter time: The current time.
  public mutating func resentRate(at time: Double) -> Double {
    resent.removeAll { $0.time < time - Self.resentSpan }
    return Double(resent.reduce(0) { $0 + $1.bits }) / Self.resentSpan
  }

  /// Whether another picture would only delay the repair.
  /// - Parameters:
  ///   - time: The current time.
  ///   - rate: The estimated rate of the line.
  ///   - lastFrame: When the last picture was sent.
  public func isOverfull(at time: Double, rate: Double, lastFrame: Double) -> Bool {
    guard time - lastFrame < Self.longestPause else { return false }
    let rate = max(rate, 1)
    let burst = resent.reduce(0) { $0 + ($1.isBurst && $1.time > time - Self.burstSpan ? $1.bits : 0) }
    return min(queueLeft(at: time, rate: rate), Double(burst)) > Self.longQueue * rate
  }
}
