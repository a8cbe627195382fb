// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreFoundation
import CoreMedia

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

/// The allocator of a memory pool, as C uses it.
@c @implementation
public func CMMemoryPoolGetAllocator(_ pool: OpaquePointer?) -> OpaquePointer? {
  guard let pool = FromC.object(pool, CMMemoryPool.self) else { return nil }
  let kept: UnsafeRawPointer? = ToC.kept(by: pool, "allocator") { () -> AnyObject? in
    let source = Unmanaged.passRetained(CoreMedia.CMMemoryPoolGetAllocator(pool)).toOpaque()
    guard
      let made = OVTAllocatorCreate(
        source,
        { size, info in info.flatMap { swiftAllocator($0) }.flatMap { CFAllocatorAllocate($0, size, 0) } },
        { block, size, info in
          info.flatMap { swiftAllocator($0) }.flatMap { CFAllocatorReallocate($0, block, size, 0) }
        },
        { block, info in
          if let info { CFAllocatorDeallocate(swiftAllocator(info), block) }
        },
        { info in
          if let info { Unmanaged<CFAllocator>.fromOpaque(info).release() }
        })
    else {
      Unmanaged<CFAllocator>.fromOpaque(source).release()
      return nil
    }
    return Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(made)).takeRetainedValue()
  }
  return OpaquePointer(kept)
}

private func swiftAllocator(_ info: UnsafeRawPointer) -> CFAllocator {
  Unmanaged<CFAllocator>.fromOpaque(info).takeUnretainedValue()
}
