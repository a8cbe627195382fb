// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A piece of memory that one or more block buffers use. It is allocated when it is needed, and
/// freed after the last block buffer that refers to it has been released.
final class MemoryBlock: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The way in which memory is allocated and freed.
  enum Source {
    case allocator(CFAllocator?)
    case custom(CMBlockBufferCustomBlockSource)
    case closures(
      allocate: CMBlockBuffer.CustomBlockAllocator?, deallocate: CMBlockBuffer.CustomBlockDeallocator)

    func free(_ memory: UnsafeMutableRawPointer, length: Int) {
      switch self {
      case .allocator(let allocator): CFAllocatorDeallocate(allocator, memory)
      case .custom(let custom): custom.FreeBlock?(custom.refCon, memory, length)
      case .closures(_, let deallocate): deallocate(memory, length)
      }
    }
  }

  let length: Int
  private let source: Source
  private let lock = Lock()
  /// Held while the memory is allocated, which happens once. It is a separate lock, since the
  /// client's function for allocation may access the block buffer.
  private let allocation = Lock()
  private var memory: UnsafeMutableRawPointer?

  init(memory: UnsafeMutableRawPointer?, length: Int, source: Source) {
    self.memory = memory
    self.length = length
    self.source = source
  }

  /// The memory; nil if it has not been allocated yet.
  var pointer: UnsafeMutableRawPointer? { lock.withLock { memory } }

  /// Allocates the memory if it has not been allocated yet.
  func assureMemory() -> OSStatus {
    if pointer != nil { return noErr }
    return allocation.withLock {
      if pointer != nil { return noErr }
      let made: UnsafeMutableRawPointer?
      switch source {
      case .allocator(let allocator):
        made = CFAllocatorAllocate(allocator, length, 0)
      case .custom(let custom):
        guard let allocate = custom.AllocateBlock else { return kCMBlockBufferBadCustomBlockSourceErr }
        made = allocate(custom.refCon, length)
      case .closures(let allocate, _):
        guard let allocate else { return kCMBlockBufferBadCustomBlockSourceErr }
        made = allocate(length)
      }
      guard let made else { return kCMBlockBufferBlockAllocationFailedErr }
      lock.withLock { memory = made }
      return noErr
    }
  }

  deinit {
    if let memory { source.free(memory, length: length) }
  }
}
