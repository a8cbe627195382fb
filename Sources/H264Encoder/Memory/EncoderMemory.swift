// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory of an encoder: planes, tables and scratch, which are made with it, never grow, and go with it.
///
/// What lives here is handed around as plain pointers, and structures of pointers, which are free to copy; they
/// must not outlive the owner. Nothing is freed by hand.
struct EncoderMemory: ~Copyable {
  private var blocks: [UnsafeMutableRawPointer] = []

  init() {}

  deinit { for block in blocks { free(block) } }

  /// Memory for `count` values, all bits zero, with 64 bytes to spare that kernels may read.
  mutating func allocate<T: BitwiseCopyable>(
    _ type: T.Type, count: Int, alignment: Int = 64
  ) -> UnsafeMutablePointer<T> {
    let alignment = max(alignment, MemoryLayout<T>.alignment)
    let bytes = max(count, 1) * MemoryLayout<T>.stride + 64
    // The system gives large blocks as pages of zeros that are not there before they are touched.
    guard let block = calloc(1, bytes + alignment) else { fatalError("out of memory: \(bytes) bytes") }
    blocks.append(block)
    let raw = block.alignedUp(toMultipleOf: alignment)
    return raw.bindMemory(to: T.self, capacity: max(count, 1))
  }

  /// Memory that holds `value`.
  mutating func allocate<T: BitwiseCopyable>(_ value: T) -> UnsafeMutablePointer<T> {
    let pointer = allocate(T.self, count: 1)
    pointer.initialize(to: value)
    return pointer
  }
}
