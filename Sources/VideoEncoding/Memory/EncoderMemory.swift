// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Owns the memory of an encoder: planes, tables and scratch, which are allocated when the encoder
/// is made, and freed with it.
///
/// Pointers to the memory, and structures of such pointers, are copied freely and must not outlive
/// the owner.
package struct EncoderMemory: ~Copyable {
  /// The blocks as calloc returned them.
  private var blocks: [UnsafeMutableRawPointer] = []

  /// Makes an owner of no memory.
  package init() {}

  deinit { for block in blocks { free(block) } }

  /// Allocates memory whose bits are all zero. Kernels may read up to 64 bytes beyond its end. The
  /// process ends if the system has no memory.
  ///
  /// - Parameters:
  ///   - type: the type of the values.
  ///   - count: the number of values.
  ///   - alignment: the alignment in bytes, a power of two.
  /// - Returns: the address of the first value.
  package mutating func allocate<T: BitwiseCopyable>(
    _ type: T.Type, count: Int, alignment: Int = 64
  ) -> UnsafeMutablePointer<T> {
    let alignment = max(alignment, MemoryLayout<T>.alignment)
    let bytes = max(count, 1) * MemoryLayout<T>.stride + 64
    // For large blocks calloc maps pages of zeros, which take no memory before they are written.
    guard let block = calloc(1, bytes + alignment) else { fatalError("out of memory: \(bytes) bytes") }
    blocks.append(block)
    let raw = block.alignedUp(toMultipleOf: alignment)
    return raw.bindMemory(to: T.self, capacity: max(count, 1))
  }

  /// Allocates memory for one value.
  ///
  /// - Parameter value: the initial value.
  /// - Returns: its address.
  package mutating func allocate<T: BitwiseCopyable>(_ value: T) -> UnsafeMutablePointer<T> {
    let pointer = allocate(T.self, count: 1)
    pointer.initialize(to: value)
    return pointer
  }
}
