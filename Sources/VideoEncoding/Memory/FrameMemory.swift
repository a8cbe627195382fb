// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory of one coded frame. It has one owner; when that is destroyed, the memory returns to
/// its pool.
public struct FrameMemory: ~Copyable, @unchecked Sendable {
  // Sendable: owns its memory alone; the pool has its own mutex.
  /// The address of the memory.
  public let address: UnsafeMutableRawPointer
  /// The size in bytes.
  public let capacity: Int
  /// The pool, which the memory keeps alive.
  private let pool: Unmanaged<FrameMemoryPool>

  fileprivate init(address: UnsafeMutableRawPointer, capacity: Int, pool: FrameMemoryPool) {
    self.address = address
    self.capacity = capacity
    self.pool = Unmanaged.passRetained(pool)
  }

  deinit { Self.giveBack(address, capacity: capacity, pool: pool) }

  /// Gives up ownership, for an owner that Swift does not manage. That owner must pass all three
  /// values to `giveBack` once.
  ///
  /// - Returns: the address, the size in bytes, and the pool.
  public consuming func release() -> (
    address: UnsafeMutableRawPointer, capacity: Int, pool: Unmanaged<FrameMemoryPool>
  ) {
    let result = (address, capacity, pool)
    discard self
    return result
  }

  /// Returns memory to its pool that `release` has given away. May be called from any thread.
  ///
  /// - Parameters:
  ///   - address: the address of the memory.
  ///   - capacity: the size in bytes.
  ///   - pool: the pool.
  public static func giveBack(
    _ address: UnsafeMutableRawPointer, capacity: Int, pool: Unmanaged<FrameMemoryPool>
  ) {
    pool.takeUnretainedValue().recycle(address, capacity: capacity)
    pool.release()
  }

  /// Resizes the memory and keeps its contents. Shrinking does not move it, as a rule.
  ///
  /// - Parameter capacity: the new size in bytes.
  fileprivate consuming func resized(_ capacity: Int) -> FrameMemory {
    let (old, _, pool) = release()
    guard let moved = realloc(old, capacity) else { fatalError("out of memory: \(capacity) bytes") }
    return FrameMemory(address: moved, capacity: capacity, takenOver: pool)
  }

  private init(address: UnsafeMutableRawPointer, capacity: Int, takenOver pool: Unmanaged<FrameMemoryPool>) {
    self.address = address
    self.capacity = capacity
    self.pool = pool
  }
}

/// A pool of memory for coded frames, so that a caller that soon destroys frames causes no
/// allocation.
///
/// While few frames exist, each gets a block that is large enough for nearly any frame and is used
/// again. A caller that keeps many frames gets blocks of the frames' sizes.
public final class FrameMemoryPool: Sendable {
  /// Memory that is in no frame.
  private struct Block: @unchecked Sendable {
    // Sendable: lives behind the mutex of its pool.
    var address: UnsafeMutableRawPointer
    /// The size in bytes.
    var capacity: Int
  }

  /// The state that the pool's mutex guards.
  private struct State {
    /// Unused blocks of at least `roomy` bytes each.
    var free: [Block] = []
    /// The number of blocks that frames have.
    var out = 0
    /// The size in bytes of a block that is used again; it grows with the frames.
    var roomy: Int
  }

  /// The mutable state of the pool.
  private let state: Mutex<State>
  /// The number of frames up to which each gets a block of `State.roomy` bytes, and the largest
  /// number of unused blocks.
  private let limit: Int

  /// Makes an empty pool.
  ///
  /// - Parameters:
  ///   - capacity: the size in bytes that most frames do not exceed.
  ///   - extra: the number of frames that are being coded at the same time, less 1.
  package init(capacity: Int, extra: Int = 0) {
    limit = 8 + extra
    var state = State(roomy: capacity)
    state.free.reserveCapacity(limit)
    self.state = Mutex(state)
  }

  deinit { state.withLock { for block in $0.free { free(block.address) } } }

  /// Returns memory for a frame.
  ///
  /// - Parameter capacity: the least size in bytes.
  package func take(_ capacity: Int) -> FrameMemory {
    let (block, size) = state.withLock { state -> (Block?, Int) in
      state.out += 1
      guard state.out <= limit else { return (nil, capacity) }
      if capacity > state.roomy { state.roomy = capacity * 2 }
      while let block = state.free.popLast() {
        if block.capacity >= state.roomy { return (block, block.capacity) }
        free(block.address)
      }
      return (nil, state.roomy)
    }
    if let block { return FrameMemory(address: block.address, capacity: block.capacity, pool: self) }
    guard let made = malloc(size) else { fatalError("out of memory: \(size) bytes") }
    return FrameMemory(address: made, capacity: size, pool: self)
  }

  /// Enlarges a frame's memory and keeps its contents.
  ///
  /// - Parameters:
  ///   - memory: the memory.
  ///   - capacity: the least size in bytes.
  /// - Returns: the enlarged memory.
  package func grow(_ memory: consuming FrameMemory, to capacity: Int) -> FrameMemory {
    let isRoomy = state.withLock { state in
      let isRoomy = memory.capacity >= state.roomy
      if isRoomy { state.roomy = max(state.roomy, capacity * 2) }
      return isRoomy
    }
    return memory.resized(isRoomy ? capacity * 2 : capacity)
  }

  /// Shrinks a frame's memory to what the frame needs, unless the block is one to be used again or
  /// the saving is small.
  ///
  /// - Parameters:
  ///   - memory: the memory.
  ///   - count: the size of the frame in bytes.
  /// - Returns: the memory, with the frame's bytes.
  package func trim(_ memory: consuming FrameMemory, to count: Int) -> FrameMemory {
    let isRoomy = state.withLock { memory.capacity >= $0.roomy }
    if isRoomy || memory.capacity - count < max(count / 8, 64) { return memory }
    return memory.resized(max(count, 16))
  }

  /// Takes memory back: keeps it for another frame or frees it.
  ///
  /// - Parameters:
  ///   - address: the address of the memory.
  ///   - capacity: the size in bytes.
  fileprivate func recycle(_ address: UnsafeMutableRawPointer, capacity: Int) {
    let block = Block(address: address, capacity: capacity)
    let isKept = state.withLock { state in
      state.out -= 1
      guard block.capacity >= state.roomy, state.free.count < limit else { return false }
      state.free.append(block)
      return true
    }
    if !isKept { free(address) }
  }
}
