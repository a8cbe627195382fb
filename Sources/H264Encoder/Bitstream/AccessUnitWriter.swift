// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// A NAL unit of a coded frame.
public struct EncodedNALUnit: Sendable {
  /// nal_unit_type (Table 7-1).
  public let type: UInt8
  /// nal_ref_idc
  public let refIDC: UInt8
  /// The NAL unit's bytes in the frame's memory, with the NAL unit header and without start code or
  /// length.
  public let range: Range<Int>
}

/// Collects the NAL units of a frame while it is coded, in memory from a pool.
struct AccessUnitWriter: ~Copyable {
  /// The NAL units so far.
  private(set) var units: [EncodedNALUnit] = []
  /// The pool that the memory comes from.
  private let pool: FrameMemoryPool
  /// Whether NAL units are preceded by a start code or by their length.
  private let framing: NALUnitFraming
  /// The memory; nil before the first NAL unit of a frame, whose size says how much is needed.
  private var memory: FrameMemory?
  /// The bytes in use, with four bytes of framing for each NAL unit.
  private(set) var count = 0

  /// Makes an access unit without NAL units.
  ///
  /// - Parameters:
  ///   - pool: the pool that the memory comes from.
  ///   - framing: whether NAL units are preceded by a start code or by their length.
  init(pool: FrameMemoryPool, framing: NALUnitFraming) {
    self.pool = pool
    self.framing = framing
    units.reserveCapacity(64)
  }

  /// The size so far in bits, framing included.
  var bits: Int { count * 8 }

  /// Removes all NAL units; the memory is kept.
  mutating func removeAll() {
    units.removeAll(keepingCapacity: true)
    count = 0
  }

  /// Removes all but the first NAL units.
  ///
  /// - Parameters:
  ///   - units: the number of NAL units to keep.
  ///   - count: the number of bytes that these take.
  mutating func truncate(units: Int, count: Int) {
    self.units.removeLast(self.units.count - units)
    self.count = count
  }

  /// Gives up the memory with the frame's bytes. The next frame gets other memory.
  ///
  /// - Returns: the memory; nil if there is no NAL unit.
  mutating func takeMemory() -> FrameMemory? {
    guard let taken = memory.take() else { return nil }
    return pool.trim(taken, to: count)
  }

  /// Appends a slice.
  ///
  /// - Parameters:
  ///   - type: the slice's nal_unit_type.
  ///   - refIDC: nal_ref_idc.
  ///   - prefix: the content of a prefix NAL unit (Annex G) to precede the slice; nil for none.
  ///   - payload: the RBSP of the slice.
  ///   - count: its size in bytes.
  mutating func append(
    type: H264NALUnitType, refIDC: UInt8, prefix: H264ScalableHeader?, payload: UnsafePointer<UInt8>,
    count: Int
  ) {
    if let prefix {
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { scratch in
        guard let base = scratch.baseAddress else { return }
        var bits = BitWriter(base, capacity: 16)
        prefix.writePayload(refIDC: refIDC, to: &bits)
        append(
          type: .prefix, refIDC: refIDC, headerExtension: prefix.bytes, payload: base,
          count: bits.bitCount / 8)
      }
    }
    append(type: type, refIDC: refIDC, payload: payload, count: count)
  }

  /// Appends a NAL unit, after its start code or length of four bytes, with emulation prevention.
  ///
  /// - Parameters:
  ///   - type: nal_unit_type.
  ///   - refIDC: nal_ref_idc.
  ///   - headerExtension: the three bytes of the NAL unit header extension; nil for none.
  ///   - payload: the RBSP.
  ///   - payloadCount: its size in bytes.
  mutating func append(
    type: H264NALUnitType, refIDC: UInt8, headerExtension: (UInt8, UInt8, UInt8)? = nil,
    payload: UnsafePointer<UInt8>, count payloadCount: Int
  ) {
    let room = room(for: count + NALUnitWriter.worstCase(payload: payloadCount) + 4)
    var writer = NALUnitWriter(room.address + count, capacity: room.capacity - count)
    if let range = writer.append(
      type: type, refIDC: refIDC, headerExtension: headerExtension, payload: payload, count: payloadCount,
      framing: framing)
    {
      units.append(
        EncodedNALUnit(
          type: type.rawValue, refIDC: refIDC, range: count + range.lowerBound..<count + range.upperBound))
    }
    count += writer.count
  }

  /// Appends a NAL unit of headers (a parameter set, an access unit delimiter or SEI), of up to
  /// 1024 bytes.
  ///
  /// - Parameters:
  ///   - type: nal_unit_type.
  ///   - refIDC: nal_ref_idc.
  ///   - write: writes the RBSP.
  mutating func append(
    _ type: H264NALUnitType, refIDC: UInt8 = 0, _ write: (inout BitWriter) -> Void
  ) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { scratch in
      guard let base = scratch.baseAddress else { return }
      var bits = BitWriter(base, capacity: 1024)
      write(&bits)
      append(type: type, refIDC: refIDC, payload: base, count: bits.bitCount / 8)
    }
  }

  /// Appends a filler data NAL unit (7.3.2.7).
  ///
  /// - Parameter payloadCount: the size of its RBSP in bytes; 1 at least.
  mutating func appendFiller(bytes payloadCount: Int) {
    let payload = max(payloadCount, 1)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: payload) { filler in
      guard let base = filler.baseAddress else { return }
      base.update(repeating: 0xFF, count: payload)
      base[payload - 1] = 0x80
      append(type: .fillerData, refIDC: 0, payload: base, count: payload)
    }
  }

  /// Makes room for a frame of `need` bytes.
  ///
  /// - Parameter need: the least size of the memory in bytes.
  /// - Returns: the memory and its size in bytes.
  private mutating func room(for need: Int) -> (address: UnsafeMutablePointer<UInt8>, capacity: Int) {
    var current: FrameMemory
    if let taken = memory.take() {
      current = taken.capacity < need ? pool.grow(taken, to: need) : taken
    } else {
      current = pool.take(need)
    }
    let room = (current.address.assumingMemoryBound(to: UInt8.self), current.capacity)
    memory = consume current
    return room
  }
}
