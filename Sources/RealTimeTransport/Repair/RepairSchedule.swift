// SPDX-License-Identifier: Apache-2.0
/// What a sender does beyond sending again what it is asked for: it sends a few packets twice, and leaves pictures out where
/// what is sent again takes the line. It has no clock and sends nothing itself; times are in seconds, rates in bits a second.
public struct RepairSchedule: Sendable {
  /// Share of packets lost from which on a retransmission goes twice: one that is lost too is missed for a whole round trip
  /// more, and the picture stands still; a copy costs as many bits as were lost. Seconds between the two, since losses
  /// come in bursts.
  private static let copyLoss = 0.004
  private static let copyDelay = 0.012
  /// Longest round trip in seconds with copies.
  private static let copyTrip = 0.15
  /// Copies that wait at most.
  private static let mostCopies = 256
  /// Packets of one request that are copied at most. Who asks for more has seen the end of a burst.
  private static let mostCopied = 2
  /// Seconds that the line has to carry behind a burst from which a picture is left out, since it would only make the repair
  /// behind it late, and seconds without a picture that this may take.
  private static let longQueue = 0.06
  private static let longestPause = 0.09
  /// Seconds over which retransmissions are counted, and for which a burst makes a queue.
  private static let resentSpan = 3.0
  private static let burstSpan = 0.25
  /// Seconds in which the loss that repair follows goes two thirds of its way.
  private static let lossSpan = 3.5
  /// Of a report to the next, as a rule.
  private static let reportInterval = 1.0
  /// Of IPv4 and UDP.
  private static let headerSize = 28

  /// Bits that the line has to carry still, at a time.
  private var queue = (bits: 0.0, time: 0.0)

  /// Packets that are sent a third time without being asked for, in the order in which they are due.
  private var copies: [(due: Double, number: UInt16)] = []
  /// What was sent again, lately: when, how many bits, and whether it was lost in a burst.
  private var resent: [(time: Double, bits: Int, isBurst: Bool)] = []
  private var losses: ReportedLosses
  private var lastReport: Double?
  /// Share of packets that is lost, smoothed; a guess at first, since what is lost before the first report is not protected else.
  public private(set) var lossLevel = 0.02
  /// Share of the packets of the last two seconds or so that the receiver did not get the first time.
  public var lossShare: Double { losses.share }

  /// - Parameter firstSequence: the number of the first packet of media.
  public init(firstSequence: UInt16) { losses = ReportedLosses(firstSequence: firstSequence) }

  /// Takes a receiver's report of the media.
  public mutating func take(_ block: RTCPPacket.ReportBlock, at time: Double) {
    losses.take(block, at: time)
    // By time: reports come with every request, and more of them when more is lost.
    let elapsed = min(max(time - (lastReport ?? time - Self.reportInterval), 0), 2 * Self.lossSpan)
    lastReport = time
    lossLevel += (losses.share - lossLevel) * elapsed / (elapsed + Self.lossSpan)
  }

  /// Takes note of a packet that is sent, for the first time or again.
  /// - Parameter rate: what the line is thought to carry.
  public mutating func noteSent(_ packet: [UInt8], at time: Double, rate: Double) {
    queue = (queueLeft(at: time, rate: rate) + Double((packet.count + Self.headerSize) * 8), time)
  }

  private func queueLeft(at time: Double, rate: Double) -> Double {
    max(queue.bits - (time - queue.time) * rate, 0)
  }

  /// Takes note of a packet that is sent again; ``noteSent(_:at:rate:)`` is apart.
  /// - Parameter isBurst: whether it was lost with others.
  public mutating func noteResent(_ packet: [UInt8], isBurst: Bool, at time: Double) {
    resent.removeAll { $0.time < time - Self.resentSpan }
    resent.append((time, packet.count * 8, isBurst))
  }

  /// Plans copies of what a request asked for, where they help.
  /// - Parameters:
  ///   - roundTrip: the shortest of late.
  ///   - isProtected: repair packets go along.
  /// - Returns: Whether it asked for a burst.
  public mutating func plan(
    _ numbers: [UInt16], at time: Double, roundTrip: Double, isProtected: Bool
  ) -> Bool {
    guard numbers.count <= Self.mostCopied else { return true }
    guard lossLevel >= Self.copyLoss, roundTrip < Self.copyTrip, !isProtected else { return false }
    for number in numbers where copies.count < Self.mostCopies {
      copies.append((time + Self.copyDelay, number))
    }
    return false
  }

  /// When the next copy is due; infinite if none is.
  public var nextCopy: Double { copies.first?.due ?? .infinity }

  /// The numbers of the packets that are due to be copied.
  public mutating func takeCopies(at time: Double) -> [UInt16] {
    let due = copies.prefix { $0.due <= time + 1e-9 }.map(\.number)
    copies.removeFirst(due.count)
    return due
  }

  /// Bits a second of what was sent again in the last seconds.
  public mutating func resentRate(at time: Double) -> Double {
    resent.removeAll { $0.time < time - Self.resentSpan }
    return Double(resent.reduce(0) { $0 + $1.bits }) / Self.resentSpan
  }

  /// Whether a picture more would only make the repair late.
  /// - Parameters:
  ///   - rate: what the line is thought to carry.
  ///   - lastFrame: when a picture was sent last.
  public func isOverfull(at time: Double, rate: Double, lastFrame: Double) -> Bool {
    guard time - lastFrame < Self.longestPause else { return false }
    let rate = max(rate, 1)
    let burst = resent.reduce(0) { $0 + ($1.isBurst && $1.time > time - Self.burstSpan ? $1.bits : 0) }
    return min(queueLeft(at: time, rate: rate), Double(burst)) > Self.longQueue * rate
  }
}
