// SPDX-License-Identifier: Apache-2.0
/// A copy of some bytes.
@discardableResult
public func CFDataCreate(_ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex)
  -> CFData!
{
  guard length >= 0, bytes != nil || length == 0 else { return nil }
  return NSData(bytes: bytes, length: length)
}

@discardableResult
public func CFDataCreateCopy(_ allocator: CFAllocator!, _ theData: CFData!) -> CFData! {
  theData.map { NSData(bytes: $0.bytes, length: $0.length) }
}

/// Empty data that can be changed. The capacity is a hint.
@discardableResult
public func CFDataCreateMutable(_ allocator: CFAllocator!, _ capacity: CFIndex) -> CFMutableData! {
  NSMutableData(capacity: max(capacity, 0))
}

@discardableResult
public func CFDataCreateMutableCopy(
  _ allocator: CFAllocator!, _ capacity: CFIndex, _ theData: CFData!
) -> CFMutableData! {
  theData.map { NSMutableData(bytes: $0.bytes, length: $0.length) }
}

@discardableResult
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { theData?.length ?? 0 }

/// The address of the bytes, valid as long as the data lives and is not changed.
@discardableResult
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
  theData.map { $0.bytes.assumingMemoryBound(to: UInt8.self) }
}

@discardableResult
public func CFDataGetMutableBytePtr(_ theData: CFMutableData!) -> UnsafeMutablePointer<UInt8>! {
  theData.map { $0.mutableBytes.assumingMemoryBound(to: UInt8.self) }
}

/// Copies a range of the bytes; nothing if it is not all there.
public func CFDataGetBytes(_ theData: CFData!, _ range: CFRange, _ buffer: UnsafeMutablePointer<UInt8>!) {
  guard let theData, let buffer, range.location >= 0, range.length > 0,
    range.length <= theData.length, range.location <= theData.length - range.length
  else { return }
  theData.getBytes(buffer, range: NSRange(location: range.location, length: range.length))
}

public func CFDataAppendBytes(_ theData: CFMutableData!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex) {
  guard let theData, let bytes, length > 0 else { return }
  theData.append(bytes, length: length)
}

/// Sets the length; new bytes are zero. Nothing happens for a length that is negative or beyond 2^40 bytes.
public func CFDataSetLength(_ theData: CFMutableData!, _ length: CFIndex) {
  guard let theData, 0...1 << 40 ~= length else { return }
  theData.length = length
}
