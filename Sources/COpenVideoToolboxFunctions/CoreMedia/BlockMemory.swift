// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

// Block buffers of memory that C gives or allocates, and descriptions of parameter sets.

/// Runs a closure with the address of a custom block source, nil for null.
private func withSource<Result>(
  _ source: UnsafePointer<C_CMBlockBufferCustomBlockSource>?,
  _ body: (UnsafePointer<CMBlockBufferCustomBlockSource>?) -> Result
) -> Result {
  guard let source = source?.pointee else { return body(nil) }
  let allocate = source.AllocateBlock
  let free = source.FreeBlock
  // The functions of the module take a block that is not null, which has the same representation in
  // C.
  let copy = CMBlockBufferCustomBlockSource(
    version: source.version, AllocateBlock: allocate,
    FreeBlock: unsafeBitCast(
      free, to: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> Void)?.self),
    refCon: source.refCon)
  return withUnsafePointer(to: copy) { body($0) }
}

@c @implementation
public func CMBlockBufferCreateWithMemoryBlock(
  _ structureAllocator: OpaquePointer?, _ memoryBlock: UnsafeMutableRawPointer?, _ blockLength: Int,
  _ blockAllocator: OpaquePointer?, _ customBlockSource: UnsafePointer<C_CMBlockBufferCustomBlockSource>?,
  _ offsetToData: Int, _ dataLength: Int, _ flags: UInt32,
  _ blockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  blockBufferOut?.pointee = nil
  guard let blockBufferOut else { return CoreMedia.kCMBlockBufferBadPointerParameterErr }
  return withSource(customBlockSource) { source in
    var buffer: CMBlockBuffer?
    let result = CoreMedia.CMBlockBufferCreateWithMemoryBlock(
      allocator: nil, memoryBlock: memoryBlock, blockLength: blockLength,
      blockAllocator: FromC.allocator(blockAllocator), customBlockSource: source, offsetToData: offsetToData,
      dataLength: dataLength, flags: flags, blockBufferOut: &buffer)
    blockBufferOut.pointee = ToC.retained(buffer)
    return result
  }
}

@c @implementation
public func CMBlockBufferCreateContiguous(
  _ structureAllocator: OpaquePointer?, _ sourceBuffer: OpaquePointer?, _ blockAllocator: OpaquePointer?,
  _ customBlockSource: UnsafePointer<C_CMBlockBufferCustomBlockSource>?, _ offsetToData: Int,
  _ dataLength: Int, _ flags: UInt32, _ blockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  blockBufferOut?.pointee = nil
  guard let blockBufferOut, let sourceBuffer = FromC.object(sourceBuffer, CMBlockBuffer.self) else {
    return CoreMedia.kCMBlockBufferBadPointerParameterErr
  }
  return withSource(customBlockSource) { source in
    var buffer: CMBlockBuffer?
    let result = CoreMedia.CMBlockBufferCreateContiguous(
      allocator: nil, sourceBuffer: sourceBuffer, blockAllocator: FromC.allocator(blockAllocator),
      customBlockSource: source, offsetToData: offsetToData, dataLength: dataLength, flags: flags,
      blockBufferOut: &buffer)
    blockBufferOut.pointee = ToC.retained(buffer)
    return result
  }
}

@c @implementation
public func CMBlockBufferAppendMemoryBlock(
  _ theBuffer: OpaquePointer?, _ memoryBlock: UnsafeMutableRawPointer?, _ blockLength: Int,
  _ blockAllocator: OpaquePointer?, _ customBlockSource: UnsafePointer<C_CMBlockBufferCustomBlockSource>?,
  _ offsetToData: Int, _ dataLength: Int, _ flags: UInt32
) -> Int32 {
  guard let buffer = FromC.object(theBuffer, CMBlockBuffer.self) else {
    return CoreMedia.kCMBlockBufferBadPointerParameterErr
  }
  return withSource(customBlockSource) {
    CoreMedia.CMBlockBufferAppendMemoryBlock(
      buffer, memoryBlock: memoryBlock, length: blockLength,
      blockAllocator: FromC.allocator(blockAllocator), customBlockSource: $0, offsetToData: offsetToData,
      dataLength: dataLength, flags: flags)
  }
}

// MARK: - Parameter sets

/// The pointers to parameter sets; nil if one is null. The number is checked where they are read.
private func parameterSets(
  _ count: Int, _ pointers: UnsafePointer<UnsafePointer<UInt8>?>?, _ sizes: UnsafePointer<Int>?
) -> (UnsafePointer<UnsafePointer<UInt8>>, UnsafePointer<Int>)? {
  guard let pointers, let sizes, (1...256).contains(count) else { return nil }
  for index in 0..<count where pointers[index] == nil { return nil }
  return (rebound(pointers), sizes)
}

@c @implementation
public func CMVideoFormatDescriptionCreateFromH264ParameterSets(
  _ allocator: OpaquePointer?, _ parameterSetCount: Int,
  _ parameterSetPointers: UnsafePointer<UnsafePointer<UInt8>?>?, _ parameterSetSizes: UnsafePointer<Int>?,
  _ NALUnitHeaderLength: Int32, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut,
    let (pointers, sizes) = parameterSets(parameterSetCount, parameterSetPointers, parameterSetSizes)
  else { return CoreMedia.kCMFormatDescriptionError_InvalidParameter }
  var description: CMFormatDescription?
  let result = CoreMedia.CMVideoFormatDescriptionCreateFromH264ParameterSets(
    allocator: nil, parameterSetCount: parameterSetCount, parameterSetPointers: pointers,
    parameterSetSizes: sizes, nalUnitHeaderLength: NALUnitHeaderLength, formatDescriptionOut: &description)
  formatDescriptionOut.pointee = ToC.retained(description)
  return result
}

@c @implementation
public func CMVideoFormatDescriptionCreateFromHEVCParameterSets(
  _ allocator: OpaquePointer?, _ parameterSetCount: Int,
  _ parameterSetPointers: UnsafePointer<UnsafePointer<UInt8>?>?, _ parameterSetSizes: UnsafePointer<Int>?,
  _ NALUnitHeaderLength: Int32, _ extensions: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut,
    let (pointers, sizes) = parameterSets(parameterSetCount, parameterSetPointers, parameterSetSizes),
    let extensions = FromC.optionalDictionary(extensions)
  else { return CoreMedia.kCMFormatDescriptionError_InvalidParameter }
  var description: CMFormatDescription?
  let result = CoreMedia.CMVideoFormatDescriptionCreateFromHEVCParameterSets(
    allocator: nil, parameterSetCount: parameterSetCount, parameterSetPointers: pointers,
    parameterSetSizes: sizes, nalUnitHeaderLength: NALUnitHeaderLength, extensions: extensions,
    formatDescriptionOut: &description)
  formatDescriptionOut.pointee = ToC.retained(description)
  return result
}

// MARK: - Older names

@c @implementation
public func CMTimebaseCreateWithMasterClock(
  _ allocator: OpaquePointer?, _ masterClock: OpaquePointer?,
  _ timebaseOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 { CMTimebaseCreateWithSourceClock(allocator, masterClock, timebaseOut) }

@c @implementation
public func CMTimebaseCreateWithMasterTimebase(
  _ allocator: OpaquePointer?, _ masterTimebase: OpaquePointer?,
  _ timebaseOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 { CMTimebaseCreateWithSourceTimebase(allocator, masterTimebase, timebaseOut) }
