// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreFoundation
import Foundation

/// The packets of a network input for several demuxers. A thread reads them from one connection
/// into a queue for each stream; each packet is handed out once.
///
/// The thread waits where a demuxer is behind, so that the sender has to wait too, unless another
/// demuxer has nothing to read. It does not outlive this object.
final class SharedPackets: Sendable {
  /// A demuxer that takes packets.
  final class Branch: Sendable {}

  private let state: State

  /// - Parameters:
  ///   - first: The demuxer that has opened the connection.
  ///   - input: The input, to connect again.
  init(_ first: Demuxer, _ input: NetworkInput) {
    state = State(first, input)
    let thread = Thread { [state] in state.run() }
    thread.name = "FFmpegMedia.network"
    thread.start()
  }

  deinit { state.stop() }

  /// Waits for the next packet of some streams, in the order in which they came.
  /// - Parameters:
  ///   - streams: The streams' indexes, which no other demuxer asks for.
  ///   - branch: The demuxer that asks.
  /// - Returns: The packet; nil at the end, and after `leave`.
  /// - Throws: `MediaFileError` if the streams lie too far apart.
  func next(of streams: Set<Int>, for branch: Branch) throws -> MediaPacket? {
    try state.next(of: streams, for: branch)
  }

  /// Ends the reading of a demuxer. May be called on any thread.
  func leave(_ branch: Branch) { state.leave(branch) }

  /// The object that a demuxer's `MediaInterruption` cancels.
  func canceller(of branch: Branch) -> any MediaByteReader { Canceller(state, branch) }

  private final class Canceller: MediaByteReader {
    private let state: State
    private let branch: Branch
    let length: Int64? = nil

    init(_ state: State, _ branch: Branch) { (self.state, self.branch) = (state, branch) }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int { 0 }
    func cancel() { state.leave(branch) }
  }

  /// The state that the thread and the demuxers share. The thread refers to this object and not to
  /// the `SharedPackets`, so that it does not keep that alive.
  private final class State: @unchecked Sendable {
    // Sendable: `condition` guards what changes; `source` is used by the thread alone.
    private let source: NetworkSource
    private let input: NetworkInput
    private let condition = MonotonicCondition()
    private var queues: [PacketQueue]
    private let isVideo: [Bool]
    /// By demuxer, the streams that it reads.
    private var claims: [ObjectIdentifier: Set<Int>] = [:]
    /// The demuxers that wait for a packet.
    private var waiting: Set<ObjectIdentifier> = []
    private var left: Set<ObjectIdentifier> = []
    private var isAtEnd = false
    private var isStopped = false
    private var failure: MediaFileError?
    private var count = 0

    init(_ first: Demuxer, _ input: NetworkInput) {
      self.input = input
      source = NetworkSource(first, input)
      queues = first.streams.map { _ in PacketQueue() }
      isVideo = first.streams.map { $0.kind == .video }
      input.interruption.attach(Stopper(condition))
    }

    /// Wakes all that wait when the input is cancelled.
    private final class Stopper: MediaByteReader {
      private let condition: MonotonicCondition
      let length: Int64? = nil

      init(_ condition: MonotonicCondition) { self.condition = condition }

      func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int { 0 }
      func cancel() { condition.withLock { condition.broadcast() } }
    }

    func next(of streams: Set<Int>, for branch: Branch) throws -> MediaPacket? {
      let id = ObjectIdentifier(branch)
      return try condition.withLock {
        if claims[id] != streams {
          claims[id] = streams
          condition.broadcast()
        }
        while true {
          guard !isStopped, !left.contains(id) else { return nil }
          if input.isCancelled { dropBacklog() }
          let first = streams.filter { queues.indices.contains($0) && !queues[$0].isEmpty }
            .min { queues[$0].firstNumber < queues[$1].firstNumber }
          if let first {
            condition.broadcast()
            return queues[first].removeFirst()
          }
          if let failure { throw failure }
          if isAtEnd || input.isCancelled { return nil }
          waiting.insert(id)
          condition.broadcast()
          condition.wait()
          waiting.remove(id)
        }
      }
    }

    /// Drops the pictures that wait when the input is cancelled if there are so many that encoding
    /// them would take long. What has come of other streams accompanies the pictures before them.
    private func dropBacklog() {
      for index in queues.indices where isVideo[index] && queues[index].count > PacketQueue.longestEnd {
        queues[index].close()
      }
    }

    func leave(_ branch: Branch) {
      let id = ObjectIdentifier(branch)
      condition.withLock {
        guard left.insert(id).inserted else { return }
        for stream in claims[id] ?? [] where queues.indices.contains(stream) { queues[stream].close() }
        // The others get what belongs to the end of this one, if it comes soon.
        if claims[id] != nil { source.isEnding.store(true, ordering: .relaxed) }
        claims[id] = nil
        condition.broadcast()
      }
      if source.isEnding.load(ordering: .relaxed) { input.interruption.begin(NetworkInput.remainder) }
    }

    func stop() {
      condition.withLock {
        isStopped = true
        for index in queues.indices { queues[index].close() }
        condition.broadcast()
      }
      input.cancel()
    }

    /// Whether the thread has to wait for a demuxer to take packets.
    private var isFull: Bool {
      if !left.isEmpty, claims.isEmpty { return true }
      // A demuxer that waits has nothing in its queues. Streams that nobody reads count as well,
      // since their demuxer may come later.
      return waiting.isEmpty && queues.contains(where: \.isFull)
    }

    func run() {
      while true {
        let isFinished = condition.withLock {
          while isFull, !isStopped, !input.isCancelled { condition.wait() }
          return isStopped || input.isCancelled
        }
        guard !isFinished, let packet = source.next() else { break }
        condition.withLock { add(packet) }
      }
      source.close()
      condition.withLock {
        isAtEnd = true
        condition.broadcast()
      }
    }

    private func add(_ packet: MediaPacket) {
      let stream = packet.streamIndex
      guard failure == nil, queues.indices.contains(stream) else { return }
      let isClaimed = claims.values.contains { $0.contains(stream) }
      count += 1
      if !queues[stream].append(packet, number: count, isClaimed: isClaimed) {
        failure = MediaFileError(
          .damaged, "the streams of \(input.address) lie too far apart to be read at the same time")
      }
      condition.broadcast()
    }
  }
}

/// The packets of one stream that wait to be taken.
struct PacketQueue {
  /// Packets and bytes at which the reading waits, and at which it fails.
  static let defaultLimits = (packets: 1024, bytes: 32 << 20)
  /// Packets that are still handed out after the input was cancelled.
  static let longestEnd = 64
  static let claimedLimits = (packets: 16_384, bytes: 192 << 20)

  private var packets: [(number: Int, packet: MediaPacket)?] = []
  private var head = 0
  private var bytes = 0
  private var isClosed = false

  var isEmpty: Bool { head == packets.count }
  var count: Int { packets.count - head }
  var isFull: Bool { count >= Self.defaultLimits.packets || bytes >= Self.defaultLimits.bytes }
  /// The number of the first packet among those of all streams.
  var firstNumber: Int { head < packets.count ? packets[head]?.number ?? .max : .max }

  /// Appends a packet. If no demuxer reads the stream, the oldest one makes room for it.
  /// - Returns: false if there is no room.
  mutating func append(_ packet: MediaPacket, number: Int, isClaimed: Bool) -> Bool {
    guard !isClosed else { return true }
    packets.append((number, packet))
    bytes += packet.bytes.count
    if isClaimed { return count <= Self.claimedLimits.packets && bytes <= Self.claimedLimits.bytes }
    while count > 1, isFull { _ = removeFirst() }
    return true
  }

  mutating func removeFirst() -> MediaPacket? {
    guard head < packets.count, let first = packets[head] else { return nil }
    packets[head] = nil
    head += 1
    bytes -= first.packet.bytes.count
    if head == packets.count || head > 1024 {
      packets.removeFirst(head)
      head = 0
    }
    return first.packet
  }

  /// Drops all packets, also those to come.
  mutating func close() {
    isClosed = true
    (packets, head, bytes) = ([], 0, 0)
  }
}
