// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A source of time that cannot be set, stopped or started.
public final class CMClock: @unchecked Sendable, Hashable {
  // Sendable: `lock` guards what changes.
  /// The clock's time at a moment of host time, in nanoseconds.
  private let reading: @Sendable (_ hostTime: UInt64) -> CMTime
  private let isHostClock: Bool
  private let lock = Lock()
  private var isInvalidated = false
  /// The first reading, which the clock's rate is measured from.
  private let first: (time: CMTime, host: UInt64)

  private init(isHostClock: Bool, reading: @escaping @Sendable (_ hostTime: UInt64) -> CMTime) {
    self.isHostClock = isHostClock
    self.reading = reading
    let host = mach_absolute_time()
    first = (reading(host), host)
  }

  /// Creates a clock that is not the host's.
  ///
  /// An example is a device that counts its own samples.
  /// - Parameter reading: Returns the clock's time at a host time in nanoseconds.
  package convenience init(reading: @escaping @Sendable (_ hostTime: UInt64) -> CMTime) {
    self.init(isHostClock: false, reading: reading)
  }

  fileprivate static let host = CMClock(isHostClock: true) { hostTime($0) }

  fileprivate static func hostTime(_ nanoseconds: UInt64) -> CMTime {
    CMTime(value: CMTimeValue(clamping: nanoseconds), timescale: nanosecondTimescale)
  }

  static let nanosecondTimescale: CMTimeScale = 1_000_000_000

  /// The clock's time and the host's at the same moment; invalid if the clock has been invalidated.
  fileprivate func readings() -> (time: CMTime, host: CMTime) {
    let now = mach_absolute_time()
    if !isHostClock, lock.withLock({ isInvalidated }) { return (.invalid, .invalid) }
    return (reading(now), Self.hostTime(now))
  }

  /// Seconds of the clock to a second of host time, as measured since it was made; 1 until a second
  /// has passed.
  var rateRelativeToHost: Double {
    if isHostClock { return 1 }
    let host = mach_absolute_time()
    let elapsed = Double(host - first.host) * 1e-9
    guard elapsed >= 1 else { return 1 }
    return CMTimeSubtract(reading(host), first.time).seconds / elapsed
  }

  public static func == (a: CMClock, b: CMClock) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Makes the clock stop functioning; only its owner should. Nobody owns the host's clock: it goes
  /// on.
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

/// The clock of the machine: nanoseconds that never go back.
@discardableResult
public func CMClockGetHostTimeClock() -> CMClock { CMClock.host }

/// A host time in units of `mach_absolute_time()`; 0 if it is not a number or negative.
@discardableResult
public func CMClockConvertHostTimeToSystemUnits(_ hostTime: CMTime) -> UInt64 {
  let time = CMTimeConvertScale(hostTime, timescale: CMClock.nanosecondTimescale, method: .default)
  return time.isNumeric ? UInt64(max(time.value, 0)) : 0
}

/// A host time from units of `mach_absolute_time()`.
@discardableResult
public func CMClockMakeHostTimeFromSystemUnits(_ hostTime: UInt64) -> CMTime { CMClock.hostTime(hostTime) }

/// The time on a clock.
@discardableResult
public func CMClockGetTime(_ clock: CMClock) -> CMTime { clock.readings().time }

/// The time on a clock and at the same moment on its reference, the host's clock.
/// - Returns: `kCMClockError_InvalidParameter` if the clock has been invalidated.
@discardableResult
public func CMClockGetAnchorTime(
  _ clock: CMClock, clockTimeOut: UnsafeMutablePointer<CMTime>,
  referenceClockTimeOut: UnsafeMutablePointer<CMTime>
) -> OSStatus {
  (clockTimeOut.pointee, referenceClockTimeOut.pointee) = clock.readings()
  return clockTimeOut.pointee.isValid ? noErr : kCMClockError_InvalidParameter
}

/// Whether two clocks can run apart: all can but a clock and itself.
@discardableResult
public func CMClockMightDrift(_ clock: CMClock, otherClock: CMClock) -> Bool { clock !== otherClock }

/// Makes a clock stop functioning; see `CMClock.invalidate()`.
public func CMClockInvalidate(_ clock: CMClock) { clock.invalidate() }

extension CMClock {
  public static var typeID: CFTypeID { cfTypeID }
  /// The clock of the machine.
  public static var hostTimeClock: CMClock { host }

  public static func convertHostTimeToSystemUnits(_ hostTime: CMTime) -> UInt64 {
    CMClockConvertHostTimeToSystemUnits(hostTime)
  }

  public static func convertSystemUnitsToHostTime(_ systemUnits: UInt64) -> CMTime {
    CMClockMakeHostTimeFromSystemUnits(systemUnits)
  }

  /// The time on the clock and at the same moment on the host's.
  public func anchorTime() throws -> (anchorTime: CMTime, referenceTime: CMTime) {
    let (time, host) = readings()
    guard time.isValid else { throw Error.invalidParameter }
    return (time, host)
  }

  public func mightDrift(relativeTo otherClock: CMClock) -> Bool {
    CMClockMightDrift(self, otherClock: otherClock)
  }
}
