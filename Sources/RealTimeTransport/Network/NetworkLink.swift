// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A simulation of one direction of a network: a queue in front of a line of limited bandwidth,
/// then a delay with jitter, then losses. Times are in seconds.
public struct NetworkLink: Sendable {
  public struct Configuration: Sendable {
    public var bandwidth: BandwidthSchedule
    /// The longest time that a packet waits in the queue, in seconds: a packet that would wait
    /// longer is dropped.
    public var queueLimit = 1.0
    /// The delay from the end of the line to the receiver, in seconds.
    public var delay = 0.05
    /// The mean of a random (exponentially distributed) additional delay, in seconds.
    public var jitter = 0.0
    /// Whether jitter changes the order of packets; otherwise a packet arrives no earlier than
    /// those before it.
    public var reorders = false
    public var loss = LossModel.none

    public init(bandwidth: BandwidthSchedule) { self.bandwidth = bandwidth }
  }

  /// The outcome of sending a packet.
  public enum Delivery: Equatable, Sendable {
    /// The packet arrives at this time, in seconds.
    case arrives(at: Double)
    /// The packet was lost after it had used the line.
    case lost
    /// The queue was full.
    case dropped
  }

  public let configuration: Configuration
  private var loss: LossProcess
  private var jitter: SeededGenerator
  /// The time when the line will have sent all packets of the queue.
  private var freeAt = 0.0
  private var lastArrival = 0.0
  public private(set) var lostPackets = 0
  public private(set) var droppedPackets = 0

  public init(_ configuration: Configuration, seed: UInt64) {
    self.configuration = configuration
    loss = LossProcess(configuration.loss, seed: seed &* 2 &+ 1)
    jitter = SeededGenerator(seed: seed &* 2 &+ 2)
  }

  /// The time in seconds that a packet would wait in the queue.
  /// - Parameter time: The time when it would be sent.
  public func queueingDelay(at time: Double) -> Double { max(freeAt - time, 0) }

  /// Sends a packet.
  /// - Parameters:
  ///   - bytes: The packet's size, including the headers of all layers.
  ///   - time: The time when it is sent.
  public mutating func send(bytes: Int, at time: Double) -> Delivery {
    let start = max(freeAt, time)
    if start - time > configuration.queueLimit {
      droppedPackets += 1
      return .dropped
    }
    freeAt = configuration.bandwidth.finish(bits: Double(bytes) * 8, from: start)
    // Both random numbers are drawn for every packet, so that the setting of one does not change
    // the sequence of the other.
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
