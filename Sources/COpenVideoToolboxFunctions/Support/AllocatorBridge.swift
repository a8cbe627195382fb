// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreFoundation

/// Allocators of C, which are objects of Core Foundation's own, and those of the package's modules.
enum AllocatorBridge {
  /// The module's allocator for one of C's.
  static func allocator(_ pointer: OpaquePointer?) -> CFAllocator? {
    guard let pointer else { return nil }
    if pointer == OVTAllocatorNull() { return CoreFoundation.kCFAllocatorNull }
    if pointer == OVTAllocatorOfSystem() { return CoreFoundation.kCFAllocatorSystemDefault }
    if pointer == OVTAllocatorMalloc() { return CoreFoundation.kCFAllocatorMalloc }
    // A program's own, which the blocks that came from it keep.
    let kept = KeptAllocator(pointer)
    return CFAllocator(
      name: "C",
      source: CFAllocator.Source(
        allocate: { OVTAllocatorAllocate(kept.pointer, $0) },
        deallocate: { OVTAllocatorDeallocate(kept.pointer, $0) },
        size: { _ in 0 }))
  }

  /// An allocator of C that the closures of one of the module's retain.
  private final class KeptAllocator: @unchecked Sendable {
    // Sendable: immutable; allocators may be used from any thread.
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
      self.pointer = pointer
      OVTRealRetain(UnsafeRawPointer(pointer))
    }

    deinit { OVTRealRelease(UnsafeRawPointer(pointer)) }
  }
}
