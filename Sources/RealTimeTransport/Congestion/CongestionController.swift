// SPDX-License-Identifier: Apache-2.0
/// How many bits a second a path takes, from what became of the packets that were sent: a delay-based controller in the
/// manner of Google's (draft-ietf-rmcat-gcc-02; Carlucci et al., "Analysis and Design of the Google Congestion Control for
/// WebRTC", 2016) with multiplicative decrease to what arrived, and additive increase near the rate at which the queue grew
/// last.
///
/// It differs from the draft where calls asked for it. The signal is the queue itself, as in SCReAM (RFC 8298): the one-way
/// delay above its least value, and of that the least of the last frames, since the packets of one frame queue behind one
/// another. A queue that stands is drained before the rate comes back. Far from where the queue grew last the rate grows
/// by four fifths in a second and not by a twelfth. Losses of less than an eighth do not hold the rate, since they are repaired.
///
/// Where others use the line too, both steps go by what the line carries (``LineRate``), so that shares come together in
/// the same time on any line: all add the same, and who has more gives up the larger part of what it has. Increase and decrease
/// so have the form that makes shares equal (Chiu, Jain, "Analysis of the Increase and Decrease Algorithms for Congestion
/// Avoidance", 1989).
public struct CongestionController: Sendable {
  /// What became of a packet.
  public struct PacketResult: Equatable, Sendable {
    /// When it was sent, in seconds.
    public var sent: Double
    /// When it arrived, in seconds of any clock; nil if it did not.
    public var arrived: Double?
    public var bits: Int

    public init(sent: Double, arrived: Double?, bits: Int) {
      self.sent = sent
      self.arrived = arrived
      self.bits = bits
    }
  }

  /// Bits a second.
  public struct Limits: Equatable, Sendable {
    public var least = 50_000.0
    public var most = 20_000_000.0
    public var start = 1_000_000.0

    public init() {}
  }

  private struct Arrival: Sendable {
    var sent: Double
    var time: Double
    var bits: Int
    var delay: Double { time - sent }
  }

  /// Seconds of queue from which the rate falls, and up to which it rises.
  private static let overuse = 0.03
  private static let idle = 0.012
  /// Of a large packet.
  private static let packetBits = 9600.0
  /// Seconds in which a standing queue shows: three frames at 30 a second.
  private static let window = 0.11
  /// Seconds over which arrivals are counted when the queue grows, and as a rule.
  private static let shortSpan = 0.12
  private static let longSpan = 0.6
  private static let decrease = 0.85
  /// Share of what arrived when the queue grew that is given up where nobody else uses the line; where others do, of that
  /// share of the line's rate that it was: it is cut the more the larger it is.
  private static let cut = 0.08
  private static let sharedCut = 0.3
  /// Bits a second that a second adds near the last congestion, at least, and as shares of the line's rate: alone, and with
  /// others.
  private static let additive = 80_000.0
  private static let additiveShare = 0.03
  private static let sharedAdditiveShare = 0.08
  /// A share of the line's rate above which it is thought to be used alone, and below which others are certain to use it.
  private static let alone = 0.85
  private static let withOthers = 0.65
  /// The least share that is believed, and the least that is likely: a line that sends several packets at once, as radios do,
  /// seems to be faster than it is.
  private static let leastShare = 0.2
  private static let leastLikelyShare = 0.05
  /// Of the rate in a second, elsewhere.
  private static let growth = 1.8
  /// Times what arrived of late that may be tried: where packets say that the line carries more, and where they do not.
  private static let (mostTried, mostTriedBlindly) = (2.0, 1.5)
  /// Seconds over which losses are counted, and the share of a third of them from which they count at once.
  private static let lossSpan = 3.0
  private static let heavyLoss = 0.35
  private static let mostArrivals = 4096
  /// Packets that a busy line is told by, at least, and at most; and the share of the rate below which it is too slow.
  private static let trainLength = 3...4
  private static let slowLine = 0.75
  /// Seconds of queue from which pictures are left out until it is shorter.
  private static let longQueue = 0.07
  /// Seconds by which no queue changes from one packet to the next.
  private static let clockStep = 10.0
  /// Seconds after a report for which pictures may be left out.
  private static let longestSilence = 0.5
  /// Seconds that a least delay is remembered: twice this at most. Cameras keep their distance in time: whose frames come just
  /// behind another's sees those wait always, and is not to take them for a queue that stands. That is drained more often
  /// than this.
  private static let baseSpan = 10.0

  private let limits: Limits
  private var arrivals: [Arrival] = []
  private var losses: [(time: Double, lost: Int, all: Int)] = []
  private var base = (now: Double.infinity, before: Double.infinity, since: -Double.infinity)
  /// What arrived a second when the queue grew last.
  private var capacity: Double?
  private var line = LineRate()
  private var isDraining = false
  /// The queue of the last moments.
  private var trail: [(time: Double, delay: Double)] = []
  private var lastDecrease = -Double.infinity
  private var lastUpdate: Double?
  /// What was sent and not told of yet.
  private var underWay: [(sent: Double, bits: Int)] = []
  /// Bits a second that the encoder may make.
  public private(set) var targetRate: Double
  /// Seconds that packets wait on the way, whatever frames they are of.
  public private(set) var queueDelay = 0.0

  public init(_ limits: Limits = Limits()) {
    self.limits = limits
    targetRate = min(max(limits.start, limits.least), limits.most)
  }

  /// Takes note of a packet that is sent.
  public mutating func noteSent(bits: Int, at time: Double) {
    if underWay.count >= Self.mostArrivals { underWay.removeFirst(Self.mostArrivals / 2) }
    underWay.append((time, bits))
  }

  /// Whether the line has so much to carry still that a picture more would only wait: until what stands before it is gone.
  ///
  /// Not for long after the last report: without one nothing is known of the queue, and without a picture none would come. So
  /// a wrong clock at the other end, or a wrong report, cannot stop the pictures.
  public func isOverfull(at time: Double) -> Bool {
    guard isDraining, let lastUpdate, time - lastUpdate < Self.longestSilence else { return false }
    return expectedWait(at: time) > Self.longQueue
  }

  /// Seconds that a packet would wait which is sent now, as far as the line still carries what it did when it grew full.
  private func expectedWait(at time: Double) -> Double {
    guard let newest = arrivals.last, let capacity else { return 0 }
    let bits = underWay.reduce(0) { $0 + ($1.sent > newest.sent ? $1.bits : 0) }
    let told = newest.delay - min(base.now, base.before)
    return max(newest.sent + told + Double(bits) / max(capacity, limits.least) - time, 0)
  }

  /// Takes what a report of the receiver says.
  /// - Parameters:
  ///   - results: in the order of sending.
  ///   - roundTrip: seconds.
  public mutating func take(_ results: [PacketResult], at time: Double, roundTrip: Double) {
    guard !results.isEmpty else { return }
    note(results, at: time)
    guard let newest = arrivals.last else { return }
    queueDelay = max(
      (arrivals.reversed().prefix { $0.time > newest.time - Self.window }.map(\.delay).min() ?? 0)
        - min(base.now, base.before), 0)
    let elapsed = min(max(time - (lastUpdate ?? time), 0), 0.5)
    lastUpdate = time
    // A packet takes its time on the line, and a large one more than the small one that the base is of.
    let packet = Self.packetBits / targetRate
    trail.append((time, queueDelay))
    while trail.count > 2, trail[1].time <= time - Self.window { trail.removeFirst() }
    let isSteady = line.isSteady(at: newest.time)
    // Another's frame between one's own packets makes no slow line.
    if !isDraining, time - lastDecrease > roundTrip, isSteady != true, let carried = slowLineRate {
      fall(to: carried, at: time)
    } else if queueDelay > Self.overuse + packet {
      // Once more if it did not help: the queue goes on growing, or does not shrink for long.
      let isGrowing = queueDelay > (trail.first?.delay ?? 0) + 0.005
      let since = time - lastDecrease
      if !isDraining || since > roundTrip + 0.05 && isGrowing || since > roundTrip + 1 {
        fall(to: arrivalRate(Self.shortSpan) ?? targetRate * Self.decrease, at: time)
        // The last frames alone, between those of others, are a chance. With no others the line itself may be a little slower.
        if isSteady == true, let usual = arrivalRate(Self.longSpan),
          line.bitsPerSecond.map({ usual < Self.alone * $0 }) ?? true
        {
          capacity = usual
        }
      }
    } else if isDraining {
      if queueDelay <= Self.idle + packet {
        isDraining = false
        // The queue is empty: what the line carries may go again.
        if let capacity { set(max(targetRate, capacity * (1 - cut))) }
      }
    } else if queueDelay <= Self.idle + packet {
      rise(elapsed, at: time)
    }
    fallForLosses(at: time, roundTrip: roundTrip)
  }

  /// Nothing was heard from the receiver for a while: the path may be full.
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
      // No queue: the other end's clock was set, or tells what it likes. What it told before is of another clock.
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
        // Longer than the slowest line takes: a radio, or a machine, that stood still.
        if pause < 0.05 + Double(result.bits) / limits.least {
          // What it carried when the queue grew says nothing any more, if that was all.
          let isAlone = share.map { sharing($0) == 0 } ?? false
          if line.add(bits: result.bits, pause: pause, at: arrived), isAlone, !isDraining { capacity = nil }
        }
      }
      let arrival = Arrival(sent: result.sent, time: arrived, bits: result.bits)
      before = arrival
      arrivals.append(arrival)
    }
    if let newest = results.last?.sent { underWay.removeAll { $0.sent <= newest } }
    losses.append((time, results.count { $0.arrived == nil }, results.count))
    losses.removeAll { $0.time < time - Self.lossSpan }
    // Whatever times a receiver makes up.
    if arrivals.count > Self.mostArrivals { arrivals.removeFirst(arrivals.count - Self.mostArrivals) }
    if let newest = arrivals.last {
      arrivals.removeAll { $0.time < newest.time - 2 * Self.longSpan }
    }
  }

  /// Bits a second that arrived lately.
  private func arrivalRate(_ span: Double) -> Double? {
    guard let newest = arrivals.last, let oldest = arrivals.first, newest.time - oldest.time > span / 2 else {
      return nil
    }
    let length = min(span, newest.time - oldest.time)
    let bits = arrivals.reduce(0) { $0 + ($1.time > newest.time - length ? $1.bits : 0) }
    return Double(bits) / length
  }

  /// Bits a second of a line that is busy with the newest packets, where that is clearly less than the rate: it shows before
  /// a queue stands. Packets that waited for one another come as far apart as the line takes for them. The longest pause
  /// does not count: something else may have been the reason for it.
  private var slowLineRate: Double? {
    guard let newest = arrivals.last else { return nil }
    let least = min(base.now, base.before)
    var (time, bits, count) = (0.0, 0, 0)
    var longest = (pause: 0.0, bits: 0)
    var later = newest
    for earlier in arrivals.dropLast().reversed() {
      guard count < Self.trainLength.upperBound, later.sent + least < earlier.time else { break }
      let pause = later.time - earlier.time
      if pause > longest.pause { longest = (pause, later.bits) }
      (time, bits, count) = (time + pause, bits + later.bits, count + 1)
      later = earlier
    }
    guard count >= Self.trainLength.lowerBound, time > longest.pause else { return nil }
    let rate = Double(bits - longest.bits) / (time - longest.pause)
    // What the newest waited is more than its own train explains.
    let wait = newest.delay - least - Double(bits) / targetRate
    return rate < Self.slowLine * targetRate && wait > Self.overuse ? rate : nil
  }

  private mutating func fall(to carried: Double, at time: Double) {
    capacity = carried
    isDraining = true
    lastDecrease = time
    // What stands in the queue is to be gone in half a second.
    set(min(carried * max(Self.decrease - queueDelay / 0.5, 0.3), targetRate * Self.decrease))
  }

  /// The share of the line that was had when the queue grew, where it is known.
  private var share: Double? {
    guard let capacity, let line = line.bitsPerSecond, capacity > Self.leastLikelyShare * line else {
      return nil
    }
    return min(max(capacity / line, Self.leastShare), 1)
  }

  /// From 0, used alone, to 1, used by others too.
  private func sharing(_ share: Double) -> Double {
    min(max((Self.alone - share) / (Self.alone - Self.withOthers), 0), 1)
  }

  private var cut: Double {
    guard let share else { return Self.cut }
    return Self.cut + sharing(share) * (Self.sharedCut * share - Self.cut)
  }

  /// Bits a second that a second adds near the last congestion.
  private var additive: Double {
    guard let capacity, let share else { return Self.additive }
    let line = capacity / share
    let alone = max(Self.additive, Self.additiveShare * line)
    return alone + sharing(share) * (Self.sharedAdditiveShare * line - alone)
  }

  private mutating func rise(_ elapsed: Double, at time: Double) {
    if let capacity, targetRate > capacity * 1.1 { self.capacity = nil }
    var next = targetRate
    // Nor is it far from congestion where the rate is all that the line carries.
    let fills = line.bitsPerSecond.map { targetRate > $0 } ?? false
    if capacity != nil || fills {
      next += additive * elapsed
    } else {
      next *= 1 + (Self.growth - 1) * elapsed
    }
    // No more than half above what was tried (5.5 of the draft): an encoder with nothing to say proves nothing. Encoders make
    // less than they may: with a third, one that makes three quarters held the rate where it was. Where the line says that it
    // carries more, more is tried.
    if let carried = arrivalRate(Self.longSpan) {
      let most =
        capacity == nil && !fills && line.bitsPerSecond != nil ? Self.mostTried : Self.mostTriedBlindly
      next = min(next, max(most * carried + 10_000, targetRate))
    }
    set(next)
  }

  private mutating func fallForLosses(at time: Double, roundTrip: Double) {
    guard time - lastDecrease > roundTrip + 0.3 else { return }
    let late = lossShare(after: time - Self.lossSpan / 3)
    let share = late > Self.heavyLoss ? late : lossShare(after: time - Self.lossSpan)
    // A burst on a radio is over before a lower rate could help.
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

  private mutating func set(_ rate: Double) { targetRate = min(max(rate, limits.least), limits.most) }
}
