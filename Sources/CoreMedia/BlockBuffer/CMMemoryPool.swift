// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch

/// There is not enough memory.
public let kCMMemoryPoolError_AllocationFailed: OSStatus = -15490
/// A parameter is invalid.
public let kCMMemoryPoolError_InvalidParameter: OSStatus = -15491

/// The time in seconds for which unused memory is kept (number; 0.5 by default).
nonisolated(unsafe) public let kCMMemoryPoolOption_AgeOutPeriod: CFString = "AgeOutPeriod"

/// Keeps large blocks of memory for some time after their release, and reuses them for requests of
/// about the same size.
///
/// Its allocator can be used wherever an allocator is accepted, for example with
/// `CMBlockBufferCreateWithMemoryBlock`. Blocks that are in use remain valid after the pool has
/// been released.
public final class CMMemoryPool: NSObject, @unchecked Sendable {
  // Sendable: immutable; the store has its own lock.
  let store: MemoryPoolStore
  let allocator: CFAllocator

  init(ageOutPeriod: Double) {
    let store = MemoryPoolStore(ageOutPeriod: ageOutPeriod)
    self.store = store
    allocator = CFAllocator(
      name: "CMMemoryPool",
      source: CFAllocator.Source(
        allocate: { store.allocate($0) }, deallocate: { store.deallocate($0) },
        size: { MemoryPoolStore.capacity(of: $0) }))
  }

  deinit { store.stop() }
}

extension CMMemoryPool: CFRuntimeObject {
  package static let cfTypeID: CFTypeID = CFRuntimeRegister("CMMemoryPool")
}

/// The type identifier of memory pools.
@discardableResult
public func CMMemoryPoolGetTypeID() -> CFTypeID { CMMemoryPool.cfTypeID }

/// Creates a memory pool.
/// - Parameter options: A dictionary with `kCMMemoryPoolOption_AgeOutPeriod`; nil for the default.
@discardableResult
public func CMMemoryPoolCreate(options: CFDictionary?) -> CMMemoryPool {
  let period = (options?.object(forKey: kCMMemoryPoolOption_AgeOutPeriod) as? NSNumber)?.doubleValue ?? 0.5
  return CMMemoryPool(ageOutPeriod: period.isFinite && period >= 0 ? period : 0.5)
}

/// Returns the allocator of the pool.
@discardableResult
public func CMMemoryPoolGetAllocator(_ pool: CMMemoryPool) -> CFAllocator { pool.allocator }

/// Returns all unused memory of the pool to the system.
public func CMMemoryPoolFlush(_ pool: CMMemoryPool) { pool.store.flush() }

/// Stops reusing memory: unused memory, and memory that is released later, is returned to the
/// system at once.
public func CMMemoryPoolInvalidate(_ pool: CMMemoryPool) { pool.store.stop() }

/// The memory of a pool.
final class MemoryPoolStore: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private struct FreeBlock {
    let base: UnsafeMutableRawPointer
    let capacity: Int
    let since: UInt64
  }

  /// The size in bytes of the header before each block, which contains its capacity. It is also the
  /// alignment of blocks.
  private static let headerSize = 64

  private let period: UInt64
  private let lock = Lock()
  private var free: [FreeBlock] = []
  private var isStopped = false
  private var isCheckScheduled = false

  init(ageOutPeriod: Double) {
    period = UInt64(clamping: min(ageOutPeriod, 1e9) * 1e9)
  }

  deinit { Self.release(free) }

  static func capacity(of memory: UnsafeMutableRawPointer) -> Int {
    (memory - headerSize).load(as: Int.self)
  }

  func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
    // Sizes are rounded up in steps of 1/8 to 1/16 of the size, so that blocks for frames of about
    // the same size are interchangeable.
    let step = max(64, 1 << max(0, Int.bitWidth - size.leadingZeroBitCount - 4))
    guard size > 0, size <= Int.max - step - Self.headerSize else { return nil }
    let capacity = (size + step - 1) / step * step
    let found = lock.withLock { () -> UnsafeMutableRawPointer? in
      guard let index = free.lastIndex(where: { $0.capacity == capacity }) else { return nil }
      return free.remove(at: index).base
    }
    if let found { return found + Self.headerSize }
    var base: UnsafeMutableRawPointer?
    guard posix_memalign(&base, Self.headerSize, capacity + Self.headerSize) == 0, let base else {
      return nil
    }
    base.storeBytes(of: capacity, as: Int.self)
    return base + Self.headerSize
  }

  func deallocate(_ memory: UnsafeMutableRawPointer) {
    let base = memory - Self.headerSize
    let block = FreeBlock(
      base: base, capacity: base.load(as: Int.self), since: DispatchTime.now().uptimeNanoseconds)
    let (isKept, schedules) = lock.withLock { () -> (Bool, Bool) in
      if isStopped || period == 0 { return (false, false) }
      free.append(block)
      defer { isCheckScheduled = true }
      return (true, !isCheckScheduled)
    }
    if !isKept { Self.release([block]) }
    if schedules { scheduleCheck() }
  }

  func flush() {
    let blocks = lock.withLock {
      defer { free = [] }
      return free
    }
    Self.release(blocks)
  }

  func stop() {
    lock.withLock { isStopped = true }
    flush()
  }

  private func scheduleCheck() {
    let delay = DispatchTimeInterval.nanoseconds(Int(clamping: period))
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [weak self] in
      self?.releaseOld()
    }
  }

  private func releaseOld() {
    let now = DispatchTime.now().uptimeNanoseconds
    let (old, continues) = lock.withLock { () -> ([FreeBlock], Bool) in
      let old = free.filter { now - min($0.since, now) >= period }
      free.removeAll { now - min($0.since, now) >= period }
      isCheckScheduled = !free.isEmpty
      return (old, isCheckScheduled)
    }
    Self.release(old)
    if continues { scheduleCheck() }
  }

  private static func release(_ blocks: [FreeBlock]) {
    for block in blocks { Foundation.free(block.base) }
  }

  /// The number of bytes of unused memory, for tests.
  var waitingBytes: Int { lock.withLock { free.reduce(0) { $0 + $1.capacity } } }
}
