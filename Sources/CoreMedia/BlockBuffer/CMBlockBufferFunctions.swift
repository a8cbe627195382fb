// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// MARK: - Create

/// Creates a block buffer without content, for appending.
@discardableResult
public func CMBlockBufferCreateEmpty(
  allocator structureAllocator: CFAllocator?, capacity subBlockCapacity: UInt32, flags: CMBlockBufferFlags,
  blockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  blockBufferOut.pointee = CMBlockBuffer(subBlockCapacity: Int(subBlockCapacity))
  return kCMBlockBufferNoErr
}

/// Creates a block buffer with a memory block.
///
/// - Parameters:
///   - structureAllocator: Not used.
///   - memoryBlock: The memory; nil to allocate `blockLength` bytes when they are needed.
///   - blockLength: The size of the memory in bytes.
///   - blockAllocator: Frees the memory, and allocates it if it is nil. `kCFAllocatorNull` does not
///     free it.
///   - customBlockSource: Functions that are used in place of `blockAllocator`.
///   - offsetToData: The offset of the first byte that is used.
///   - dataLength: The number of bytes that are used.
///   - flags: `kCMBlockBuffer*Flag`.
///   - blockBufferOut: Receives the block buffer.
/// - Returns: An error for an invalid offset, length or block source, or if there is not enough
///   memory. The caller then still owns the memory.
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

/// Creates a block buffer that refers to a range of another; a length of zero means all bytes from
/// the offset on.
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

/// Creates a block buffer whose bytes are contiguous in memory. If those of the source are, the
/// result refers to them, unless `flags` requires a copy. A length of zero means all bytes from the
/// offset on.
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
  /// Returns a block buffer with the contiguous bytes of a range: a reference to the same memory if
  /// it is contiguous already and `flags` does not require a copy, otherwise memory from `source`.
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
  // If the memory exists, nothing can fail from here on, so that the caller does not own it any
  // more.
  return theBuffer.append(
    memory: memoryBlock, blockLength: blockLength, source: source, offset: offsetToData,
    dataLength: dataLength,
    flags: flags)
}

/// Appends a reference to a range of another block buffer; a length of zero means all bytes from
/// the offset on.
@discardableResult
public func CMBlockBufferAppendBufferReference(
  _ theBuffer: CMBlockBuffer, targetBBuf: CMBlockBuffer, offsetToData: Int, dataLength: Int,
  flags: CMBlockBufferFlags
) -> OSStatus {
  theBuffer.append(reference: targetBBuf, offset: offsetToData, dataLength: dataLength, flags: flags)
}

/// Allocates the memory of all blocks whose memory has not been allocated yet.
@discardableResult
public func CMBlockBufferAssureBlockMemory(_ theBuffer: CMBlockBuffer) -> OSStatus {
  theBuffer.assureMemory()
}

// MARK: - Access

/// Gets a pointer to the contiguous bytes of a range. They are copied to `temporaryBlock`, of at
/// least `length` bytes, if they are not contiguous in the block buffer.
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

/// Copies bytes from a block buffer.
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

/// Copies bytes to a block buffer, whose memory is allocated if necessary.
@discardableResult
public func CMBlockBufferReplaceDataBytes(
  with sourceBytes: UnsafeRawPointer, blockBuffer destinationBuffer: CMBlockBuffer,
  offsetIntoDestination: Int, dataLength: Int
) -> OSStatus {
  var source = sourceBytes
  return destinationBuffer.forEachPiece(at: offsetIntoDestination, length: dataLength, allocating: true) {
    // The source may overlap the destination.
    memmove($0, source, $1)
    source += $1
  }
}

/// Sets bytes of a block buffer to a value; its memory is allocated if necessary.
@discardableResult
public func CMBlockBufferFillDataBytes(
  with fillByte: CChar, blockBuffer destinationBuffer: CMBlockBuffer, offsetIntoDestination: Int,
  dataLength: Int
) -> OSStatus {
  destinationBuffer.forEachPiece(at: offsetIntoDestination, length: dataLength, allocating: true) {
    memset($0, Int32(fillByte), $1)
  }
}

/// Gets a pointer to the memory at an offset, the number of contiguous bytes there, and the number
/// of bytes of the block buffer.
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

/// Returns the number of bytes of a block buffer.
@discardableResult
public func CMBlockBufferGetDataLength(_ theBuffer: CMBlockBuffer) -> Int { theBuffer.length }

/// Returns whether a range is contiguous in memory; a length of zero means all bytes from the
/// offset on.
@discardableResult
public func CMBlockBufferIsRangeContiguous(_ theBuffer: CMBlockBuffer, atOffset offset: Int, length: Int)
  -> Bool
{
  theBuffer.isContiguous(at: offset, length: length)
}

/// Returns whether a block buffer has neither memory blocks nor references. Memory blocks without
/// allocated memory count.
@discardableResult
public func CMBlockBufferIsEmpty(_ theBuffer: CMBlockBuffer) -> Bool { theBuffer.hasNoContents }
