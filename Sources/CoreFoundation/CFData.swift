// SPDX-License-Identifier: Apache-2.0
/// Creates data with a copy of some bytes. It returns nil for a negative length, or for nil bytes
/// with a length above 0.
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

/// Creates empty data that can be changed. The capacity in bytes is a hint.
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

/// Returns the address of the bytes, which is valid as long as the data exists and is not changed.
@discardableResult
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
  theData.map { $0.bytes.assumingMemoryBound(to: UInt8.self) }
}

@discardableResult
public func CFDataGetMutableBytePtr(_ theData: CFMutableData!) -> UnsafeMutablePointer<UInt8>! {
  theData.map { $0.mutableBytes.assumingMemoryBound(to: UInt8.self) }
}

/// Copies a range of the bytes to a buffer. It does nothing if the range is empty or not entirely
/// within the data.
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

/// Sets the length in bytes. Added bytes are zero. It does nothing for a length that is negative or
/// above 2^40.
public func CFDataSetLength(_ theData: CFMutableData!, _ length: CFIndex) {
  guard let theData, 0...1 << 40 ~= length else { return }
  theData.length = length
}
