// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// MARK: - Create

/// Creates a block buffer without memory, to append to.
@discardableResult
public func CMBlockBufferCreateEmpty(
  allocator structureAllocator: CFAllocator?, capacity subBlockCapacity: UInt32, flags: CMBlockBufferFlags,
  blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  blockBufferOut.pointee = CMBlockBuffer(subBlockCapacity: Int(subBlockCapacity))
  return kCMBlockBufferNoErr
}

/// Creates a block buffer over a memory block.
///
/// Of the parameters:
///
/// - `memoryBlock`: The memory, or nil to have `blockLength` bytes allocated when they are needed.
/// - `blockAllocator`: Frees the memory (and allocates it, if it is nil); `kCFAllocatorNull` leaves the memory alone.
/// - `customBlockSource`: Functions to use instead of `blockAllocator`.
/// - `offsetToData`: Of the first byte to use within the block.
/// - `dataLength`: The number of bytes to use.
@discardableResult
public func CMBlockBufferCreateWithMemoryBlock(
  allocator structureAllocator: CFAllocator?, memoryBlock: UnsafeMutableRawPointer?, blockLength: Int,
  blockAllocator: CFAllocator?, customBlockSource: UnsafePointer<CMBlockBufferCustomBlockSource>?,
  offsetToData: Int, dataLength: Int, flags: CMBlockBufferFlags,
  blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  let buffer = CMBlockBuffer(subBlockCapacity: 1)
  let status = CMBlockBufferAppendMemoryBlock(
    buffer, memoryBlock: memoryBlock, length: blockLength, blockAllocator: blockAllocator,
    customBlockSource: customBlockSource, offsetToData: offsetToData, dataLength: dataLength, flags: flags)
  blockBufferOut.pointee = status == noErr ? buffer : nil
  return status
}

/// Creates a block buffer that refers to a range of another; a length of zero means all from the offset on.
@discardableResult
public func CMBlockBufferCreateWithBufferReference(
  allocator structureAllocator: CFAllocator?, referenceBuffer bufferReference: CMBlockBuffer,
  offsetToData: Int, dataLength: Int, flags: CMBlockBufferFlags,
  blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  let buffer = CMBlockBuffer(subBlockCapacity: 1)
  let status = buffer.append(
    reference: bufferReference, offset: offsetToData, dataLength: dataLength, flags: flags)
  blockBufferOut.pointee = status == noErr ? buffer : nil
  return status
}

/// Creates a block buffer whose bytes lie in one piece of memory.
///
/// If they do already in the source, the result refers to it, unless `flags` asks for a copy.
/// A length of zero means all from the offset on.
@discardableResult
public func CMBlockBufferCreateContiguous(
  allocator structureAllocator: CFAllocator?, sourceBuffer: CMBlockBuffer, blockAllocator: CFAllocator?,
  customBlockSource: UnsafePointer<CMBlockBufferCustomBlockSource>?, offsetToData: Int, dataLength: Int,
  flags: CMBlockBufferFlags, blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  blockBufferOut.pointee = nil
  if sourceBuffer.hasNoContents { return kCMBlockBufferEmptyBBufErr }
  let total = sourceBuffer.length
  guard offsetToData >= 0, offsetToData < total else { return kCMBlockBufferBadOffsetParameterErr }
  guard dataLength >= 0, dataLength <= total - offsetToData else {
    return kCMBlockBufferBadLengthParameterErr
  }
  let source: MemoryBlock.Source
  if let custom = customBlockSource?.pointee {
    guard custom.version == kCMBlockBufferCustomBlockSourceVersion, custom.AllocateBlock != nil else {
      return kCMBlockBufferBadCustomBlockSourceErr
    }
    source = .custom(custom)
  } else {
    source = .allocator(blockAllocator)
  }
  let length = dataLength == 0 ? total - offsetToData : dataLength
  switch sourceBuffer.contiguous(offset: offsetToData, length: length, source: source, flags: flags) {
  case .success(let buffer):
    blockBufferOut.pointee = buffer
    return noErr
  case .failure(let error):
    return OSStatus(error.code)
  }
}

extension CMBlockBuffer {
  /// A block buffer with the bytes of a range in one piece: the same memory if it is so already and
  /// `flags` does not ask for a copy, otherwise memory from `source`.
  func contiguous(
    offset: Int, length: Int, source: MemoryBlock.Source, flags: CMBlockBufferFlags
  ) -> Result<CMBlockBuffer, NSError> {
    let result = CMBlockBuffer(subBlockCapacity: 1)
    var status: OSStatus
    if flags & kCMBlockBufferAlwaysCopyDataFlag == 0, isContiguous(at: offset, length: length) {
      status = result.append(reference: self, offset: offset, dataLength: length, flags: flags)
      return status == noErr ? .success(result) : .failure(osStatusError(status))
    }
    let block = MemoryBlock(memory: nil, length: length, source: source)
    status = block.assureMemory()
    guard status == noErr, var destination = block.pointer else { return .failure(osStatusError(status)) }
    status = forEachPiece(at: offset, length: length, allocating: true) { piece, count in
      destination.copyMemory(from: piece, byteCount: count)
      destination += count
    }
    if status == noErr { status = result.append(block: block, offset: 0, dataLength: length, flags: 0) }
    return status == noErr ? .success(result) : .failure(osStatusError(status))
  }
}

/// The type identifier of block buffers.
@discardableResult
public func CMBlockBufferGetTypeID() -> CFTypeID { CMBlockBuffer.cfTypeID }

// MARK: - Append

/// Appends a memory block; see `CMBlockBufferCreateWithMemoryBlock` for the parameters.
@discardableResult
public func CMBlockBufferAppendMemoryBlock(
  _ theBuffer: CMBlockBuffer, memoryBlock: UnsafeMutableRawPointer?, length blockLength: Int,
  blockAllocator: CFAllocator?, customBlockSource: UnsafePointer<CMBlockBufferCustomBlockSource>?,
  offsetToData: Int, dataLength: Int, flags: CMBlockBufferFlags
) -> OSStatus {
  guard blockLength > 0 else { return kCMBlockBufferBadLengthParameterErr }
  guard offsetToData >= 0, offsetToData <= blockLength else { return kCMBlockBufferBadOffsetParameterErr }
  guard dataLength >= 0, dataLength <= blockLength - offsetToData else {
    return kCMBlockBufferBadLengthParameterErr
  }
  let source: MemoryBlock.Source
  if let custom = customBlockSource?.pointee {
    guard custom.version == kCMBlockBufferCustomBlockSourceVersion,
      memoryBlock != nil || custom.AllocateBlock != nil
    else { return kCMBlockBufferBadCustomBlockSourceErr }
    source = .custom(custom)
  } else {
    source = .allocator(blockAllocator)
  }
  // From here on nothing can fail when the memory is given: a caller whose call failed still owns it.
  return theBuffer.append(
    memory: memoryBlock, blockLength: blockLength, source: source, offset: offsetToData,
    dataLength: dataLength,
    flags: flags)
}

/// Appends a reference to a range of another block buffer; a length of zero means all from the offset on.
@discardableResult
public func CMBlockBufferAppendBufferReference(
  _ theBuffer: CMBlockBuffer, targetBBuf: CMBlockBuffer, offsetToData: Int, dataLength: Int,
  flags: CMBlockBufferFlags
) -> OSStatus {
  theBuffer.append(reference: targetBBuf, offset: offsetToData, dataLength: dataLength, flags: flags)
}

/// Allocates the memory of all blocks that have none yet.
@discardableResult
public func CMBlockBufferAssureBlockMemory(_ theBuffer: CMBlockBuffer) -> OSStatus {
  theBuffer.assureMemory()
}

// MARK: - Access

/// Finds the bytes of a range in one piece: where they lie, or copied into `temporaryBlock`
/// (of at least `length` bytes) if they lie in several.
@discardableResult
public func CMBlockBufferAccessDataBytes(
  _ theBuffer: CMBlockBuffer, atOffset offset: Int, length: Int, temporaryBlock: UnsafeMutableRawPointer,
  returnedPointerOut: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> OSStatus {
  returnedPointerOut.pointee = nil
  if length > 0, theBuffer.isContiguous(at: offset, length: length) {
    return CMBlockBufferGetDataPointer(
      theBuffer, atOffset: offset, lengthAtOffsetOut: nil, totalLengthOut: nil,
      dataPointerOut: returnedPointerOut)
  }
  let status = CMBlockBufferCopyDataBytes(
    theBuffer, atOffset: offset, dataLength: length, destination: temporaryBlock)
  if status == noErr {
    returnedPointerOut.pointee = temporaryBlock.assumingMemoryBound(to: CChar.self)
  }
  return status
}

/// Copies bytes out of a block buffer.
@discardableResult
public func CMBlockBufferCopyDataBytes(
  _ theSourceBuffer: CMBlockBuffer, atOffset offsetToData: Int, dataLength: Int,
  destination: UnsafeMutableRawPointer
) -> OSStatus {
  var target = destination
  return theSourceBuffer.forEachPiece(at: offsetToData, length: dataLength, allocating: false) {
    target.copyMemory(from: $0, byteCount: $1)
    target += $1
  }
}

/// Copies bytes into a block buffer, whose memory is allocated if need be.
@discardableResult
public func CMBlockBufferReplaceDataBytes(
  with sourceBytes: UnsafeRawPointer, blockBuffer destinationBuffer: CMBlockBuffer,
  offsetIntoDestination: Int, dataLength: Int
) -> OSStatus {
  var source = sourceBytes
  return destinationBuffer.forEachPiece(at: offsetIntoDestination, length: dataLength, allocating: true) {
    // The source may be the same memory.
    memmove($0, source, $1)
    source += $1
  }
}

/// Sets bytes of a block buffer, whose memory is allocated if need be.
@discardableResult
public func CMBlockBufferFillDataBytes(
  with fillByte: CChar, blockBuffer destinationBuffer: CMBlockBuffer, offsetIntoDestination: Int,
  dataLength: Int
) -> OSStatus {
  destinationBuffer.forEachPiece(at: offsetIntoDestination, length: dataLength, allocating: true) {
    memset($0, Int32(fillByte), $1)
  }
}

/// The memory at an offset: how many bytes lie there in one piece, and how many the buffer has in all.
@discardableResult
public func CMBlockBufferGetDataPointer(
  _ theBuffer: CMBlockBuffer, atOffset offset: Int, lengthAtOffsetOut: UnsafeMutablePointer<Int>?,
  totalLengthOut: UnsafeMutablePointer<Int>?,
  dataPointerOut: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> OSStatus {
  var lengthAtOffset = 0
  var totalLength = 0
  var pointer: UnsafeMutableRawPointer?
  let status = theBuffer.dataPointer(
    at: offset, lengthAtOffset: &lengthAtOffset, totalLength: &totalLength, pointer: &pointer)
  lengthAtOffsetOut?.pointee = lengthAtOffset
  totalLengthOut?.pointee = totalLength
  dataPointerOut?.pointee = pointer?.assumingMemoryBound(to: CChar.self)
  return status
}

/// The number of bytes in a block buffer.
@discardableResult
public func CMBlockBufferGetDataLength(_ theBuffer: CMBlockBuffer) -> Int { theBuffer.length }

/// Whether a range lies in one piece of memory; a length of zero means all from the offset on.
@discardableResult
public func CMBlockBufferIsRangeContiguous(_ theBuffer: CMBlockBuffer, atOffset offset: Int, length: Int)
  -> Bool
{
  theBuffer.isContiguous(at: offset, length: length)
}

/// Whether a block buffer has neither memory blocks nor references. A block without memory counts as one.
@discardableResult
public func CMBlockBufferIsEmpty(_ theBuffer: CMBlockBuffer) -> Bool { theBuffer.hasNoContents }
