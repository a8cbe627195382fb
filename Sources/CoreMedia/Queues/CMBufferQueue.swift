// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A queue of buffers with times: first in, first out, or sorted. It may be used from any thread.
///
/// It maintains the total duration of its buffers, and can call functions when this or other
/// properties change; see `CMBufferQueueInstallTrigger`.
public final class CMBufferQueue: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards all variables. It is recursive, because handlers of the client may call
  // the queue.
  private struct Entry {
    let buffer: CMBuffer
    let duration: CMTime
    let presentationTime: CMTime
    let decodeTime: CMTime
    let size: Int
  }

  private let handlers: Handlers
  private let capacity: Int
  /// The lock is held while handlers are called, which may call the queue again.
  private let lock = NSRecursiveLock()
  /// The buffers in order. The first `start` elements have been removed.
  private var entries: [Entry?] = []
  private var start = 0
  private var durations = DurationSum()
  /// The sum of the sizes of the buffers, which the client determines, so that it may exceed Int.
  private var byteCount: Int128 = 0
  private var hasEnd = false
  private var triggers: [QueueTrigger] = []
  private var nextToken = 1
  private var lastMinTime = CMTime.invalid
  private var lastMaxTime = CMTime.invalid
  private var validation: CMBufferValidationHandler?
  /// The threads that are executing a function of the client, which must not change the queue.
  private var callingThreads: [pthread_t] = []
  private var readyObserver: NSObjectProtocol?

  /// Creates a queue.
  /// - Parameters:
  ///   - capacity: The largest number of buffers; 0 for any number.
  ///   - handlers: The closures that read properties of buffers.
  init(bufferLimit capacity: Int, handlers: Handlers) {
    self.capacity = capacity
    self.handlers = handlers
  }

  deinit {
    if let readyObserver { NotificationCenter.default.removeObserver(readyObserver) }
  }

  // MARK: - Calls of the client

  private var isCalling: Bool {
    let thread = pthread_self()
    return callingThreads.contains { pthread_equal($0, thread) != 0 }
  }

  private func calling<R>(_ body: () throws -> R) rethrows -> R {
    let thread = pthread_self()
    lock.withLock { callingThreads.append(thread) }
    defer {
      lock.withLock {
        if let index = callingThreads.lastIndex(where: { pthread_equal($0, thread) != 0 }) {
          callingThreads.remove(at: index)
        }
      }
    }
    return try body()
  }

  /// Changes the queue under the lock, and then calls, without the lock, the triggers whose
  /// condition has become true.
  private func change<R>(resetting: Bool = false, _ body: () -> R) -> R {
    lock.lock()
    let result = body()
    let fired = evaluate(resetting: resetting)
    lock.unlock()
    fire(fired)
    return result
  }

  private func fire(_ fired: [QueueTrigger]) {
    for trigger in fired { calling { trigger.handler?(trigger.token) } }
  }

  // MARK: - Buffers

  func add(_ buffer: CMBuffer) -> OSStatus {
    let check = lock.withLock { (isCalling, validation) }
    if check.0 { return kCMBufferQueueError_CannotModifyQueueFromTriggerCallback }
    if let validation = check.1 {
      let status = calling { validation(self, buffer) }
      if status != noErr { return status }
    }
    let entry = calling {
      Entry(
        buffer: buffer, duration: handlers.getDuration(buffer),
        presentationTime: handlers.getPresentationTimeStamp?(buffer) ?? .invalid,
        decodeTime: handlers.getDecodeTimeStamp?(buffer) ?? .invalid, size: handlers.getSize?(buffer) ?? 0)
    }
    return change {
      if hasEnd { return kCMBufferQueueError_EnqueueAfterEndOfData }
      if capacity > 0, entries.count - start >= capacity { return kCMBufferQueueError_QueueIsFull }
      insert(entry)
      durations.add(entry.duration)
      byteCount += Int128(entry.size)
      return noErr
    }
  }

  /// Inserts a buffer after all buffers that are not greater.
  private func insert(_ entry: Entry) {
    guard let compare = handlers.compare else { return entries.append(entry) }
    let position = calling { () -> Int in
      var low = start
      var high = entries.count
      while low < high {
        let middle = (low + high) / 2
        if let other = entries[middle], compare(entry.buffer, other.buffer) == .compareLessThan {
          high = middle
        } else {
          low = middle + 1
        }
      }
      return low
    }
    entries.insert(entry, at: position)
  }

  func removeFirst(ifReady: Bool) -> CMBuffer? {
    if lock.withLock({ isCalling }) { return nil }
    return change { () -> CMBuffer? in
      guard start < entries.count, let entry = entries[start] else { return nil }
      if ifReady, !isReady(entry.buffer) { return nil }
      entries[start] = nil
      start += 1
      if start == entries.count || start > 64 && start > entries.count / 2 {
        entries.removeFirst(start)
        start = 0
      }
      byteCount -= Int128(entry.size)
      if entries.isEmpty { durations = DurationSum() } else { durations.remove(entry.duration) }
      return entry.buffer
    }
  }

  private func isReady(_ buffer: CMBuffer) -> Bool {
    guard let isDataReady = handlers.isDataReady else { return true }
    return calling { isDataReady(buffer) }
  }

  /// The entries that have not been removed, in order.
  private var current: some Sequence<Entry> { entries[start...].lazy.compactMap { $0 } }

  private func first<R>(_ value: (Entry) -> R) -> R? {
    lock.withLock { start < entries.count ? entries[start].map(value) : nil }
  }

  var firstBuffer: CMBuffer? { first(\.buffer) }
  var count: Int { lock.withLock { entries.count - start } }
  var buffersNow: [CMBuffer] { lock.withLock { current.map(\.buffer) } }

  func markEnd() -> OSStatus {
    if lock.withLock({ isCalling }) { return kCMBufferQueueError_CannotModifyQueueFromTriggerCallback }
    return change {
      hasEnd = true
      return noErr
    }
  }

  var isMarked: Bool { lock.withLock { hasEnd } }
  var isAtEnd: Bool { lock.withLock { hasEnd && entries.count == start } }

  /// Removes all buffers and the mark of the end of data.
  /// - Parameter body: Called with each buffer before it is removed; if it throws, the queue is not
  ///   changed.
  func removeAll(_ body: (CMBuffer) throws -> Void = { _ in }) throws {
    if lock.withLock({ isCalling }) { throw Error.cannotModifyQueueFromTriggerCallback }
    let buffers = buffersNow
    try calling { try buffers.forEach(body) }
    change(resetting: true) {
      entries = []
      start = 0
      durations = DurationSum()
      byteCount = 0
      hasEnd = false
    }
  }

  func setValidation(_ handler: @escaping CMBufferValidationHandler) {
    lock.withLock { validation = handler }
  }

  // MARK: - Times and sizes

  var durationNow: CMTime { lock.withLock { totalDuration } }
  /// The sum of all durations. The caller holds the lock.
  private var totalDuration: CMTime { durations.total(current.lazy.map(\.duration)) }
  var sizeNow: Int { Int(clamping: lock.withLock { byteCount }) }
  var firstDecodeTime: CMTime { first(\.decodeTime) ?? .invalid }
  var firstPresentationTime: CMTime { first(\.presentationTime) ?? .invalid }
  var minDecodeTime: CMTime { lock.withLock { minimum(current.map(\.decodeTime)) } }
  var minPresentationTime: CMTime { lock.withLock { minimum(current.map(\.presentationTime)) } }
  var maxPresentationTime: CMTime { lock.withLock { greatest(current.map(\.presentationTime)) } }
  var endTime: CMTime { lock.withLock { greatest(current.map { $0.presentationTime + $0.duration }) } }

  private func minimum(_ times: [CMTime]) -> CMTime { times.filter(\.isValid).min() ?? .invalid }
  private func greatest(_ times: [CMTime]) -> CMTime { times.filter(\.isValid).max() ?? .invalid }

  // MARK: - Triggers

  func install(
    _ kind: Result<QueueTrigger.Kind, SampleError>, _ handler: CMBufferQueueTriggerHandler?,
    _ tokenOut: UnsafeMutablePointer<CMBufferQueueTriggerToken?>?
  ) -> OSStatus {
    guard handler != nil || tokenOut != nil else { return kCMBufferQueueError_RequiredParameterMissing }
    let kindNow: QueueTrigger.Kind
    switch kind {
    case .success(let kind): kindNow = kind
    case .failure(let error): return error.status
    }
    if lock.withLock({ isCalling }) { return kCMBufferQueueError_CannotModifyQueueFromTriggerCallback }
    lock.lock()
    guard let token = CMBufferQueueTriggerToken(bitPattern: nextToken) else {
      lock.unlock()
      return kCMBufferQueueError_AllocationFailed
    }
    nextToken += 1
    tokenOut?.pointee = token
    var trigger = QueueTrigger(kind: kindNow, token: token, handler: handler)
    trigger.wasTrue = holds(kindNow)
    if case .minPresentationTimeChanges = kindNow { lastMinTime = minPresentationTime }
    if case .maxPresentationTimeChanges = kindNow { lastMaxTime = maxPresentationTime }
    if case .dataBecomesReady = kindNow { observeReadiness() }
    triggers.append(trigger)
    lock.unlock()
    if trigger.wasTrue { fire([trigger]) }
    return noErr
  }

  func remove(_ token: CMBufferQueueTriggerToken) -> OSStatus {
    lock.withLock {
      if isCalling { return kCMBufferQueueError_CannotModifyQueueFromTriggerCallback }
      guard let index = triggers.firstIndex(where: { $0.token == token }) else {
        return kCMBufferQueueError_InvalidTriggerToken
      }
      triggers.remove(at: index)
      return noErr
    }
  }

  func test(_ token: CMBufferQueueTriggerToken) -> Bool {
    lock.withLock { triggers.first { $0.token == token }.map { holds($0.kind) } ?? false }
  }

  /// Returns whether a condition is true now. The conditions for changes and for a reset are never
  /// true.
  private func holds(_ kind: QueueTrigger.Kind) -> Bool {
    switch kind {
    case .durationLess(let time): totalDuration < time
    case .durationLessOrEqual(let time): totalDuration <= time
    case .durationGreater(let time): totalDuration > time
    case .durationGreaterOrEqual(let time): totalDuration >= time
    case .countLess(let threshold): entries.count - start < threshold
    case .countGreater(let threshold): entries.count - start > threshold
    case .durationAndCount(let time, let threshold):
      totalDuration >= time && entries.count - start > threshold
    case .endOfDataReached: hasEnd && entries.count == start
    case .dataBecomesReady: start < entries.count && entries[start].map { isReady($0.buffer) } ?? false
    case .minPresentationTimeChanges, .maxPresentationTimeChanges, .reset: false
    }
  }

  /// Returns the triggers whose condition has become true since the last call.
  private func evaluate(resetting: Bool) -> [QueueTrigger] {
    if triggers.isEmpty { return [] }
    var fired: [QueueTrigger] = []
    var minTime: CMTime?
    var maxTime: CMTime?
    for index in triggers.indices {
      switch triggers[index].kind {
      case .reset: if resetting { fired.append(triggers[index]) }
      case .minPresentationTimeChanges:
        let time = minTime ?? minPresentationTime
        minTime = time
        if time != lastMinTime { fired.append(triggers[index]) }
      case .maxPresentationTimeChanges:
        let time = maxTime ?? maxPresentationTime
        maxTime = time
        if time != lastMaxTime { fired.append(triggers[index]) }
      case let kind:
        let isTrue = holds(kind)
        if isTrue, !triggers[index].wasTrue { fired.append(triggers[index]) }
        triggers[index].wasTrue = isTrue
      }
    }
    if let minTime { lastMinTime = minTime }
    if let maxTime { lastMaxTime = maxTime }
    return fired
  }

  private func observeReadiness() {
    guard readyObserver == nil, let name = handlers.dataBecameReadyNotification else { return }
    readyObserver = NotificationCenter.default.addObserver(
      forName: NSNotification.Name(name), object: nil, queue: nil
    ) { [weak self] notification in
      guard let self, let buffer = notification.object as AnyObject? else { return }
      if self.firstBuffer === buffer { self.change {} }
    }
  }
}

extension CMBufferQueue: CFRuntimeObject {
  package static let cfTypeID: CFTypeID = CFRuntimeRegister("CMBufferQueue")
}
