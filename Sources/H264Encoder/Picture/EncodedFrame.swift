// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// An encoded frame. It owns its bytes, which are valid as long as the frame or the memory taken
/// from it exists.
public struct H264EncodedFrame: ~Copyable, Sendable {
  /// The properties of the frame: its size, type, QP and so on.
  public let properties: H264FrameProperties
  /// The NAL units in decoding order: parameter sets and SEI, if any, before the slices.
  public let nalUnits: [EncodedNALUnit]
  /// The bytes of all NAL units with their framing; 0 if the frame was dropped.
  public let byteCount: Int
  /// The memory of the bytes; nil if the frame was dropped.
  private var memory: FrameMemory?

  /// Creates a frame from the bytes and NAL units of an access unit.
  init(
    properties: H264FrameProperties, nalUnits: [EncodedNALUnit], byteCount: Int,
    memory: consuming FrameMemory?
  ) {
    self.properties = properties
    self.nalUnits = nalUnits
    self.byteCount = byteCount
    self.memory = memory
  }

  /// Calls `body` with all NAL units, each after four bytes that are a start code or its length
  /// (`H264EncoderConfiguration.framing`).
  public func withBytes<R: ~Copyable>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
    try withBytes(0..<byteCount, body)
  }

  /// Calls `body` with the bytes of one NAL unit of this frame, with its header but without its
  /// framing. For a NAL unit of another frame the bytes are meaningless, or there are none.
  public func withBytes<R: ~Copyable>(of unit: EncodedNALUnit, _ body: (Span<UInt8>) throws -> R) rethrows
    -> R
  {
    try withBytes(unit.range.clamped(to: 0..<byteCount), body)
  }

  /// Calls `body` with a range of the bytes.
  private func withBytes<R: ~Copyable>(
    _ range: Range<Int>, _ body: (Span<UInt8>) throws -> R
  ) rethrows -> R {
    let address = address
    let bytes = UnsafeRawBufferPointer(
      start: address.map { $0 + range.lowerBound }, count: address == nil ? 0 : range.count)
    return try body(bytes.bindMemory(to: UInt8.self).span)
  }

  /// The first byte; nil if the frame was dropped.
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

  /// A copy of the bytes of one NAL unit, with its header but without its framing.
  public func data(of unit: EncodedNALUnit) -> [UInt8] {
    withBytes(of: unit) { bytes in bytes.withUnsafeBufferPointer { [UInt8]($0) } }
  }

  /// Takes the memory over. Its first `byteCount` bytes are those of the frame.
  /// - Returns: nil if the frame was dropped.
  public consuming func takeMemory() -> FrameMemory? { memory }
}
