// SPDX-License-Identifier: Apache-2.0
/// Names a way to obtain memory.
///
/// Objects here are reference counted by Swift, so an allocator says only how a *block of bytes*
/// that is handed over is to be freed: with `free` (`kCFAllocatorMalloc`, `kCFAllocatorDefault`,
/// `kCFAllocatorSystemDefault`) or not at all (`kCFAllocatorNull`).
public final class CFAllocator: Sendable, Hashable {
  /// Another source of memory than `malloc`, that of a memory pool.
  package struct Source: Sendable {
    package var allocate: @Sendable (_ size: Int) -> UnsafeMutableRawPointer?
    package var deallocate: @Sendable (UnsafeMutableRawPointer) -> Void
    /// How many bytes there are at a pointer.
    package var size: @Sendable (UnsafeMutableRawPointer) -> Int

    package init(
      allocate: @escaping @Sendable (_ size: Int) -> UnsafeMutableRawPointer?,
      deallocate: @escaping @Sendable (UnsafeMutableRawPointer) -> Void,
      size: @escaping @Sendable (UnsafeMutableRawPointer) -> Int
    ) {
      self.allocate = allocate
      self.deallocate = deallocate
      self.size = size
    }
  }

  package let isNull: Bool
  private let name: String
  let source: Source?

  package init(name: String, isNull: Bool = false, source: Source? = nil) {
    self.name = name
    self.isNull = isNull
    self.source = source
  }

  public static func == (a: CFAllocator, b: CFAllocator) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The default allocator: as everywhere, `nil` stands for it.
public let kCFAllocatorDefault: CFAllocator! = nil

/// The system's allocator, `malloc`.
public let kCFAllocatorSystemDefault: CFAllocator! = CFAllocator(name: "SystemDefault")

/// `malloc`, `realloc` and `free`.
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator(name: "Malloc")

/// Allocates nothing and frees nothing: for memory that somebody else owns.
public let kCFAllocatorNull: CFAllocator! = CFAllocator(name: "Null", isNull: true)

/// The allocator that is used where `nil` is given.
@discardableResult
public func CFAllocatorGetDefault() -> Unmanaged<CFAllocator>! {
  Unmanaged.passUnretained(kCFAllocatorSystemDefault)
}

/// A block of `size` bytes, or nil if there is none to be had or the size is not positive.
@discardableResult
public func CFAllocatorAllocate(_ allocator: CFAllocator!, _ size: CFIndex, _ hint: CFOptionFlags)
  -> UnsafeMutableRawPointer!
{
  guard size > 0, allocator?.isNull != true else { return nil }
  if let source = allocator?.source { return source.allocate(size) }
  return malloc(size)
}

/// The block at `ptr` grown or shrunk to `newsize` bytes.
///
/// Without a block it allocates one; with a size of zero it frees it and returns nil.
@discardableResult
public func CFAllocatorReallocate(
  _ allocator: CFAllocator!, _ ptr: UnsafeMutableRawPointer!, _ newsize: CFIndex, _ hint: CFOptionFlags
) -> UnsafeMutableRawPointer! {
  guard allocator?.isNull != true, newsize >= 0 else { return nil }
  guard let ptr else { return CFAllocatorAllocate(allocator, newsize, hint) }
  guard newsize > 0 else {
    CFAllocatorDeallocate(allocator, ptr)
    return nil
  }
  if let source = allocator?.source {
    guard let moved = source.allocate(newsize) else { return nil }
    moved.copyMemory(from: ptr, byteCount: min(newsize, source.size(ptr)))
    source.deallocate(ptr)
    return moved
  }
  return realloc(ptr, newsize)
}

/// Frees a block that the same allocator returned.
public func CFAllocatorDeallocate(_ allocator: CFAllocator!, _ ptr: UnsafeMutableRawPointer!) {
  guard allocator?.isNull != true, let ptr else { return }
  if let source = allocator?.source { return source.deallocate(ptr) }
  free(ptr)
}
