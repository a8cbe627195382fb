// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// One piece of memory behind one or more block buffers: allocated when first needed, freed when the
/// last block buffer that refers to it is gone.
final class MemoryBlock: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Where the memory comes from and how it is given back.
  enum Source {
    case allocator(CFAllocator?)
    case custom(CMBlockBufferCustomBlockSource)
    case closures(
      allocate: CMBlockBuffer.CustomBlockAllocator?, deallocate: CMBlockBuffer.CustomBlockDeallocator)

    func giveBack(_ memory: UnsafeMutableRawPointer, length: Int) {
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
  /// Held while the memory is allocated, once: the client's function that does it may look at the buffer.
  private let allocation = Lock()
  private var memory: UnsafeMutableRawPointer?

  init(memory: UnsafeMutableRawPointer?, length: Int, source: Source) {
    self.memory = memory
    self.length = length
    self.source = source
  }

  /// The memory, or nil as long as it is not allocated.
  var pointer: UnsafeMutableRawPointer? { lock.withLock { memory } }

  /// Allocates the memory unless that was done before.
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
    if let memory { source.giveBack(memory, length: length) }
  }
}
