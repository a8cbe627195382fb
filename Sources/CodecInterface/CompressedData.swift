// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The bytes of one coded frame, and the memory that they are in. For H.264 and HEVC they are NAL units, each after
/// its length in four bytes, big-endian; for other codecs what a movie file holds as one sample.
///
/// There is one owner at a time: a block buffer takes the memory over without a copy (``release()``).
public struct CompressedData: ~Copyable, @unchecked Sendable {
  // Sendable: owns its memory alone.
  /// Takes memory back: the context that came with it, its address, and its size in bytes. Called once, from any
  /// thread.
  public typealias GiveBack =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer, Int) -> Void

  /// Memory that has left its owner: whoever has it calls `giveBack` with `context`, `memory` and `capacity`.
  public struct Released {
    public let memory: UnsafeMutableRawPointer
    /// Bytes that count, and bytes in all.
    public let count: Int
    public let capacity: Int
    public let context: UnsafeMutableRawPointer?
    public let giveBack: GiveBack
  }

  public private(set) var count: Int
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private var context: UnsafeMutableRawPointer?
  private var giveBack: GiveBack

  /// Memory for `capacity` bytes; none of them counts until it is appended.
  public init(capacity: Int) {
    (memory, self.capacity) = Self.allocate(capacity)
    count = 0
    context = nil
    giveBack = Self.freeMemory
  }

  /// Takes over memory whose first `count` bytes count.
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

  /// The bytes, within `body`.
  public func withBytes<R: ~Copyable>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: memory, count: count).bindMemory(to: UInt8.self).span)
  }

  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    grow(to: count + bytes.count)
    (memory + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Bytes of filler in a NAL unit: within four bytes of length, and more than any decoder needs.
  private static let mostFill = 1 << 26

  /// Appends a NAL unit of `header`, then `fill` times 0xFF, then the trailing bits: filler data. Nothing for
  /// less than no filler, and no more than 64 MiB of it.
  public mutating func appendFiller(header: [UInt8], fill: Int) {
    guard fill >= 0 else { return }
    let fill = min(fill, Self.mostFill)
    var length = UInt32(header.count + fill + 1).bigEndian
    grow(to: count + 4 + header.count + fill + 1)
    Swift.withUnsafeBytes(of: &length) { append($0) }
    header.withUnsafeBytes { append($0) }
    memset(memory + count, 0xFF, fill)
    memory.storeBytes(of: 0x80, toByteOffset: count + fill, as: UInt8.self)
    count += fill + 1
  }

  /// Hands the memory over.
  public consuming func release() -> Released {
    let released = Released(
      memory: memory, count: count, capacity: capacity, context: context, giveBack: giveBack)
    discard self
    return released
  }

  private mutating func grow(to needed: Int) {
    guard needed > capacity else { return }
    let (larger, size) = Self.allocate(max(needed, capacity * 2))
    larger.copyMemory(from: memory, byteCount: count)
    giveBack(context, memory, capacity)
    (memory, capacity, context, giveBack) = (larger, size, nil, Self.freeMemory)
  }

  private static let freeMemory: GiveBack = { _, memory, _ in free(memory) }

  private static func allocate(_ capacity: Int) -> (UnsafeMutableRawPointer, Int) {
    let size = max(capacity, 16)
    guard let memory = malloc(size) else { fatalError("out of memory: \(size) bytes") }
    return (memory, size)
  }
}
