// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The identifier of a trigger of a queue.
public typealias CMBufferQueueTriggerToken = OpaquePointer
/// Called when a trigger's condition becomes true, with its context pointer and token.
public typealias CMBufferQueueTriggerCallback =
  @Sendable (UnsafeMutableRawPointer?, CMBufferQueueTriggerToken) -> Void
/// Called when a trigger's condition becomes true.
public typealias CMBufferQueueTriggerHandler = (CMBufferQueueTriggerToken) -> Void

/// The condition of a trigger.
public typealias CMBufferQueueTriggerCondition = Int32

/// The queue's duration becomes less than the trigger's time.
public let kCMBufferQueueTrigger_WhenDurationBecomesLessThan: CMBufferQueueTriggerCondition = 1
/// The queue's duration becomes less than or equal to the trigger's time.
public let kCMBufferQueueTrigger_WhenDurationBecomesLessThanOrEqualTo: CMBufferQueueTriggerCondition = 2
/// The queue's duration becomes greater than the trigger's time.
public let kCMBufferQueueTrigger_WhenDurationBecomesGreaterThan: CMBufferQueueTriggerCondition = 3
/// The queue's duration becomes greater than or equal to the trigger's time.
public let kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualTo: CMBufferQueueTriggerCondition = 4
/// The earliest presentation time changes.
public let kCMBufferQueueTrigger_WhenMinPresentationTimeStampChanges: CMBufferQueueTriggerCondition = 5
/// The latest presentation time changes.
public let kCMBufferQueueTrigger_WhenMaxPresentationTimeStampChanges: CMBufferQueueTriggerCondition = 6
/// The first buffer becomes ready.
public let kCMBufferQueueTrigger_WhenDataBecomesReady: CMBufferQueueTriggerCondition = 7
/// The queue becomes empty after its end of data was marked.
public let kCMBufferQueueTrigger_WhenEndOfDataReached: CMBufferQueueTriggerCondition = 8
/// The queue is reset.
public let kCMBufferQueueTrigger_WhenReset: CMBufferQueueTriggerCondition = 9
/// The number of buffers becomes less than the trigger's threshold.
public let kCMBufferQueueTrigger_WhenBufferCountBecomesLessThan: CMBufferQueueTriggerCondition = 10
/// The number of buffers becomes greater than the trigger's threshold.
public let kCMBufferQueueTrigger_WhenBufferCountBecomesGreaterThan: CMBufferQueueTriggerCondition = 11
/// The queue's duration becomes at least the trigger's time while the number of buffers is greater
/// than its threshold. A trigger is installed with only one of the two; the other one counts as
/// zero.
public let kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualToAndBufferCountBecomesGreaterThan:
  CMBufferQueueTriggerCondition = 12

/// A trigger of a queue.
struct QueueTrigger {
  enum Kind {
    case durationLess(CMTime)
    case durationLessOrEqual(CMTime)
    case durationGreater(CMTime)
    case durationGreaterOrEqual(CMTime)
    case minPresentationTimeChanges
    case maxPresentationTimeChanges
    case dataBecomesReady
    case endOfDataReached
    case reset
    case countLess(Int)
    case countGreater(Int)
    case durationAndCount(CMTime, Int)
  }

  let kind: Kind
  let token: CMBufferQueueTriggerToken
  let handler: CMBufferQueueTriggerHandler?
  /// Whether the condition was true when it was last evaluated.
  var wasTrue = false

  /// Creates the condition of a trigger with a time.
  /// - Parameters:
  ///   - condition: `kCMBufferQueueTrigger_*`.
  ///   - time: The time for conditions on the duration, which must be numeric.
  static func kind(_ condition: CMBufferQueueTriggerCondition, time: CMTime) -> Result<Kind, SampleError> {
    let kind: Kind
    switch condition {
    case kCMBufferQueueTrigger_WhenDurationBecomesLessThan: kind = .durationLess(time)
    case kCMBufferQueueTrigger_WhenDurationBecomesLessThanOrEqualTo: kind = .durationLessOrEqual(time)
    case kCMBufferQueueTrigger_WhenDurationBecomesGreaterThan: kind = .durationGreater(time)
    case kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualTo: kind = .durationGreaterOrEqual(time)
    case kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualToAndBufferCountBecomesGreaterThan:
      kind = .durationAndCount(time, 0)
    case kCMBufferQueueTrigger_WhenMinPresentationTimeStampChanges:
      return .success(.minPresentationTimeChanges)
    case kCMBufferQueueTrigger_WhenMaxPresentationTimeStampChanges:
      return .success(.maxPresentationTimeChanges)
    case kCMBufferQueueTrigger_WhenDataBecomesReady: return .success(.dataBecomesReady)
    case kCMBufferQueueTrigger_WhenEndOfDataReached: return .success(.endOfDataReached)
    case kCMBufferQueueTrigger_WhenReset: return .success(.reset)
    default: return .failure(SampleError(kCMBufferQueueError_InvalidTriggerCondition))
    }
    // A duration has no epoch.
    guard time.isNumeric, time.epoch == 0 else {
      return .failure(SampleError(kCMBufferQueueError_BadTriggerDuration))
    }
    return .success(kind)
  }

  static func kind(_ condition: CMBufferQueueTriggerCondition, threshold: Int) -> Result<Kind, SampleError> {
    switch condition {
    case kCMBufferQueueTrigger_WhenBufferCountBecomesLessThan: .success(.countLess(threshold))
    case kCMBufferQueueTrigger_WhenBufferCountBecomesGreaterThan: .success(.countGreater(threshold))
    case kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualToAndBufferCountBecomesGreaterThan:
      .success(.durationAndCount(.zero, threshold))
    default: .failure(SampleError(kCMBufferQueueError_InvalidTriggerCondition))
    }
  }
}

// MARK: - Functions

/// Installs a trigger: a function that is called each time its condition becomes true, and
/// immediately if the condition is true already.
///
/// The function is called on the thread that has changed the queue. It must not change the queue
/// itself.
///
/// - Parameters:
///   - queue: The queue.
///   - callback: The function; nil to test the trigger only, in which case a token is required.
///   - refcon: A context pointer that is passed to the function.
///   - condition: `kCMBufferQueueTrigger_*`.
///   - time: The time for conditions on the duration.
///   - triggerTokenOut: Receives the token with which the trigger can be tested and removed.
@discardableResult
@preconcurrency public func CMBufferQueueInstallTrigger(
  _ queue: CMBufferQueue, callback: CMBufferQueueTriggerCallback?, refcon: UnsafeMutableRawPointer?,
  condition: CMBufferQueueTriggerCondition, time: CMTime,
  triggerTokenOut: UnsafeMutablePointer<CMBufferQueueTriggerToken?>?
) -> OSStatus {
  queue.install(
    QueueTrigger.kind(condition, time: time), callback.map { callback in { callback(refcon, $0) } },
    triggerTokenOut)
}

/// Installs a trigger with a condition on the number of buffers; see `CMBufferQueueInstallTrigger`.
@discardableResult
@preconcurrency public func CMBufferQueueInstallTriggerWithIntegerThreshold(
  _ queue: CMBufferQueue, callback: CMBufferQueueTriggerCallback?, refcon: UnsafeMutableRawPointer?,
  condition: CMBufferQueueTriggerCondition, threshold: CMItemCount,
  triggerTokenOut: UnsafeMutablePointer<CMBufferQueueTriggerToken?>?
) -> OSStatus {
  queue.install(
    QueueTrigger.kind(condition, threshold: threshold), callback.map { callback in { callback(refcon, $0) } },
    triggerTokenOut)
}

/// Installs a trigger; see `CMBufferQueueInstallTrigger`.
@discardableResult
public func CMBufferQueueInstallTriggerHandler(
  _ queue: CMBufferQueue, _ condition: CMBufferQueueTriggerCondition, _ time: CMTime,
  _ triggerTokenOut: UnsafeMutablePointer<CMBufferQueueTriggerToken?>?,
  _ handler: CMBufferQueueTriggerHandler?
) -> OSStatus {
  queue.install(QueueTrigger.kind(condition, time: time), handler, triggerTokenOut)
}

/// Installs a trigger with a condition on the number of buffers; see `CMBufferQueueInstallTrigger`.
@discardableResult
public func CMBufferQueueInstallTriggerHandlerWithIntegerThreshold(
  _ queue: CMBufferQueue, _ condition: CMBufferQueueTriggerCondition, _ threshold: CMItemCount,
  _ triggerTokenOut: UnsafeMutablePointer<CMBufferQueueTriggerToken?>?,
  _ handler: CMBufferQueueTriggerHandler?
) -> OSStatus {
  queue.install(QueueTrigger.kind(condition, threshold: threshold), handler, triggerTokenOut)
}

/// Removes a trigger.
@discardableResult
public func CMBufferQueueRemoveTrigger(_ queue: CMBufferQueue, triggerToken: CMBufferQueueTriggerToken)
  -> OSStatus
{
  queue.remove(triggerToken)
}

/// Returns whether the condition of a trigger is true now.
@discardableResult
public func CMBufferQueueTestTrigger(_ queue: CMBufferQueue, triggerToken: CMBufferQueueTriggerToken) -> Bool
{
  queue.test(triggerToken)
}

extension CMBufferQueue {
  public typealias TriggerToken = CMBufferQueueTriggerToken

  /// The condition of a trigger.
  public enum TriggerCondition: Sendable {
    case whenDurationBecomesLessThan(CMTime)
    case whenDurationBecomesLessThanOrEqualTo(CMTime)
    case whenDurationBecomesGreaterThan(CMTime)
    case whenDurationBecomesGreaterThanOrEqualTo(CMTime)
    case whenMinPresentationTimeStampChanges
    case whenMaxPresentationTimeStampChanges
    case whenDataBecomesReady
    case whenEndOfDataReached
    case whenReset
    case whenBufferCountBecomesLessThan(CMItemCount)
    case whenBufferCountBecomesGreaterThan(CMItemCount)

    fileprivate var kind: Result<QueueTrigger.Kind, SampleError> {
      switch self {
      case .whenDurationBecomesLessThan(let time):
        QueueTrigger.kind(kCMBufferQueueTrigger_WhenDurationBecomesLessThan, time: time)
      case .whenDurationBecomesLessThanOrEqualTo(let time):
        QueueTrigger.kind(kCMBufferQueueTrigger_WhenDurationBecomesLessThanOrEqualTo, time: time)
      case .whenDurationBecomesGreaterThan(let time):
        QueueTrigger.kind(kCMBufferQueueTrigger_WhenDurationBecomesGreaterThan, time: time)
      case .whenDurationBecomesGreaterThanOrEqualTo(let time):
        QueueTrigger.kind(kCMBufferQueueTrigger_WhenDurationBecomesGreaterThanOrEqualTo, time: time)
      case .whenMinPresentationTimeStampChanges: .success(.minPresentationTimeChanges)
      case .whenMaxPresentationTimeStampChanges: .success(.maxPresentationTimeChanges)
      case .whenDataBecomesReady: .success(.dataBecomesReady)
      case .whenEndOfDataReached: .success(.endOfDataReached)
      case .whenReset: .success(.reset)
      case .whenBufferCountBecomesLessThan(let count): .success(.countLess(count))
      case .whenBufferCountBecomesGreaterThan(let count): .success(.countGreater(count))
      }
    }
  }

  /// Installs a trigger; see `CMBufferQueueInstallTrigger`.
  @discardableResult
  public func installTrigger(condition: TriggerCondition, _ body: CMBufferQueueTriggerHandler? = nil) throws
    -> TriggerToken
  {
    var token: TriggerToken?
    try check(install(condition.kind, body, &token))
    guard let token else { throw Error.allocationFailed }
    return token
  }

  /// Removes a trigger.
  public func removeTrigger(_ triggerToken: TriggerToken) throws { try check(remove(triggerToken)) }

  /// Returns whether the condition of a trigger is true now.
  public func testTrigger(_ triggerToken: TriggerToken) -> Bool { test(triggerToken) }
}
