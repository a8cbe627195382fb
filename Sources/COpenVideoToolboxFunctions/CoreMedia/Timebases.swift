// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMTimebaseGetTypeID() -> UInt {
  CoreMedia.CMTimebaseGetTypeID()
}

@c @implementation
public func CMTimebaseCreateWithSourceClock(
  _ allocator: OpaquePointer?, _ sourceClock: OpaquePointer?,
  _ timebaseOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  timebaseOut?.pointee = nil
  guard let timebaseOut else { return kCMTimebaseError_MissingRequiredParameter }
  guard let sourceClock = FromC.object(sourceClock, CMClock.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  var timebaseOutObject: CMTimebase?
  let result = CoreMedia.CMTimebaseCreateWithSourceClock(
    allocator: FromC.allocator(allocator), sourceClock: sourceClock, timebaseOut: &timebaseOutObject)
  timebaseOut.pointee = ToC.retained(timebaseOutObject)
  return result
}

@c @implementation
public func CMTimebaseCreateWithSourceTimebase(
  _ allocator: OpaquePointer?, _ sourceTimebase: OpaquePointer?,
  _ timebaseOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  timebaseOut?.pointee = nil
  guard let timebaseOut else { return kCMTimebaseError_MissingRequiredParameter }
  guard let sourceTimebase = FromC.object(sourceTimebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  var timebaseOutObject: CMTimebase?
  let result = CoreMedia.CMTimebaseCreateWithSourceTimebase(
    allocator: FromC.allocator(allocator), sourceTimebase: sourceTimebase, timebaseOut: &timebaseOutObject)
  timebaseOut.pointee = ToC.retained(timebaseOutObject)
  return result
}

@c @implementation
public func CMTimebaseCopySourceTimebase(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.retained(CoreMedia.CMTimebaseCopySourceTimebase(timebase))
}

@c @implementation
public func CMTimebaseCopySourceClock(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.retained(CoreMedia.CMTimebaseCopySourceClock(timebase))
}

@c @implementation
public func CMTimebaseCopySource(_ timebase: OpaquePointer?) -> UnsafeRawPointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.retained(CoreMedia.CMTimebaseCopySource(timebase))
}

@c @implementation
public func CMTimebaseCopyUltimateSourceClock(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.retained(CoreMedia.CMTimebaseCopyUltimateSourceClock(timebase))
}

@c @implementation
public func CMTimebaseCopyMasterTimebase(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.retained(CoreMedia.CMTimebaseCopyMasterTimebase(timebase))
}

@c @implementation
public func CMTimebaseCopyMasterClock(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.retained(CoreMedia.CMTimebaseCopyMasterClock(timebase))
}

@c @implementation
public func CMTimebaseCopyMaster(_ timebase: OpaquePointer?) -> UnsafeRawPointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.retained(CoreMedia.CMTimebaseCopyMaster(timebase))
}

@c @implementation
public func CMTimebaseCopyUltimateMasterClock(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.retained(CoreMedia.CMTimebaseCopyUltimateMasterClock(timebase))
}

@c @implementation
public func CMTimebaseGetMasterTimebase(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.unretained(CoreMedia.CMTimebaseGetMasterTimebase(timebase))
}

@c @implementation
public func CMTimebaseGetMasterClock(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.unretained(CoreMedia.CMTimebaseGetMasterClock(timebase))
}

@c @implementation
public func CMTimebaseGetMaster(_ timebase: OpaquePointer?) -> UnsafeRawPointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.unretained(CoreMedia.CMTimebaseGetMaster(timebase))
}

@c @implementation
public func CMTimebaseGetUltimateMasterClock(_ timebase: OpaquePointer?) -> OpaquePointer? {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return nil }
  return ToC.unretained(CoreMedia.CMTimebaseGetUltimateMasterClock(timebase))
}

@c @implementation
public func CMTimebaseSetSourceClock(_ timebase: OpaquePointer?, _ newSourceClock: OpaquePointer?) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  guard let newSourceClock = FromC.object(newSourceClock, CMClock.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseSetSourceClock(timebase, newSourceClock)
}

@c @implementation
public func CMTimebaseSetSourceTimebase(_ timebase: OpaquePointer?, _ newSourceTimebase: OpaquePointer?)
  -> Int32
{
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  guard let newSourceTimebase = FromC.object(newSourceTimebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseSetSourceTimebase(timebase, newSourceTimebase)
}

@c @implementation
public func CMTimebaseSetMasterClock(_ timebase: OpaquePointer?, _ newMasterClock: OpaquePointer?) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  guard let newMasterClock = FromC.object(newMasterClock, CMClock.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseSetMasterClock(timebase, newMasterClock)
}

@c @implementation
public func CMTimebaseSetMasterTimebase(_ timebase: OpaquePointer?, _ newMasterTimebase: OpaquePointer?)
  -> Int32
{
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  guard let newMasterTimebase = FromC.object(newMasterTimebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseSetMasterTimebase(timebase, newMasterTimebase)
}

@c @implementation
public func CMTimebaseGetTime(_ timebase: OpaquePointer?) -> C_CMTime {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMTimebaseGetTime(timebase))
}

@c @implementation
public func CMTimebaseGetTimeWithTimeScale(_ timebase: OpaquePointer?, _ timescale: Int32, _ method: UInt32)
  -> C_CMTime
{
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  guard let method = CMTimeRoundingMethod(rawValue: method) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMTimebaseGetTimeWithTimeScale(timebase, timescale: timescale, method: method))
}

@c @implementation
public func CMTimebaseSetTime(_ timebase: OpaquePointer?, _ time: C_CMTime) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseSetTime(timebase, time: FromC.value(time))
}

@c @implementation
public func CMTimebaseSetAnchorTime(
  _ timebase: OpaquePointer?, _ timebaseTime: C_CMTime, _ immediateSourceTime: C_CMTime
) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseSetAnchorTime(
    timebase, timebaseTime: FromC.value(timebaseTime), immediateSourceTime: FromC.value(immediateSourceTime))
}

@c @implementation
public func CMTimebaseGetRate(_ timebase: OpaquePointer?) -> Double {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return 0 }
  return CoreMedia.CMTimebaseGetRate(timebase)
}

@c @implementation
public func CMTimebaseGetTimeAndRate(
  _ timebase: OpaquePointer?, _ timeOut: UnsafeMutablePointer<C_CMTime>?,
  _ rateOut: UnsafeMutablePointer<Double>?
) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseGetTimeAndRate(timebase, timeOut: rebound(timeOut), rateOut: rateOut)
}

@c @implementation
public func CMTimebaseSetRate(_ timebase: OpaquePointer?, _ rate: Double) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseSetRate(timebase, rate: rate)
}

@c @implementation
public func CMTimebaseSetRateAndAnchorTime(
  _ timebase: OpaquePointer?, _ rate: Double, _ timebaseTime: C_CMTime, _ immediateSourceTime: C_CMTime
) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseSetRateAndAnchorTime(
    timebase, rate: rate, anchorTime: FromC.value(timebaseTime),
    immediateSourceTime: FromC.value(immediateSourceTime))
}

@c @implementation
public func CMTimebaseGetEffectiveRate(_ timebase: OpaquePointer?) -> Double {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else { return 0 }
  return CoreMedia.CMTimebaseGetEffectiveRate(timebase)
}

@c @implementation
public func CMTimebaseNotificationBarrier(_ timebase: OpaquePointer?) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self) else {
    return kCMTimebaseError_MissingRequiredParameter
  }
  return CoreMedia.CMTimebaseNotificationBarrier(timebase)
}
