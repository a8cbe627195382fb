// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The state and the thread of an `OVTLiveOutput`. The thread retains it until the stream has
/// ended.
final class LiveEngine: @unchecked Sendable {
  // Sendable: `condition` guards the mutable state.
  typealias Event = OVTLiveOutput.Event

  let address: StreamAddress
  private let container: StreamContainer?
  private let configuration: OVTLiveOutput.Configuration
  private let timeScales: [Int32]
  private let condition = NSCondition()
  private var queue: LiveQueue
  private var formats: [CMFormatDescription]
  private var state = OVTLiveOutput.Status.unknown
  private var failure: AVError?
  private var counts = OVTLiveOutput.Statistics()
  private var isFinishing = false
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var interruption = StreamInterruption()
  private var handler: @Sendable (Event) -> Void = { _ in }
  private var lostAt: UInt64?

  init(
    address: StreamAddress, container: StreamContainer?, formats: [CMFormatDescription],
    configuration: OVTLiveOutput.Configuration
  ) {
    (self.address, self.container) = (address, container)
    (self.formats, self.configuration) = (formats, configuration)
    // A transport stream's clock; audio in units of its frames.
    timeScales = formats.map {
      let rate = $0.audioStreamBasicDescription?.mSampleRate ?? 0
      return rate >= 1 ? Int32(clamping: rate) : 90_000
    }
    queue = LiveQueue(
      isVideo: formats.map { CMFormatDescriptionGetMediaType($0) == kCMMediaType_Video },
      longest: configuration.longestQueue, congested: configuration.congestedQueue)
  }

  private func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
    condition.lock()
    defer { condition.unlock() }
    return try body()
  }

  var status: OVTLiveOutput.Status { locked { state } }
  var error: AVError? { locked { failure } }
  var statistics: OVTLiveOutput.Statistics {
    locked {
      var counts = counts
      queue.report(to: &counts)
      if let lostAt { counts.secondsAway += Self.seconds(since: lostAt) }
      return counts
    }
  }

  private static func seconds(since start: UInt64) -> Double {
    Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
  }

  private var isFinished: Bool { [.finished, .failed, .cancelled].contains(state) }

  // MARK: The program's side

  func start(_ handler: @escaping @Sendable (Event) -> Void) {
    let isFirst = locked {
      guard state == .unknown else { return false }
      state = .connecting
      self.handler = handler
      return true
    }
    guard isFirst else { return }
    let thread = Thread { [self] in run() }
    thread.name = "OVTLiveOutput"
    thread.stackSize = 1 << 20
    thread.start()
  }

  func append(_ buffer: CMSampleBuffer, to index: Int) throws {
    let presented = buffer.presentationTimeStamp
    let decodeTime = buffer.decodeTimeStamp.isNumeric ? buffer.decodeTimeStamp : presented
    guard decodeTime.isNumeric, presented.isNumeric, CMSampleBufferDataIsReady(buffer),
      CMSampleBufferGetDataBuffer(buffer) != nil, formats.indices.contains(index)
    else {
      throw AVError(
        .invalidSourceMedia, reason: "The sample buffer has no data or times, or there is no such track.",
        advice: "Append compressed samples whose data is ready.")
    }
    let events = try locked {
      if !configuration.expectsMediaDataInRealTime {
        // Without a connection samples are left out, so that none holds up the program.
        while !isFinished, !isFinishing, state != .reconnecting, queue.isFull { condition.wait() }
      }
      if state == .failed, let failure { throw failure }
      guard !isFinished, !isFinishing, state != .unknown else {
        throw AVError(
          .operationNotAllowed, reason: "The live output has not been started, or has ended.")
      }
      guard queue.follows(decodeTime, in: index) else {
        throw AVError(
          .invalidSourceMedia,
          reason: "A sample's decode time (\(decodeTime.seconds) s) does not follow the one before.",
          advice: "Append samples in decode order, each with a later decode time stamp.")
      }
      let events = queue.push(
        buffer, at: decodeTime, to: index, isAway: state == .reconnecting, isConnected: state == .connected,
        mayDrop: configuration.expectsMediaDataInRealTime)
      condition.broadcast()
      return events
    }
    for event in events { handler(event) }
  }

  func end(_ index: Int) {
    locked {
      queue.end(index, isAway: state == .reconnecting)
      condition.broadcast()
    }
  }

  func finish(_ continuation: CheckedContinuation<Void, Never>) {
    let isDone = locked {
      if state == .unknown { state = .cancelled }
      if isFinished { return true }
      waiters.append(continuation)
      if !isFinishing {
        isFinishing = true
        // A lost connection is not made again.
        if state == .reconnecting { interruption.cancel() }
        queue.endAll(isAway: state == .reconnecting)
        condition.broadcast()
        // A peer that takes nothing must not keep the program from ending.
        let limit = max(configuration.timeout, 0.1) * 2
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in self?.giveUp() }
      }
      return false
    }
    if isDone { continuation.resume() }
  }

  private func giveUp() {
    locked {
      guard !isFinished else { return }
      interruption.cancel()
      condition.broadcast()
    }
  }

  func cancel() {
    locked {
      guard !isFinished else { return }
      let hasThread = state != .unknown
      state = .cancelled
      interruption.cancel()
      condition.broadcast()
      if !hasThread { resumeWaiters() }
    }
  }

  // MARK: The thread

  private func run() {
    var wasConnected = false
    var attempt = 0
    var connected: UInt64?
    while true {
      do {
        let muxer = try connect()
        connected = DispatchTime.now().uptimeNanoseconds
        if !reportConnection(isFirst: !wasConnected) { return close(muxer) }
        wasConnected = true
        if try send(through: muxer) { return }
      } catch {
        let error = AVError.writing(error)
        // Before the first connection the address may be wrong, and a format that the container
        // cannot hold remains so.
        guard wasConnected, configuration.reconnects, error.code != .formatUnsupported else {
          return fail(error)
        }
        // The pauses also grow for a server that accepts a connection and closes it at once.
        if let since = connected, Self.seconds(since: since) > Self.stableSeconds { attempt = 0 }
        connected = nil
        guard reportLoss(error), wait(Self.pause(attempt)) else { return conclude() }
        attempt += 1
      }
    }
  }

  /// How long a connection has to last, in seconds, for the next pause to be short again.
  private static let stableSeconds = 5.0

  /// The time in seconds before an attempt to connect.
  static func pause(_ attempt: Int) -> Double { attempt < 5 ? Double(1 << max(0, attempt)) : 30 }

  private func connect() throws -> StreamMuxer {
    let (formats, interruption) = locked {
      if state != .cancelled, !(isFinishing && state == .reconnecting) {
        self.interruption = StreamInterruption()
      }
      return (self.formats, self.interruption)
    }
    var connection = StreamMuxer.Connection()
    connection.timeout = configuration.timeout
    connection.certificates = configuration.certificateFile?.path
    return try StreamMuxer(
      address: address, container: container, formats: formats, timeScales: timeScales,
      connection: connection, interruption: interruption)
  }

  /// - Returns: false if the output has been cancelled.
  private func reportConnection(isFirst: Bool) -> Bool {
    let away = locked { () -> Double? in
      guard state != .cancelled else { return nil }
      state = .connected
      failure = nil
      let away = lostAt.map(Self.seconds) ?? 0
      counts.secondsAway += away
      lostAt = nil
      if !isFirst { counts.reconnectionCount += 1 }
      condition.broadcast()
      return away
    }
    guard let away else { return false }
    handler(.connected(secondsAway: away))
    if !isFirst { handler(.keyFrameNeeded) }
    return true
  }

  /// Sends samples until the stream ends.
  /// - Returns: true if the output is finished or cancelled.
  /// - Throws: the error with which the connection was lost.
  private func send(through muxer: StreamMuxer) throws -> Bool {
    while true {
      let next = locked { () -> LiveQueue.Entry? in
        while state == .connected {
          if let entry = queue.pop() {
            if let format = entry.buffer.formatDescription { formats[entry.track] = format }
            condition.broadcast()
            return entry
          }
          if isFinishing { return nil }
          condition.wait()
        }
        return nil
      }
      guard let next else {
        if status != .cancelled { try muxer.finish() }
        close(muxer)
        return true
      }
      let before = muxer.sampleBytes
      try muxer.write(next.buffer, to: next.track)
      locked {
        counts.sentByteCount += muxer.sampleBytes - before
        if next.isPicture { counts.sentPictureCount += 1 }
      }
    }
  }

  private func close(_ muxer: StreamMuxer) {
    muxer.close()
    conclude()
  }

  /// - Returns: false if the output has ended.
  private func reportLoss(_ error: AVError) -> Bool {
    let (isFirst, continues) = locked { () -> (Bool, Bool) in
      guard state != .cancelled else { return (false, false) }
      let isFirst = state == .connected
      state = .reconnecting
      failure = error
      if isFirst {
        lostAt = DispatchTime.now().uptimeNanoseconds
        queue.lose()
      }
      condition.broadcast()
      return (isFirst, !isFinishing)
    }
    if isFirst {
      handler(.disconnected(reason: (error as NSError).localizedFailureReason ?? "\(error.code)"))
    }
    return continues
  }

  /// Waits before the next attempt to connect.
  /// - Returns: false if the output has ended meanwhile.
  private func wait(_ seconds: Double) -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    return locked {
      while !isFinishing, state == .reconnecting {
        if !condition.wait(until: end) { break }
      }
      return !isFinishing && state == .reconnecting
    }
  }

  private func fail(_ error: AVError) {
    locked {
      guard state != .cancelled else { return resumeWaiters() }
      state = .failed
      failure = error
      condition.broadcast()
      resumeWaiters()
    }
  }

  /// Records that the thread is done.
  private func conclude() {
    locked {
      if let lostAt { counts.secondsAway += Self.seconds(since: lostAt) }
      lostAt = nil
      if state != .cancelled { state = failure == nil ? .finished : .failed }
      condition.broadcast()
      resumeWaiters()
    }
  }

  private func resumeWaiters() {
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
