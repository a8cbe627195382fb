import VideoBitstream

/// A NAL unit of an encoded frame, in memory that the encoder owns.
public struct NALUnit: Sendable {
  /// nal_unit_type (Table 7-1).
  public let type: UInt8
  /// nal_ref_idc
  public let refIDC: UInt8
  /// Where it lies in `EncodedFrame.bytes`, the NAL unit header included, without start code or length.
  public let range: Range<Int>
}

/// The NAL units of one frame while it is coded. Memory grows only when a frame needs more than any before.
struct AccessUnit {
  private(set) var units: [NALUnit] = []
  private(set) var memory: UnsafeMutablePointer<UInt8>
  private(set) var capacity: Int
  /// Bytes in use, framing (four bytes for each unit) included.
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    memory = allocateAligned(UInt8.self, count: capacity)
    units.reserveCapacity(64)
  }

  func deallocate() { memory.deallocate() }

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

  /// Appends a NAL unit behind a start code of four bytes.
  mutating func append(
    type: H264NALUnitType, refIDC: UInt8, headerExtension: (UInt8, UInt8, UInt8)? = nil,
    payload: UnsafePointer<UInt8>, count payloadCount: Int
  ) {
    let need = count + NALUnitWriter.worstCase(payload: payloadCount) + 4
    if need > capacity {
      let larger = allocateAligned(UInt8.self, count: need * 2)
      larger.update(from: memory, count: count)
      memory.deallocate()
      memory = larger
      capacity = need * 2
    }
    var writer = NALUnitWriter(memory + count, capacity: capacity - count)
    if let range = writer.append(
      type: type, refIDC: refIDC, headerExtension: headerExtension, payload: payload, count: payloadCount,
      framing: .startCode)
    {
      units.append(
        NALUnit(
          type: type.rawValue, refIDC: refIDC, range: count + range.lowerBound..<count + range.upperBound))
    }
    count += writer.count
  }
}
