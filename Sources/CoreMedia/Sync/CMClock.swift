// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A source of time that cannot be set, stopped or started.
public final class CMClock: @unchecked Sendable, Hashable {
  // Sendable: `lock` guards what changes.
  /// Returns the time of the clock at a host time in nanoseconds.
  private let reading: @Sendable (_ hostTime: UInt64) -> CMTime
  private let isHostClock: Bool
  private let lock = Lock()
  private var isInvalidated = false
  /// The first reading, from which the rate of the clock is measured.
  private let first: (time: CMTime, host: UInt64)

  private init(isHostClock: Bool, reading: @escaping @Sendable (_ hostTime: UInt64) -> CMTime) {
    self.isHostClock = isHostClock
    self.reading = reading
    let host = mach_absolute_time()
    first = (reading(host), host)
  }

  /// Creates a clock other than the host time clock, for example that of a device that counts
  /// samples.
  /// - Parameter reading: Returns the time of the clock at a host time in nanoseconds.
  package convenience init(reading: @escaping @Sendable (_ hostTime: UInt64) -> CMTime) {
    self.init(isHostClock: false, reading: reading)
  }

  fileprivate static let host = CMClock(isHostClock: true) { hostTime($0) }

  fileprivate static func hostTime(_ nanoseconds: UInt64) -> CMTime {
    CMTime(value: CMTimeValue(clamping: nanoseconds), timescale: nanosecondTimescale)
  }

  static let nanosecondTimescale: CMTimeScale = 1_000_000_000

  /// The time of the clock and the host time at the same moment; invalid if the clock has been
  /// invalidated.
  fileprivate func readings() -> (time: CMTime, host: CMTime) {
    let now = mach_absolute_time()
    if !isHostClock, lock.withLock({ isInvalidated }) { return (.invalid, .invalid) }
    return (reading(now), Self.hostTime(now))
  }

  /// The rate of the clock in relation to host time, measured since the creation of the clock; 1
  /// until a second has passed.
  var rateRelativeToHost: Double {
    if isHostClock { return 1 }
    let host = mach_absolute_time()
    let elapsed = Double(host - first.host) * 1e-9
    guard elapsed >= 1 else { return 1 }
    return CMTimeSubtract(reading(host), first.time).seconds / elapsed
  }

  public static func == (a: CMClock, b: CMClock) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Stops the clock, which only its owner should do. It has no effect on the host time clock.
  public func invalidate() {
    guard !isHostClock else { return }
    lock.withLock { isInvalidated = true }
  }
}

extension CMClock: CFRuntimeObject {
  package static let cfTypeID = CFRuntimeRegister("CMClock")

  package var cfDescription: String {
    "<CMClock \(isHostClock ? "host time" : "device") now=\(readings().time.text)>"
  }
}

/// The type identifier of clocks.
@discardableResult
public func CMClockGetTypeID() -> CFTypeID { CMClock.cfTypeID }

/// Returns the host time clock, which counts nanoseconds and is monotonic.
@discardableResult
public func CMClockGetHostTimeClock() -> CMClock { CMClock.host }

/// Converts a host time to units of `mach_absolute_time()`; 0 if the time is not numeric or is
/// negative.
@discardableResult
public func CMClockConvertHostTimeToSystemUnits(_ hostTime: CMTime) -> UInt64 {
  let time = CMTimeConvertScale(hostTime, timescale: CMClock.nanosecondTimescale, method: .default)
  return time.isNumeric ? UInt64(max(time.value, 0)) : 0
}

/// Converts units of `mach_absolute_time()` to a host time.
@discardableResult
public func CMClockMakeHostTimeFromSystemUnits(_ hostTime: UInt64) -> CMTime { CMClock.hostTime(hostTime) }

/// Returns the time of a clock.
@discardableResult
public func CMClockGetTime(_ clock: CMClock) -> CMTime { clock.readings().time }

/// Gets the time of a clock, and the time of its reference, the host time clock, at the same
/// moment.
/// - Returns: `kCMClockError_InvalidParameter` if the clock has been invalidated.
@discardableResult
public func CMClockGetAnchorTime(
  _ clock: CMClock, clockTimeOut: UnsafeMutablePointer<CMTime>,
  referenceClockTimeOut: UnsafeMutablePointer<CMTime>
) -> OSStatus {
  (clockTimeOut.pointee, referenceClockTimeOut.pointee) = clock.readings()
  return clockTimeOut.pointee.isValid ? noErr : kCMClockError_InvalidParameter
}

/// Returns whether two clocks may drift: true for any two different clocks.
@discardableResult
public func CMClockMightDrift(_ clock: CMClock, otherClock: CMClock) -> Bool { clock !== otherClock }

/// Stops a clock; see `CMClock.invalidate()`.
public func CMClockInvalidate(_ clock: CMClock) { clock.invalidate() }

extension CMClock {
  public static var typeID: CFTypeID { cfTypeID }
  /// The host time clock.
  public static var hostTimeClock: CMClock { host }

  public static func convertHostTimeToSystemUnits(_ hostTime: CMTime) -> UInt64 {
    CMClockConvertHostTimeToSystemUnits(hostTime)
  }

  public static func convertSystemUnitsToHostTime(_ systemUnits: UInt64) -> CMTime {
    CMClockMakeHostTimeFromSystemUnits(systemUnits)
  }

  /// Returns the time of the clock and the host time at the same moment.
  /// - Throws: `CMClock.Error.invalidParameter` if the clock has been invalidated.
  public func anchorTime() throws -> (anchorTime: CMTime, referenceTime: CMTime) {
    let (time, host) = readings()
    guard time.isValid else { throw Error.invalidParameter }
    return (time, host)
  }

  public func mightDrift(relativeTo otherClock: CMClock) -> Bool {
    CMClockMightDrift(self, otherClock: otherClock)
  }
}
