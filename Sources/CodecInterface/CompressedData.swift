// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The bytes of one coded frame, and the memory that holds them. For H.264 and HEVC they are NAL
/// units, each after its length in four bytes, big-endian; for other codecs they are what a movie
/// file stores as one sample.
///
/// The memory has one owner at a time: a block buffer takes it over without a copy (``release()``).
public struct CompressedData: ~Copyable, @unchecked Sendable {
  // Sendable: owns its memory alone.
  /// Takes memory back. It is called once, on any thread, with the context that came with the
  /// memory, its address, and its size in bytes.
  public typealias GiveBack =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> Void

  /// Memory that no longer has an owner. The receiver has to call `giveBack` with `context`,
  /// `memory` and `capacity`.
  public struct Released {
    /// The address of the memory.
    public let memory: UnsafeMutableRawPointer
    /// The number of bytes of the frame.
    public let count: Int
    /// The size of the memory in bytes.
    public let capacity: Int
    /// The first argument of `giveBack`.
    public let context: UnsafeMutableRawPointer?
    /// Takes the memory back.
    public let giveBack: GiveBack
  }

  /// The number of bytes of the frame.
  public private(set) var count: Int
  /// The address of the memory.
  private var memory: UnsafeMutableRawPointer
  /// The size of the memory in bytes.
  private var capacity: Int
  /// The first argument of `giveBack`.
  private var context: UnsafeMutableRawPointer?
  /// Takes the memory back.
  private var giveBack: GiveBack

  /// Allocates memory for `capacity` bytes. The frame is empty until bytes are appended.
  public init(capacity: Int) {
    (memory, self.capacity) = Self.allocate(capacity)
    count = 0
    context = nil
    giveBack = Self.freeMemory
  }

  /// Takes over memory that holds a frame.
  /// - Parameters:
  ///   - memory: the address of the memory.
  ///   - count: the number of bytes of the frame.
  ///   - capacity: the size of the memory in bytes.
  ///   - context: the first argument of `giveBack`.
  ///   - giveBack: takes the memory back.
  public init(
    adopting memory: UnsafeMutableRawPointer, count: Int, capacity: Int, context: UnsafeMutableRawPointer?,
    giveBack: @escaping GiveBack
  ) {
    self.memory = memory
    self.count = count
    self.capacity = capacity
    self.context = context
    self.giveBack = giveBack
  }

  deinit { giveBack(context, memory, capacity) }

  /// Calls `body` with the bytes of the frame, which are valid until it returns.
  public func withBytes<R: ~Copyable>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: memory, count: count).bindMemory(to: UInt8.self).span)
  }

  /// Appends bytes to the frame.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    grow(to: count + bytes.count)
    (memory + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// The most bytes of filler in a NAL unit: its length fits into four bytes, and no decoder needs
  /// more.
  private static let maxFill = 1 << 26

  /// Appends a NAL unit of filler data: `header`, `fill` bytes 0xFF, and the trailing bits. Nothing
  /// is appended if `fill` is negative; 64 MiB is the most.
  public mutating func appendFiller(header: [UInt8], fill: Int) {
    guard fill >= 0 else { return }
    let fill = min(fill, Self.maxFill)
    var length = UInt32(header.count + fill + 1).bigEndian
    grow(to: count + 4 + header.count + fill + 1)
    Swift.withUnsafeBytes(of: &length) { append($0) }
    header.withUnsafeBytes { append($0) }
    memset(memory + count, 0xFF, fill)
    memory.storeBytes(of: 0x80, toByteOffset: count + fill, as: UInt8.self)
    count += fill + 1
  }

  /// Gives up the ownership of the memory.
  public consuming func release() -> Released {
    let released = Released(
      memory: memory, count: count, capacity: capacity, context: context, giveBack: giveBack)
    discard self
    return released
  }

  /// Moves the frame to larger memory if it does not hold `needed` bytes.
  private mutating func grow(to needed: Int) {
    guard needed > capacity else { return }
    let (larger, size) = Self.allocate(max(needed, capacity * 2))
    larger.copyMemory(from: memory, byteCount: count)
    giveBack(context, memory, capacity)
    (memory, capacity, context, giveBack) = (larger, size, nil, Self.freeMemory)
  }

  /// Frees memory that `allocate` returned.
  private static let freeMemory: GiveBack = { _, memory, _ in free(memory) }

  /// Allocates memory of at least 16 bytes, and returns its address and size.
  private static func allocate(_ capacity: Int) -> (UnsafeMutableRawPointer, Int) {
    let size = max(capacity, 16)
    guard let memory = malloc(size) else { fatalError("out of memory: \(size) bytes") }
    return (memory, size)
  }
}
