// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMSampleBufferGetSampleAttachmentsArray(_ sbuf: OpaquePointer?, _ createIfNecessary: UInt8)
  -> OpaquePointer?
{
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return nil }
  return ToC.unretained(
    CoreMedia.CMSampleBufferGetSampleAttachmentsArray(sbuf, createIfNecessary: createIfNecessary != 0))
}

@c @implementation
public func CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
  _ sbuf: OpaquePointer?, _ bufferListSizeNeededOut: UnsafeMutablePointer<Int>?,
  _ bufferListOut: UnsafeMutablePointer<C_AudioBufferList>?, _ bufferListSize: Int,
  _ blockBufferAllocator: OpaquePointer?, _ blockBufferMemoryAllocator: OpaquePointer?, _ flags: UInt32,
  _ blockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  blockBufferOut?.pointee = nil
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  var blockBufferOutObject: CMBlockBuffer?
  let result = CoreMedia.CMSampleBufferGetAudioBufferListWithRetainedBlockBuffer(
    sbuf, bufferListSizeNeededOut: bufferListSizeNeededOut, bufferListOut: rebound(bufferListOut),
    bufferListSize: bufferListSize, blockBufferAllocator: FromC.allocator(blockBufferAllocator),
    blockBufferMemoryAllocator: FromC.allocator(blockBufferMemoryAllocator), flags: flags,
    blockBufferOut: &blockBufferOutObject)
  blockBufferOut?.pointee = ToC.retained(blockBufferOutObject)
  return result
}

@c @implementation
public func CMSampleBufferSetDataBufferFromAudioBufferList(
  _ sbuf: OpaquePointer?, _ blockBufferAllocator: OpaquePointer?,
  _ blockBufferMemoryAllocator: OpaquePointer?, _ flags: UInt32,
  _ bufferList: UnsafePointer<C_AudioBufferList>?
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let bufferList else { return kCMSampleBufferError_RequiredParameterMissing }
  return CoreMedia.CMSampleBufferSetDataBufferFromAudioBufferList(
    sbuf, blockBufferAllocator: FromC.allocator(blockBufferAllocator),
    blockBufferMemoryAllocator: FromC.allocator(blockBufferMemoryAllocator), flags: flags,
    bufferList: rebound(bufferList))
}

@c @implementation
public func CMSampleBufferGetAudioStreamPacketDescriptions(
  _ sbuf: OpaquePointer?, _ packetDescriptionsSize: Int,
  _ packetDescriptionsOut: UnsafeMutablePointer<C_AudioStreamPacketDescription>?,
  _ packetDescriptionsSizeNeededOut: UnsafeMutablePointer<Int>?
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferGetAudioStreamPacketDescriptions(
    sbuf, allocatedSize: packetDescriptionsSize, packetDescriptionsOut: rebound(packetDescriptionsOut),
    packetDescriptionsSizeNeededOut: packetDescriptionsSizeNeededOut)
}

@c @implementation
public func CMSampleBufferGetAudioStreamPacketDescriptionsPtr(
  _ sbuf: OpaquePointer?,
  _ packetDescriptionsPointerOut: UnsafeMutablePointer<UnsafePointer<C_AudioStreamPacketDescription>?>?,
  _ sizeOut: UnsafeMutablePointer<Int>?
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferGetAudioStreamPacketDescriptionsPtr(
    sbuf, packetDescriptionsPointerOut: rebound(packetDescriptionsPointerOut), sizeOut: sizeOut)
}

@c @implementation
public func CMSampleBufferGetTypeID() -> UInt {
  CoreMedia.CMSampleBufferGetTypeID()
}

@c @implementation
public func CMSampleBufferSetDataBuffer(_ sbuf: OpaquePointer?, _ dataBuffer: OpaquePointer?) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let dataBuffer = FromC.object(dataBuffer, CMBlockBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferSetDataBuffer(sbuf, newValue: dataBuffer)
}

@c @implementation
public func CMSampleBufferGetDataBuffer(_ sbuf: OpaquePointer?) -> OpaquePointer? {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return nil }
  return ToC.unretained(CoreMedia.CMSampleBufferGetDataBuffer(sbuf))
}

@c @implementation
public func CMSampleBufferGetImageBuffer(_ sbuf: OpaquePointer?) -> OpaquePointer? {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return nil }
  return ToC.unretained(CoreMedia.CMSampleBufferGetImageBuffer(sbuf))
}

@c @implementation
public func CMSampleBufferGetFormatDescription(_ sbuf: OpaquePointer?) -> OpaquePointer? {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return nil }
  return ToC.unretained(CoreMedia.CMSampleBufferGetFormatDescription(sbuf))
}

@c @implementation
public func CMSampleBufferSetDataReady(_ sbuf: OpaquePointer?) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferSetDataReady(sbuf)
}

@c @implementation
public func CMSampleBufferDataIsReady(_ sbuf: OpaquePointer?) -> UInt8 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return 0 }
  return CoreMedia.CMSampleBufferDataIsReady(sbuf) ? 1 : 0
}

@c @implementation
public func CMSampleBufferSetDataFailed(_ sbuf: OpaquePointer?, _ status: Int32) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferSetDataFailed(sbuf, status: status)
}

@c @implementation
public func CMSampleBufferHasDataFailed(_ sbuf: OpaquePointer?, _ statusOut: UnsafeMutablePointer<Int32>?)
  -> UInt8
{
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return 0 }
  return CoreMedia.CMSampleBufferHasDataFailed(sbuf, statusOut: statusOut) ? 1 : 0
}

@c @implementation
public func CMSampleBufferMakeDataReady(_ sbuf: OpaquePointer?) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferMakeDataReady(sbuf)
}

@c @implementation
public func CMSampleBufferTrackDataReadiness(_ sbuf: OpaquePointer?, _ sampleBufferToTrack: OpaquePointer?)
  -> Int32
{
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let sampleBufferToTrack = FromC.object(sampleBufferToTrack, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferTrackDataReadiness(sbuf, sampleBufferToTrack: sampleBufferToTrack)
}

@c @implementation
public func CMSampleBufferInvalidate(_ sbuf: OpaquePointer?) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferInvalidate(sbuf)
}

@c @implementation
public func CMSampleBufferIsValid(_ sbuf: OpaquePointer?) -> UInt8 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else { return 0 }
  return CoreMedia.CMSampleBufferIsValid(sbuf) ? 1 : 0
}
