// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One direction of a network: a queue before a line of limited bandwidth, then a delay with jitter, then losses.
public struct NetworkLink: Sendable {
  public struct Configuration: Sendable {
    public var bandwidth: BandwidthSchedule
    /// Longest that a packet waits before the line, in seconds: what would wait longer is dropped.
    public var queueLimit = 1.0
    /// From the end of the line to the receiver, in seconds.
    public var delay = 0.05
    /// Mean of the delay that is added at random (exponential), in seconds.
    public var jitter = 0.0
    /// Whether jitter changes the order of packets; if not, they wait for those before them.
    public var reorders = false
    public var loss = LossModel.none

    public init(bandwidth: BandwidthSchedule) { self.bandwidth = bandwidth }
  }

  /// What becomes of a packet.
  public enum Fate: Equatable, Sendable {
    case arrives(at: Double)
    /// It used the line and was lost behind it.
    case lost
    /// The queue was full.
    case dropped
  }

  public let configuration: Configuration
  private var loss: LossProcess
  private var jitter: SeededGenerator
  /// When the line has sent all that waits.
  private var freeAt = 0.0
  private var lastArrival = 0.0
  public private(set) var lostPackets = 0
  public private(set) var droppedPackets = 0

  public init(_ configuration: Configuration, seed: UInt64) {
    self.configuration = configuration
    loss = LossProcess(configuration.loss, seed: seed &* 2 &+ 1)
    jitter = SeededGenerator(seed: seed &* 2 &+ 2)
  }

  /// Seconds that a packet would wait before the line.
  public func queueingDelay(at time: Double) -> Double { max(freeAt - time, 0) }

  /// Sends a packet of so many bytes, headers of all layers included.
  public mutating func send(bytes: Int, at time: Double) -> Fate {
    let start = max(freeAt, time)
    if start - time > configuration.queueLimit {
      droppedPackets += 1
      return .dropped
    }
    freeAt = configuration.bandwidth.finish(bits: Double(bytes) * 8, from: start)
    // Both are drawn for every packet, so that one setting does not change the other's sequence.
    let extra = -configuration.jitter * log(max(1 - jitter.unit(), 1e-12))
    if loss.losesNext() {
      lostPackets += 1
      return .lost
    }
    var arrival = freeAt + configuration.delay + extra
    if !configuration.reorders {
      arrival = max(arrival, lastArrival)
      lastArrival = arrival
    }
    return .arrives(at: arrival)
  }
}
