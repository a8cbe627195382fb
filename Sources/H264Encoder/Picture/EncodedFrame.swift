// SPDX-License-Identifier: Apache-2.0
/// A frame as an encoder gives it. It owns its bytes: they live as long as it does, or as whoever
/// takes the memory over.
public struct H264EncodedFrame: ~Copyable, Sendable {
  public let facts: H264FrameFacts
  /// In decoding order: parameter sets and SEI, if any, before the slices.
  public let nalUnits: [NALUnit]
  /// Bytes of all NAL units with their framing; 0 if the frame was dropped.
  public let byteCount: Int
  private var memory: FrameMemory?

  init(facts: H264FrameFacts, nalUnits: [NALUnit], byteCount: Int, memory: consuming FrameMemory?) {
    self.facts = facts
    self.nalUnits = nalUnits
    self.byteCount = byteCount
    self.memory = memory
  }

  /// Calls `body` with all NAL units, each behind a start code or its length, of four bytes
  /// (`H264EncoderConfiguration.framing`).
  public func withBytes<R: ~Copyable>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
    try withBytes(0..<byteCount, body)
  }

  /// Calls `body` with the bytes of one NAL unit of this frame, its header included, its framing not. Of another frame's unit
  /// there may be a part, or none.
  public func withBytes<R: ~Copyable>(of unit: NALUnit, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
    try withBytes(unit.range.clamped(to: 0..<byteCount), body)
  }

  private func withBytes<R: ~Copyable>(
    _ range: Range<Int>, _ body: (Span<UInt8>) throws -> R
  ) rethrows -> R {
    let address = address
    let bytes = UnsafeRawBufferPointer(
      start: address.map { $0 + range.lowerBound }, count: address == nil ? 0 : range.count)
    return try body(bytes.bindMemory(to: UInt8.self).span)
  }

  private var address: UnsafeRawPointer? {
    switch memory {
    case .some(let memory): UnsafeRawPointer(memory.address)
    case .none: nil
    }
  }

  /// A copy of all bytes.
  public var data: [UInt8] {
    withBytes { bytes in
      [UInt8](unsafeUninitializedCapacity: bytes.count) { memory, count in
        bytes.withUnsafeBufferPointer { _ = memory.initialize(from: $0) }
        count = bytes.count
      }
    }
  }

  /// A copy of the bytes of one NAL unit, its header included.
  public func data(of unit: NALUnit) -> [UInt8] {
    withBytes(of: unit) { bytes in bytes.withUnsafeBufferPointer { [UInt8]($0) } }
  }

  /// Takes the memory over, whose first `byteCount` bytes are the frame's; nil if it was dropped.
  public consuming func takeMemory() -> FrameMemory? { memory }
}
