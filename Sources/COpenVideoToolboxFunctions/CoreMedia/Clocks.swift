// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMClockGetTypeID() -> UInt {
  CoreMedia.CMClockGetTypeID()
}

@c @implementation
public func CMClockGetHostTimeClock() -> OpaquePointer? {
  ToC.unretained(CoreMedia.CMClockGetHostTimeClock())
}

@c @implementation
public func CMClockConvertHostTimeToSystemUnits(_ hostTime: C_CMTime) -> UInt64 {
  CoreMedia.CMClockConvertHostTimeToSystemUnits(FromC.value(hostTime))
}

@c @implementation
public func CMClockMakeHostTimeFromSystemUnits(_ hostTime: UInt64) -> C_CMTime {
  ToC.value(CoreMedia.CMClockMakeHostTimeFromSystemUnits(hostTime))
}

@c @implementation
public func CMClockGetTime(_ clock: OpaquePointer?) -> C_CMTime {
  guard let clock = FromC.object(clock, CMClock.self) else { return ToC.value(CoreMedia.CMTime.invalid) }
  return ToC.value(CoreMedia.CMClockGetTime(clock))
}

@c @implementation
public func CMClockGetAnchorTime(
  _ clock: OpaquePointer?, _ clockTimeOut: UnsafeMutablePointer<C_CMTime>?,
  _ referenceClockTimeOut: UnsafeMutablePointer<C_CMTime>?
) -> Int32 {
  guard let clock = FromC.object(clock, CMClock.self) else { return kCMClockError_MissingRequiredParameter }
  guard let clockTimeOut else { return kCMClockError_MissingRequiredParameter }
  guard let referenceClockTimeOut else { return kCMClockError_MissingRequiredParameter }
  return CoreMedia.CMClockGetAnchorTime(
    clock, clockTimeOut: rebound(clockTimeOut), referenceClockTimeOut: rebound(referenceClockTimeOut))
}

@c @implementation
public func CMClockMightDrift(_ clock: OpaquePointer?, _ otherClock: OpaquePointer?) -> UInt8 {
  guard let clock = FromC.object(clock, CMClock.self) else { return 0 }
  guard let otherClock = FromC.object(otherClock, CMClock.self) else { return 0 }
  return CoreMedia.CMClockMightDrift(clock, otherClock: otherClock) ? 1 : 0
}

@c @implementation
public func CMClockInvalidate(_ clock: OpaquePointer?) {
  guard let clock = FromC.object(clock, CMClock.self) else { return }
  CoreMedia.CMClockInvalidate(clock)
}

@c @implementation
public func CMSyncGetTime(_ clockOrTimebase: UnsafeRawPointer?) -> C_CMTime {
  guard let clockOrTimebase = FromC.object(clockOrTimebase, AnyObject.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMSyncGetTime(clockOrTimebase))
}

@c @implementation
public func CMSyncMightDrift(_ clockOrTimebase1: UnsafeRawPointer?, _ clockOrTimebase2: UnsafeRawPointer?)
  -> UInt8
{
  guard let clockOrTimebase1 = FromC.object(clockOrTimebase1, AnyObject.self) else { return 0 }
  guard let clockOrTimebase2 = FromC.object(clockOrTimebase2, AnyObject.self) else { return 0 }
  return CoreMedia.CMSyncMightDrift(clockOrTimebase1, clockOrTimebase2) ? 1 : 0
}

@c @implementation
public func CMSyncGetRelativeRate(
  _ ofClockOrTimebase: UnsafeRawPointer?, _ relativeToClockOrTimebase: UnsafeRawPointer?
) -> Double {
  guard let ofClockOrTimebase = FromC.object(ofClockOrTimebase, AnyObject.self) else { return 0 }
  guard let relativeToClockOrTimebase = FromC.object(relativeToClockOrTimebase, AnyObject.self) else {
    return 0
  }
  return CoreMedia.CMSyncGetRelativeRate(ofClockOrTimebase, relativeTo: relativeToClockOrTimebase)
}

@c @implementation
public func CMSyncGetRelativeRateAndAnchorTime(
  _ ofClockOrTimebase: UnsafeRawPointer?, _ relativeToClockOrTimebase: UnsafeRawPointer?,
  _ outRelativeRate: UnsafeMutablePointer<Double>?,
  _ outOfClockOrTimebaseAnchorTime: UnsafeMutablePointer<C_CMTime>?,
  _ outRelativeToClockOrTimebaseAnchorTime: UnsafeMutablePointer<C_CMTime>?
) -> Int32 {
  guard let ofClockOrTimebase = FromC.object(ofClockOrTimebase, AnyObject.self) else {
    return kCMSyncError_MissingRequiredParameter
  }
  guard let relativeToClockOrTimebase = FromC.object(relativeToClockOrTimebase, AnyObject.self) else {
    return kCMSyncError_MissingRequiredParameter
  }
  return CoreMedia.CMSyncGetRelativeRateAndAnchorTime(
    ofClockOrTimebase, relativeTo: relativeToClockOrTimebase, relativeRateOut: outRelativeRate,
    anchorTimeOut: rebound(outOfClockOrTimebaseAnchorTime),
    relativeToAnchorTimeOut: rebound(outRelativeToClockOrTimebaseAnchorTime))
}

@c @implementation
public func CMSyncConvertTime(
  _ time: C_CMTime, _ fromClockOrTimebase: UnsafeRawPointer?, _ toClockOrTimebase: UnsafeRawPointer?
) -> C_CMTime {
  guard let fromClockOrTimebase = FromC.object(fromClockOrTimebase, AnyObject.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  guard let toClockOrTimebase = FromC.object(toClockOrTimebase, AnyObject.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(
    CoreMedia.CMSyncConvertTime(FromC.value(time), from: fromClockOrTimebase, to: toClockOrTimebase))
}
