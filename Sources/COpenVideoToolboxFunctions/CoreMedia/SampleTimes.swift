// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMSampleBufferGetNumSamples(_ sbuf: OpaquePointer?) -> Int {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return 0 }
  return CoreMedia.CMSampleBufferGetNumSamples(sbuf)
}

@c @implementation
public func CMSampleBufferGetDuration(_ sbuf: OpaquePointer?) -> C_CMTime {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return ToC.value(CoreMedia.CMTime.invalid) }
  return ToC.value(CoreMedia.CMSampleBufferGetDuration(sbuf))
}

@c @implementation
public func CMSampleBufferGetPresentationTimeStamp(_ sbuf: OpaquePointer?) -> C_CMTime {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return ToC.value(CoreMedia.CMTime.invalid) }
  return ToC.value(CoreMedia.CMSampleBufferGetPresentationTimeStamp(sbuf))
}

@c @implementation
public func CMSampleBufferGetDecodeTimeStamp(_ sbuf: OpaquePointer?) -> C_CMTime {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return ToC.value(CoreMedia.CMTime.invalid) }
  return ToC.value(CoreMedia.CMSampleBufferGetDecodeTimeStamp(sbuf))
}

@c @implementation
public func CMSampleBufferGetOutputDuration(_ sbuf: OpaquePointer?) -> C_CMTime {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return ToC.value(CoreMedia.CMTime.invalid) }
  return ToC.value(CoreMedia.CMSampleBufferGetOutputDuration(sbuf))
}

@c @implementation
public func CMSampleBufferGetOutputPresentationTimeStamp(_ sbuf: OpaquePointer?) -> C_CMTime {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return ToC.value(CoreMedia.CMTime.invalid) }
  return ToC.value(CoreMedia.CMSampleBufferGetOutputPresentationTimeStamp(sbuf))
}

@c @implementation
public func CMSampleBufferSetOutputPresentationTimeStamp(
  _ sbuf: OpaquePointer?, _ outputPresentationTimeStamp: C_CMTime
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferSetOutputPresentationTimeStamp(
    sbuf, newValue: FromC.value(outputPresentationTimeStamp))
}

@c @implementation
public func CMSampleBufferGetOutputDecodeTimeStamp(_ sbuf: OpaquePointer?) -> C_CMTime {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return ToC.value(CoreMedia.CMTime.invalid) }
  return ToC.value(CoreMedia.CMSampleBufferGetOutputDecodeTimeStamp(sbuf))
}

@c @implementation
public func CMSampleBufferGetSampleTimingInfoArray(
  _ sbuf: OpaquePointer?, _ numSampleTimingEntries: Int,
  _ timingArrayOut: UnsafeMutablePointer<C_CMSampleTimingInfo>?,
  _ timingArrayEntriesNeededOut: UnsafeMutablePointer<Int>?
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferGetSampleTimingInfoArray(
    sbuf, entryCount: numSampleTimingEntries, arrayToFill: rebound(timingArrayOut),
    entriesNeededOut: timingArrayEntriesNeededOut)
}

@c @implementation
public func CMSampleBufferGetOutputSampleTimingInfoArray(
  _ sbuf: OpaquePointer?, _ timingArrayEntries: Int,
  _ timingArrayOut: UnsafeMutablePointer<C_CMSampleTimingInfo>?,
  _ timingArrayEntriesNeededOut: UnsafeMutablePointer<Int>?
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferGetOutputSampleTimingInfoArray(
    sbuf, entryCount: timingArrayEntries, arrayToFill: rebound(timingArrayOut),
    entriesNeededOut: timingArrayEntriesNeededOut)
}

@c @implementation
public func CMSampleBufferGetSampleTimingInfo(
  _ sbuf: OpaquePointer?, _ sampleIndex: Int, _ timingInfoOut: UnsafeMutablePointer<C_CMSampleTimingInfo>?
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let timingInfoOut else { return kCMSampleBufferError_RequiredParameterMissing }
  return CoreMedia.CMSampleBufferGetSampleTimingInfo(
    sbuf, at: sampleIndex, timingInfoOut: rebound(timingInfoOut))
}

@c @implementation
public func CMSampleBufferGetSampleSizeArray(
  _ sbuf: OpaquePointer?, _ sizeArrayEntries: Int, _ sizeArrayOut: UnsafeMutablePointer<Int>?,
  _ sizeArrayEntriesNeededOut: UnsafeMutablePointer<Int>?
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferGetSampleSizeArray(
    sbuf, entryCount: sizeArrayEntries, arrayToFill: sizeArrayOut, entriesNeededOut: sizeArrayEntriesNeededOut
  )
}

@c @implementation
public func CMSampleBufferGetSampleSize(_ sbuf: OpaquePointer?, _ sampleIndex: Int) -> Int {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return 0 }
  return CoreMedia.CMSampleBufferGetSampleSize(sbuf, at: sampleIndex)
}

@c @implementation
public func CMSampleBufferGetTotalSampleSize(_ sbuf: OpaquePointer?) -> Int {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return 0 }
  return CoreMedia.CMSampleBufferGetTotalSampleSize(sbuf)
}
