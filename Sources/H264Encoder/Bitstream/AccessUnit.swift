// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// A NAL unit of an encoded frame.
public struct NALUnit: Sendable {
  /// nal_unit_type (Table 7-1).
  public let type: UInt8
  /// nal_ref_idc
  public let refIDC: UInt8
  /// Where it lies among the frame's bytes, the NAL unit header included, without start code or length.
  public let range: Range<Int>
}

/// The NAL units of one frame while it is coded, in memory of the pool.
struct AccessUnit: ~Copyable {
  private(set) var units: [NALUnit] = []
  private let pool: FrameMemoryPool
  private let framing: NALUnitFraming
  /// There is none before the first NAL unit: only then is it known how much it takes.
  private var memory: FrameMemory?
  /// Bytes in use, framing (four bytes for each unit) included.
  private(set) var count = 0

  init(pool: FrameMemoryPool, framing: NALUnitFraming) {
    self.pool = pool
    self.framing = framing
    units.reserveCapacity(64)
  }

  var bits: Int { count * 8 }

  mutating func removeAll() {
    units.removeAll(keepingCapacity: true)
    count = 0
  }

  /// Takes back all but the first `units` NAL units, which take up `count` bytes.
  mutating func truncate(units: Int, count: Int) {
    self.units.removeLast(self.units.count - units)
    self.count = count
  }

  /// The memory with the bytes in use. The next frame gets another.
  mutating func takeMemory() -> FrameMemory? {
    guard let taken = memory.take() else { return nil }
    return pool.trim(taken, to: count)
  }

  /// Appends a slice, behind a prefix NAL unit if there is one.
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

  /// Appends a NAL unit behind its start code or length, of four bytes.
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
        NALUnit(
          type: type.rawValue, refIDC: refIDC, range: count + range.lowerBound..<count + range.upperBound))
    }
    count += writer.count
  }

  /// Appends a NAL unit of headers: a parameter set, a delimiter, SEI. It has some tens of bytes.
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

  /// Appends filler data (7.3.2.7) whose payload is `bytes` long, behind start code or length and a header byte.
  mutating func appendFiller(bytes payloadCount: Int) {
    let payload = max(payloadCount, 1)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: payload) { filler in
      guard let base = filler.baseAddress else { return }
      base.update(repeating: 0xFF, count: payload)
      base[payload - 1] = 0x80
      append(type: .fillerData, refIDC: 0, payload: base, count: payload)
    }
  }

  /// Sees to it that the frame may have `need` bytes.
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
