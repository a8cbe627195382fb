// SPDX-License-Identifier: Apache-2.0
/// A way to obtain memory.
///
/// Swift counts the references to objects, so an allocator only says how a *block of bytes* that is
/// handed over is freed: with `free` (`kCFAllocatorMalloc`, `kCFAllocatorDefault`,
/// `kCFAllocatorSystemDefault`) or not at all (`kCFAllocatorNull`).
public final class CFAllocator: Sendable, Hashable {
  /// A source of memory other than `malloc`, for example a memory pool.
  package struct Source: Sendable {
    package var allocate: @Sendable (_ size: Int) -> UnsafeMutableRawPointer?
    package var deallocate: @Sendable (UnsafeMutableRawPointer) -> Void
    /// Returns the size in bytes of the block at a pointer.
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

/// The default allocator, which is `nil`, as on Apple's systems.
public let kCFAllocatorDefault: CFAllocator! = nil

/// The system's allocator, which uses `malloc`.
public let kCFAllocatorSystemDefault: CFAllocator! = CFAllocator(name: "SystemDefault")

/// An allocator that uses `malloc`, `realloc` and `free`.
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator(name: "Malloc")

/// An allocator that allocates nothing and frees nothing, for memory that has another owner.
public let kCFAllocatorNull: CFAllocator! = CFAllocator(name: "Null", isNull: true)

/// Returns the allocator that functions use when they are given `nil`.
@discardableResult
public func CFAllocatorGetDefault() -> Unmanaged<CFAllocator>! {
  Unmanaged.passUnretained(kCFAllocatorSystemDefault)
}

/// Allocates a block of bytes.
/// - Parameters:
///   - allocator: The allocator, or nil for the default.
///   - size: The size of the block in bytes.
///   - hint: Ignored.
/// - Returns: The block. It is nil if there is not enough memory, if the size is not positive, or
///   for `kCFAllocatorNull`.
@discardableResult
public func CFAllocatorAllocate(_ allocator: CFAllocator!, _ size: CFIndex, _ hint: CFOptionFlags)
  -> UnsafeMutableRawPointer!
{
  guard size > 0, allocator?.isNull != true else { return nil }
  if let source = allocator?.source { return source.allocate(size) }
  return malloc(size)
}

/// Changes the size of a block, and moves the block if necessary.
/// - Parameters:
///   - allocator: The allocator that returned the block.
///   - ptr: The block. With nil, the function allocates a new block.
///   - newsize: The new size in bytes. With 0, the function frees the block and returns nil.
///   - hint: Ignored.
/// - Returns: The block at its new address. If it is nil for a size above 0, the old block is
///   unchanged.
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
