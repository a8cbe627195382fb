// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory of one coded frame. Whoever holds it owns it: it goes back to its pool when the holder is gone.
public struct FrameMemory: ~Copyable, @unchecked Sendable {
  // Sendable: owns its memory alone; the pool has its own mutex.
  public let address: UnsafeMutableRawPointer
  /// Bytes.
  public let capacity: Int
  private let pool: Unmanaged<FrameMemoryPool>

  fileprivate init(address: UnsafeMutableRawPointer, capacity: Int, pool: FrameMemoryPool) {
    self.address = address
    self.capacity = capacity
    self.pool = Unmanaged.passRetained(pool)
  }

  deinit { Self.giveBack(address, capacity: capacity, pool: pool) }

  /// Hands the memory over to an owner that Swift does not look after: it must call `giveBack` with all three, once.
  public consuming func release() -> (
    address: UnsafeMutableRawPointer, capacity: Int, pool: Unmanaged<FrameMemoryPool>
  ) {
    let result = (address, capacity, pool)
    discard self
    return result
  }

  /// Takes back what `release` handed over. May be called from any thread.
  public static func giveBack(
    _ address: UnsafeMutableRawPointer, capacity: Int, pool: Unmanaged<FrameMemoryPool>
  ) {
    pool.takeUnretainedValue().recycle(address, capacity: capacity)
    pool.release()
  }

  /// The same bytes in memory for `capacity` bytes. Making it smaller does not move them, as a rule.
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

/// Memory for coded frames, used again and again: a caller that lets go of frames soon costs no allocation.
///
/// While few frames are out, each gets a roomy block; a caller that keeps many gets blocks of their size.
public final class FrameMemoryPool: Sendable {
  /// Memory that nobody else has.
  private struct Block: @unchecked Sendable {
    // Sendable: lives behind the mutex of its pool.
    var address: UnsafeMutableRawPointer
    var capacity: Int
  }

  private struct State {
    /// Blocks of `roomy` bytes at least.
    var free: [Block] = []
    /// Blocks that are out.
    var out = 0
    /// The size of a roomy block: it grows with the frames.
    var roomy: Int
  }

  private let state: Mutex<State>
  /// Roomy blocks, those that are out included.
  private let limit: Int

  /// - Parameters:
  ///   - capacity: bytes that a frame usually fits.
  ///   - extra: frames that are out because they are being coded, beyond one.
  init(capacity: Int, extra: Int = 0) {
    limit = 8 + extra
    var state = State(roomy: capacity)
    state.free.reserveCapacity(limit)
    self.state = Mutex(state)
  }

  deinit { state.withLock { for block in $0.free { free(block.address) } } }

  /// Memory for at least `capacity` bytes.
  func take(_ capacity: Int) -> FrameMemory {
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

  /// The same bytes, with room for `capacity`.
  func grow(_ memory: consuming FrameMemory, to capacity: Int) -> FrameMemory {
    let isRoomy = state.withLock { state in
      let isRoomy = memory.capacity >= state.roomy
      if isRoomy { state.roomy = max(state.roomy, capacity * 2) }
      return isRoomy
    }
    return memory.resized(isRoomy ? capacity * 2 : capacity)
  }

  /// Gives up what a frame of `count` bytes does not use, unless the block is one to be used again.
  func trim(_ memory: consuming FrameMemory, to count: Int) -> FrameMemory {
    let isRoomy = state.withLock { memory.capacity >= $0.roomy }
    if isRoomy || memory.capacity - count < max(count / 8, 64) { return memory }
    return memory.resized(max(count, 16))
  }

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
