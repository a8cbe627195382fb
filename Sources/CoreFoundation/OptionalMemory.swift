// SPDX-License-Identifier: Apache-2.0
// The memory functions of C with optional pointers.
//
// Darwin's headers do not annotate these pointers for null, so that programs for macOS pass the
// optional results of `CVPixelBufferGetBaseAddress(...)` and `buffer.baseAddress` directly. Glibc's
// headers require pointers that are not null. The overloads here accept nil, and are only chosen
// where Glibc's functions do not match. They read and write nothing through nil.

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

/// Compares two blocks of bytes. Two empty blocks are equal, and nil orders before every block that
/// is not empty.
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
