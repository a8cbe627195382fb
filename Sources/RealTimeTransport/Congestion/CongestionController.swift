// SPDX-License-Identifier: Apache-2.0
/// Estimates the bit rate that a path carries from the outcomes of the packets that were sent: a
/// delay-based controller in the manner of Google Congestion Control (draft-ietf-rmcat-gcc-02;
/// Carlucci et al., "Analysis and Design of the Google Congestion Control for WebRTC", 2016), with
/// multiplicative decrease to the rate that arrived, and additive increase near the rate at which
/// the queue last grew.
///
/// It differs from the draft in what calls need. The congestion signal is the queue itself, as in
/// SCReAM (RFC 8298): the one-way delay minus its lowest value, and of that the minimum over the
/// last frames, because the packets of one frame queue after each other. A standing queue is
/// drained before the rate rises again. Far from the rate at which the queue last grew, the rate
/// grows by four fifths per second and not by a twelfth. Losses of less than an eighth do not limit
/// the rate, because they are repaired.
///
/// Where other flows share the line, increase and decrease depend on the line's capacity
/// (``LineRate``), so that the flows' shares converge in the same time on any line: all add the
/// same amount, and a flow with a larger share gives up a larger part of it. Such increase and
/// decrease make shares equal (Chiu, Jain, "Analysis of the Increase and Decrease Algorithms for
/// Congestion Avoidance", 1989).
///
/// Times are in seconds.
public struct CongestionController: Sendable {
  /// The outcome of one packet.
  public struct PacketResult: Equatable, Sendable {
    /// When the packet was sent, in seconds.
    public var sent: Double
    /// When the packet arrived, in seconds of any clock; nil if it did not.
    public var arrived: Double?
    /// The size of the packet in bits.
    public var bits: Int

    public init(sent: Double, arrived: Double?, bits: Int) {
      self.sent = sent
      self.arrived = arrived
      self.bits = bits
    }
  }

  /// The lowest, the highest and the first value of `targetRate`, in bits per second.
  public struct Limits: Equatable, Sendable {
    public var minimum = 50_000.0
    public var maximum = 20_000_000.0
    public var start = 1_000_000.0

    public init() {}
  }

  /// A packet that has arrived.
  private struct Arrival: Sendable {
    var sent: Double
    var time: Double
    var bits: Int
    /// The one-way delay, plus the unknown difference of the two clocks.
    var delay: Double { time - sent }
  }

  /// The queueing delay from which the rate falls, and the one up to which it rises.
  private static let overuse = 0.03
  private static let idle = 0.012
  /// The size of a large packet, in bits.
  private static let packetBits = 9600.0
  /// The time over which the minimum of the delay is taken, to detect a standing queue: three
  /// frames at 30 frames per second.
  private static let window = 0.11
  /// The time over which the arriving rate is measured when the queue grows, and otherwise.
  private static let shortSpan = 0.12
  private static let longSpan = 0.6
  /// The factor by which the rate falls at most to the rate that arrived.
  private static let decrease = 0.85
  /// The fraction of the rate at which the queue last grew that is given up where no other flow
  /// uses the line. Where others do, `sharedCut` times this flow's share of the line is given up:
  /// the more, the larger the share.
  private static let cut = 0.08
  private static let sharedCut = 0.3
  /// The increase in bits per second each second near the last congestion: the lowest value, and
  /// the values as fractions of the line's rate, for a flow that is alone and for one that shares
  /// the line.
  private static let additive = 80_000.0
  private static let additiveShare = 0.03
  private static let sharedAdditiveShare = 0.08
  /// The share of the line's rate above which the flow is assumed to be alone, and the one below
  /// which other flows certainly use the line.
  private static let alone = 0.85
  private static let decreaseWithOtherFlows = 0.65
  /// The lowest share that is used, and the share below which none is computed: a line that sends
  /// several packets at once, as radio links do, appears faster than it is.
  private static let minShare = 0.2
  private static let minLikelyShare = 0.05
  /// The factor by which the rate grows in a second, far from the last congestion.
  private static let growth = 1.8
  /// The largest rate to try, as a multiple of the rate that arrived lately: where packet spacing
  /// shows that the line carries more, and where it does not.
  private static let (maxTried, maxTriedBlindly) = (2.0, 1.5)
  /// The time over which losses are counted; and the fraction of lost packets in the last third of
  /// it from which the rate falls at once.
  private static let lossSpan = 3.0
  private static let heavyLoss = 0.35
  /// The largest number of packets that are remembered.
  private static let maxArrivals = 4096
  /// The least and the largest number of packets from whose spacing a busy line is detected; and
  /// the fraction of the target rate below which its rate is too low.
  private static let trainLength = 3...4
  private static let slowLine = 0.75
  /// The queueing delay from which pictures are skipped until it is shorter.
  private static let longQueue = 0.07
  /// A change of the delay from one packet to the next that no queue can cause, so that the
  /// receiver's clock must have been set.
  private static let clockStep = 10.0
  /// The time after a report for which pictures may be skipped.
  private static let longestSilence = 0.5
  /// The time for which the lowest delay is remembered, at most twice this. Cameras stay at the
  /// same distance in time: a flow whose frames always come right after another's sees them always
  /// wait, and must not take that for a standing queue. Standing queues are drained more often than
  /// this.
  private static let baseSpan = 10.0

  private let limits: Limits
  private var arrivals: [Arrival] = []
  private var losses: [(time: Double, lost: Int, all: Int)] = []
  private var base = (now: Double.infinity, before: Double.infinity, since: -Double.infinity)
  /// The rate in bits per second that arrived when the queue last grew; nil if unknown.
  private var capacity: Double?
  private var line = LineRate()
  /// Whether the rate is kept low until the queue is empty.
  private var isDraining = false
  /// The queueing delays of the last `window` seconds.
  private var trail: [(time: Double, delay: Double)] = []
  private var lastDecrease = -Double.infinity
  private var lastUpdate: Double?
  /// The packets that were sent and not reported yet.
  private var inFlight: [(sent: Double, bits: Int)] = []
  /// The bit rate that the encoder may produce, in bits per second.
  public private(set) var targetRate: Double
  /// The queueing delay: the time that packets of any frame wait on the path.
  public private(set) var queueDelay = 0.0

  public init(_ limits: Limits = Limits()) {
    self.limits = limits
    targetRate = min(max(limits.start, limits.minimum), limits.maximum)
  }

  /// Records a packet that is sent.
  /// - Parameters:
  ///   - bits: The size of the packet.
  ///   - time: When it is sent.
  public mutating func noteSent(bits: Int, at time: Double) {
    if inFlight.count >= Self.maxArrivals { inFlight.removeFirst(Self.maxArrivals / 2) }
    inFlight.append((time, bits))
  }

  /// Whether the queue on the path is so long that another picture would only wait in it.
  ///
  /// The answer is false some time after the last report: without reports nothing is known of the
  /// queue, and without pictures none would come. So a wrong clock at the other end, or a wrong
  /// report, cannot stop the pictures.
  /// - Parameter time: The current time.
  public func isOverfull(at time: Double) -> Bool {
    guard isDraining, let lastUpdate, time - lastUpdate < Self.longestSilence else { return false }
    return expectedWait(at: time) > Self.longQueue
  }

  /// The estimated time that a packet which is sent now would wait, if the line still carries
  /// `capacity`.
  private func expectedWait(at time: Double) -> Double {
    guard let newest = arrivals.last, let capacity else { return 0 }
    let bits = inFlight.reduce(0) { $0 + ($1.sent > newest.sent ? $1.bits : 0) }
    let reported = newest.delay - min(base.now, base.before)
    return max(newest.sent + reported + Double(bits) / max(capacity, limits.minimum) - time, 0)
  }

  /// Updates the target rate with a receiver's report.
  /// - Parameters:
  ///   - results: The outcomes of packets, in the order of sending.
  ///   - time: The current time.
  ///   - roundTrip: The round trip.
  public mutating func update(_ results: [PacketResult], at time: Double, roundTrip: Double) {
    guard !results.isEmpty else { return }
    note(results, at: time)
    guard let newest = arrivals.last else { return }
    queueDelay = max(
      (arrivals.reversed().prefix { $0.time > newest.time - Self.window }.map(\.delay).min() ?? 0)
        - min(base.now, base.before), 0)
    let elapsed = min(max(time - (lastUpdate ?? time), 0), 0.5)
    lastUpdate = time
    // The transmission time of a large packet: it exceeds that of the small one that `base` may be
    // of.
    let packet = Self.packetBits / targetRate
    trail.append((time, queueDelay))
    while trail.count > 2, trail[1].time <= time - Self.window { trail.removeFirst() }
    let isSteady = line.isSteady(at: newest.time)
    // Another flow's frame between this flow's packets does not mean that the line is slow.
    if !isDraining, time - lastDecrease > roundTrip, isSteady != true, let carried = slowLineRate {
      reduceRate(to: carried, at: time)
    } else if queueDelay > Self.overuse + packet {
      // Falls again if the first time did not help: the queue still grows, or does not shrink for
      // long.
      let isGrowing = queueDelay > (trail.first?.delay ?? 0) + 0.005
      let since = time - lastDecrease
      if !isDraining || since > roundTrip + 0.05 && isGrowing || since > roundTrip + 1 {
        reduceRate(to: arrivalRate(Self.shortSpan) ?? targetRate * Self.decrease, at: time)
        // The rate of the last frames alone depends on how they fell among other flows' packets, so
        // the longer measurement counts. Without other flows the line itself may have become
        // slower.
        if isSteady == true, let longTermRate = arrivalRate(Self.longSpan),
          line.bitsPerSecond.map({ longTermRate < Self.alone * $0 }) ?? true
        {
          capacity = longTermRate
        }
      }
    } else if isDraining {
      if queueDelay <= Self.idle + packet {
        isDraining = false
        // The queue is empty: the rate returns to what the line carries.
        if let capacity { set(max(targetRate, capacity * (1 - cut))) }
      }
    } else if queueDelay <= Self.idle + packet {
      increaseRate(elapsed, at: time)
    }
    reduceRateForLosses(at: time, roundTrip: roundTrip)
  }

  /// Reduces the target rate because no feedback has arrived for a while: the path may be
  /// congested.
  /// - Parameter time: The current time.
  public mutating func noteSilence(at time: Double) {
    guard time - lastDecrease > 0.5 else { return }
    lastDecrease = time
    set(targetRate * 0.7)
  }

  private mutating func note(_ results: [PacketResult], at time: Double) {
    var before = arrivals.last
    for result in results {
      guard let arrived = result.arrived else {
        before = nil
        continue
      }
      let delay = arrived - result.sent
      // No queue causes this: the receiver's clock was set, or its reports are wrong. Earlier
      // delays cannot be compared with later ones.
      if let last = arrivals.last, abs(delay - last.delay) > Self.clockStep {
        before = nil
        arrivals.removeAll()
        trail.removeAll()
        line = LineRate()
        base = (.infinity, .infinity, -.infinity)
        isDraining = false
      }
      if time - base.since > Self.baseSpan { base = (delay, base.now, time) }
      base.now = min(base.now, delay)
      if let before, abs(result.sent - before.sent) < LineRate.together, arrived >= before.time {
        let pause = arrived - before.time
        // Pauses that exceed the transmission time on the slowest line are left out: a radio link
        // or a machine has stalled.
        if pause < 0.05 + Double(result.bits) / limits.minimum {
          // The line has become faster, so `capacity` no longer applies if it was all that the line
          // carried.
          let isAlone = share.map { likelihoodOfOtherFlows($0) == 0 } ?? false
          if line.add(bits: result.bits, pause: pause, at: arrived), isAlone, !isDraining { capacity = nil }
        }
      }
      let arrival = Arrival(sent: result.sent, time: arrived, bits: result.bits)
      before = arrival
      arrivals.append(arrival)
    }
    if let newest = results.last?.sent { inFlight.removeAll { $0.sent <= newest } }
    losses.append((time, results.count { $0.arrived == nil }, results.count))
    losses.removeAll { $0.time < time - Self.lossSpan }
    // Bounded by number too, because a receiver's times cannot be trusted.
    if arrivals.count > Self.maxArrivals { arrivals.removeFirst(arrivals.count - Self.maxArrivals) }
    if let newest = arrivals.last {
      arrivals.removeAll { $0.time < newest.time - 2 * Self.longSpan }
    }
  }

  /// The arriving rate over a time, in bits per second; nil if there are too few packets.
  private func arrivalRate(_ span: Double) -> Double? {
    guard let newest = arrivals.last, let oldest = arrivals.first, newest.time - oldest.time > span / 2 else {
      return nil
    }
    let length = min(span, newest.time - oldest.time)
    let bits = arrivals.reduce(0) { $0 + ($1.time > newest.time - length ? $1.bits : 0) }
    return Double(bits) / length
  }

  /// The rate of a busy line, measured on the newest packets, if it is clearly below the target
  /// rate; this shows before a queue builds up. Packets that have waited for each other arrive with
  /// the spacing of their transmission times. The longest pause is left out, because it may have
  /// another cause.
  private var slowLineRate: Double? {
    guard let newest = arrivals.last else { return nil }
    let minimum = min(base.now, base.before)
    var (time, bits, count) = (0.0, 0, 0)
    var longest = (pause: 0.0, bits: 0)
    var later = newest
    for earlier in arrivals.dropLast().reversed() {
      guard count < Self.trainLength.upperBound, later.sent + minimum < earlier.time else { break }
      let pause = later.time - earlier.time
      if pause > longest.pause { longest = (pause, later.bits) }
      (time, bits, count) = (time + pause, bits + later.bits, count + 1)
      later = earlier
    }
    guard count >= Self.trainLength.lowerBound, time > longest.pause else { return nil }
    let rate = Double(bits - longest.bits) / (time - longest.pause)
    // The newest packet has waited for longer than this flow's own packets explain.
    let wait = newest.delay - minimum - Double(bits) / targetRate
    return rate < Self.slowLine * targetRate && wait > Self.overuse ? rate : nil
  }

  /// Notes the rate that the line carries, and reduces the target rate until the queue is empty.
  private mutating func reduceRate(to carried: Double, at time: Double) {
    capacity = carried
    isDraining = true
    lastDecrease = time
    // Low enough to empty the queue in half a second.
    set(min(carried * max(Self.decrease - queueDelay / 0.5, 0.3), targetRate * Self.decrease))
  }

  /// This flow's share of the line's rate when the queue last grew; nil where it is unknown.
  private var share: Double? {
    guard let capacity, let line = line.bitsPerSecond, capacity > Self.minLikelyShare * line else {
      return nil
    }
    return min(max(capacity / line, Self.minShare), 1)
  }

  /// How certain it is that other flows use the line: from 0 (this flow is alone) to 1.
  private func likelihoodOfOtherFlows(_ share: Double) -> Double {
    min(max((Self.alone - share) / (Self.alone - Self.decreaseWithOtherFlows), 0), 1)
  }

  /// The fraction of `capacity` that is given up after the queue was drained.
  private var cut: Double {
    guard let share else { return Self.cut }
    return Self.cut + likelihoodOfOtherFlows(share) * (Self.sharedCut * share - Self.cut)
  }

  /// The increase in bits per second each second near the last congestion.
  private var additive: Double {
    guard let capacity, let share else { return Self.additive }
    let line = capacity / share
    let alone = max(Self.additive, Self.additiveShare * line)
    return alone + likelihoodOfOtherFlows(share) * (Self.sharedAdditiveShare * line - alone)
  }

  private mutating func increaseRate(_ elapsed: Double, at time: Double) {
    if let capacity, targetRate > capacity * 1.1 { self.capacity = nil }
    var next = targetRate
    // A rate that exceeds the line's is near congestion too.
    let fills = line.bitsPerSecond.map { targetRate > $0 } ?? false
    if capacity != nil || fills {
      next += additive * elapsed
    } else {
      next *= 1 + (Self.growth - 1) * elapsed
    }
    // At most half above the rate that arrived (5.5 of the draft): an encoder with little to encode
    // proves nothing. Encoders produce less than they may: with a third, an encoder at three
    // quarters of the target rate kept it from rising. Where packet spacing shows that the line
    // carries more, more is tried.
    if let carried = arrivalRate(Self.longSpan) {
      let maximum =
        capacity == nil && !fills && line.bitsPerSecond != nil ? Self.maxTried : Self.maxTriedBlindly
      next = min(next, max(maximum * carried + 10_000, targetRate))
    }
    set(next)
  }

  private mutating func reduceRateForLosses(at time: Double, roundTrip: Double) {
    guard time - lastDecrease > roundTrip + 0.3 else { return }
    let late = lossShare(after: time - Self.lossSpan / 3)
    let share = late > Self.heavyLoss ? late : lossShare(after: time - Self.lossSpan)
    // A burst of losses on a radio link ends before a lower rate could help.
    let isLong = time - (losses.first?.time ?? time) > Self.lossSpan * 0.8
    guard share > 0.125, isLong || late > Self.heavyLoss else { return }
    lastDecrease = time
    losses.removeAll()
    set(targetRate * (1 - 0.5 * share))
  }

  private func lossShare(after time: Double) -> Double {
    let recent = losses.filter { $0.time >= time }
    let all = recent.reduce(0) { $0 + $1.all }
    return all < 20 ? 0 : Double(recent.reduce(0) { $0 + $1.lost }) / Double(all)
  }

  private mutating func set(_ rate: Double) { targetRate = min(max(rate, limits.minimum), limits.maximum) }
}
