#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The bytes of one coded frame: NAL units, each after its length in four bytes, big-endian.
///
/// The memory comes from `malloc`, so that a block buffer can take it over without a copy: ``release()`` hands it out.
public final class EncodedData: @unchecked Sendable {
  public private(set) var count: Int
  private var memory: UnsafeMutableRawPointer?
  private var capacity: Int

  /// Memory for `capacity` bytes; none of them counts until it is appended.
  public init(capacity: Int) {
    self.capacity = 0
    count = 0
    grow(to: max(capacity, 16))
  }

  deinit { free(memory) }

  /// The bytes, valid within `body`.
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: memory, count: count))
  }

  public func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    grow(to: count + bytes.count)
    memory?.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends one NAL unit (without start code) after its length.
  public func appendNALUnit(_ unit: UnsafeRawBufferPointer) {
    var length = UInt32(unit.count).bigEndian
    grow(to: count + 4 + unit.count)
    Swift.withUnsafeBytes(of: &length) { append($0) }
    append(unit)
  }

  /// Appends a NAL unit of `header`, then `fill` times 0xFF, then the trailing bits: filler data.
  public func appendFiller(header: [UInt8], fill: Int) {
    var length = UInt32(header.count + fill + 1).bigEndian
    grow(to: count + 4 + header.count + fill + 1)
    Swift.withUnsafeBytes(of: &length) { append($0) }
    header.withUnsafeBytes { append($0) }
    guard let memory else { return }
    memset(memory.advanced(by: count), 0xFF, fill)
    memory.storeBytes(of: 0x80, toByteOffset: count + fill, as: UInt8.self)
    count += fill + 1
  }

  /// Hands the memory over: the receiver frees it with `free`. Nothing remains here.
  public func release() -> (memory: UnsafeMutableRawPointer, count: Int)? {
    guard let taken = memory else { return nil }
    let result = (taken, count)
    memory = nil
    count = 0
    capacity = 0
    return result
  }

  /// Calls `body` with each NAL unit, without its length. Stops at a length that does not fit.
  public func forEachNALUnit(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try withUnsafeBytes { bytes in
      var offset = 0
      while offset + 4 <= bytes.count {
        let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        guard length > 0, offset + 4 + length <= bytes.count else { return }
        try body(UnsafeRawBufferPointer(rebasing: bytes[(offset + 4)..<(offset + 4 + length)]))
        offset += 4 + length
      }
    }
  }

  private func grow(to needed: Int) {
    guard needed > capacity else { return }
    let larger = max(needed, capacity * 2)
    guard let moved = realloc(memory, larger) else { fatalError("out of memory: \(larger) bytes") }
    memory = moved
    capacity = larger
  }
}
