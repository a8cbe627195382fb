// SPDX-License-Identifier: Apache-2.0
// Signposts mark points and intervals in time for a profiler. No profiler is supported on Linux, so
// these functions do nothing, and do not evaluate their messages and identifiers.

public typealias SignpostMetadata = OSLogMessage

/// An identifier that distinguishes intervals with the same name.
public struct OSSignpostID: Hashable, Comparable, Sendable, RawRepresentable {
  public let rawValue: UInt64
  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
  @inlinable public init(_ value: UInt64) { rawValue = value }
  @inlinable public init(log: OSLog) { self = .exclusive }
  @inlinable public init(log: OSLog, object: AnyObject) { self = .exclusive }

  public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
  public static let invalid = OSSignpostID(UInt64.max)
  public static let null = OSSignpostID(0)

  @inlinable public static func < (a: OSSignpostID, b: OSSignpostID) -> Bool { a.rawValue < b.rawValue }
}

/// The type of a signpost: an event, or the begin or the end of an interval.
public struct OSSignpostType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static let event = OSSignpostType(rawValue: 0)
  public static let begin = OSSignpostType(rawValue: 1)
  public static let end = OSSignpostType(rawValue: 2)
}

/// The state of an interval between its begin and its end.
public final class OSSignpostIntervalState: Sendable {
  @usableFromInline static let shared = OSSignpostIntervalState()
  @usableFromInline init() {}
}

/// An object that marks intervals and events.
public struct OSSignposter: Sendable {
  @inlinable public init() {}
  @inlinable public init(subsystem: String, category: String) {}
  @inlinable public init(subsystem: String, category: OSLog.Category) {}
  @inlinable public init(logger: Logger) {}
  @inlinable public init(logHandle: OSLog) {}
  public static let disabled = OSSignposter()

  /// Whether signposts are recorded. It is always false.
  @inlinable public var isEnabled: Bool { false }

  @inlinable public func makeSignpostID() -> OSSignpostID { .exclusive }
  @inlinable public func makeSignpostID(from object: AnyObject) -> OSSignpostID { .exclusive }

  @inlinable public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive)
    -> OSSignpostIntervalState
  { .shared }
  @inlinable public func beginInterval(
    _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> SignpostMetadata
  ) -> OSSignpostIntervalState { .shared }
  @inlinable public func beginAnimationInterval(_ name: StaticString, id: OSSignpostID = .exclusive)
    -> OSSignpostIntervalState
  { .shared }
  @inlinable public func beginAnimationInterval(
    _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> SignpostMetadata
  ) -> OSSignpostIntervalState { .shared }

  @inlinable public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {}
  @inlinable public func endInterval(
    _ name: StaticString, _ state: OSSignpostIntervalState, _ message: @autoclosure () -> SignpostMetadata
  ) {}

  @inlinable public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) {}
  @inlinable public func emitEvent(
    _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> SignpostMetadata
  ) {}

  @inlinable public func withIntervalSignpost<Result>(
    _ name: StaticString, id: OSSignpostID = .exclusive, around task: () throws -> Result
  ) rethrows -> Result { try task() }
  @inlinable public func withIntervalSignpost<Result>(
    _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> SignpostMetadata,
    around task: () throws -> Result
  ) rethrows -> Result { try task() }
}

@inlinable public func os_signpost(
  _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
  signpostID: OSSignpostID = .exclusive
) {}

@inlinable public func os_signpost(
  _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
  signpostID: OSSignpostID = .exclusive, _ format: StaticString, _ arguments: any CVarArg...
) {}
