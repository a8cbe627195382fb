// SPDX-License-Identifier: Apache-2.0
// The memory functions of C with pointers that may be nil.
//
// Darwin's headers say nothing of null, so that programs written there pass `CVPixelBufferGetBaseAddress(...)` and
// `buffer.baseAddress` as they are; Glibc's headers rule null out. These take what Glibc's do not, and step back
// where Glibc's fit. Nothing is read or written through nil.

@_disfavoredOverload @discardableResult
public func memcpy(
  _ destination: UnsafeMutableRawPointer?, _ source: UnsafeRawPointer?, _ count: Int
) -> UnsafeMutableRawPointer! {
  guard let destination, let source, count > 0 else { return destination }
  return memcpy(destination, source, count) as UnsafeMutableRawPointer
}

@_disfavoredOverload @discardableResult
public func memmove(
  _ destination: UnsafeMutableRawPointer?, _ source: UnsafeRawPointer?, _ count: Int
) -> UnsafeMutableRawPointer! {
  guard let destination, let source, count > 0 else { return destination }
  return memmove(destination, source, count) as UnsafeMutableRawPointer
}

@_disfavoredOverload @discardableResult
public func memset(
  _ destination: UnsafeMutableRawPointer?, _ value: Int32, _ count: Int
) -> UnsafeMutableRawPointer! {
  guard let destination, count > 0 else { return destination }
  return memset(destination, value, count) as UnsafeMutableRawPointer
}

/// Two blocks of no bytes are equal; nil comes before every block that has some.
@_disfavoredOverload
public func memcmp(_ a: UnsafeRawPointer?, _ b: UnsafeRawPointer?, _ count: Int) -> Int32 {
  guard count > 0 else { return 0 }
  guard let a, let b else { return (a == nil ? 0 : 1) - (b == nil ? 0 : 1) }
  return memcmp(a, b, count) as Int32
}

@_disfavoredOverload
public func memchr(_ block: UnsafeRawPointer?, _ value: Int32, _ count: Int) -> UnsafeMutableRawPointer? {
  guard let block, count > 0 else { return nil }
  return memchr(block, value, count) as UnsafeMutableRawPointer?
}

@_disfavoredOverload
public func bzero(_ destination: UnsafeMutableRawPointer?, _ count: Int) {
  guard let destination, count > 0 else { return }
  _ = memset(destination, 0, count) as UnsafeMutableRawPointer
}
