// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// A NAL unit of a coded frame.
public struct HEVCEncodedNALUnit: Sendable {
  /// nal_unit_type (Table 7-1).
  public let type: UInt8
  /// TemporalId
  public let temporalLayer: Int
  /// The NAL unit's bytes in the frame's memory, with the NAL unit header and without start code or
  /// length.
  public let range: Range<Int>
}

/// Collects the NAL units of a frame while it is coded, in memory from a pool.
struct AccessUnitWriter: ~Copyable {
  /// The NAL units so far.
  private(set) var units: [HEVCEncodedNALUnit] = []
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

  /// Appends a NAL unit, after its start code or length of four bytes, with emulation prevention.
  ///
  /// - Parameters:
  ///   - header: its header.
  ///   - payload: the RBSP.
  ///   - payloadCount: its size in bytes.
  mutating func append(
    _ header: HEVCNALUnitHeader, payload: UnsafePointer<UInt8>, count payloadCount: Int
  ) {
    let room = room(for: count + NALUnitWriter.worstCase(payload: payloadCount) + 4)
    var writer = NALUnitWriter(room.address + count, capacity: room.capacity - count)
    if let range = writer.append(header, payload: payload, count: payloadCount, framing: framing) {
      units.append(
        HEVCEncodedNALUnit(
          type: header.type.rawValue, temporalLayer: Int(header.temporalID),
          range: count + range.lowerBound..<count + range.upperBound))
    }
    count += writer.count
  }

  /// Appends a NAL unit of headers (a parameter set, an access unit delimiter), of up to 1024
  /// bytes.
  ///
  /// - Parameters:
  ///   - type: nal_unit_type.
  ///   - temporalID: TemporalId.
  ///   - write: writes the RBSP.
  mutating func append(
    _ type: HEVCNALUnitType, temporalID: UInt8 = 0, _ write: (inout BitWriter) -> Void
  ) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { scratch in
      guard let base = scratch.baseAddress else { return }
      var bits = BitWriter(base, capacity: 1024)
      write(&bits)
      append(
        HEVCNALUnitHeader(type: type, temporalID: temporalID), payload: base, count: bits.bitCount / 8)
    }
  }

  /// Appends the access unit delimiter, the parameter sets and the SEI messages of a picture, as
  /// configured.
  ///
  /// - Parameters:
  ///   - plan: the plan of the picture, with its slice header.
  ///   - configuration: says what is written.
  ///   - sets: the parameter sets.
  ///   - timing: the messages on the decoder's buffer; nil: none are written.
  mutating func appendLeadingUnits(
    _ plan: PicturePlan, _ configuration: HEVCEncoderConfiguration, _ sets: HEVCParameterSets,
    timing: BufferTiming.Messages? = nil
  ) {
    if configuration.writesAccessUnitDelimiters {
      append(.accessUnitDelimiter, temporalID: UInt8(plan.temporalLayer)) {
        // pic_type: 0 for I slices, 1 for P and I slices, 2 for all (table 7-2).
        $0.put(plan.header.kind == .i ? 0 : plan.header.kind == .p ? 1 : 2, 3)
        $0.trailingBits()
        $0.flush()
      }
    }
    guard plan.isKeyFrame else {
      append(timing, plan)
      return
    }
    if configuration.writesParameterSets {
      append(.videoParameterSet) { sets.vps.write(to: &$0) }
      append(.sequenceParameterSet) { sets.sps.write(to: &$0) }
      append(.pictureParameterSet) { sets.pps.write(to: &$0) }
    }
    append(timing, plan)
    var messages: [SupplementalInformation.Message] = []
    if let payload = configuration.masteringDisplay { messages.append(.init(type: 137, payload: payload)) }
    if let payload = configuration.contentLightLevel { messages.append(.init(type: 144, payload: payload)) }
    if !messages.isEmpty {
      append(.prefixSEI) { SupplementalInformation.write(messages, to: &$0) }
    }
  }

  /// Appends the messages on the decoder's buffer. Each is alone in its NAL unit.
  private mutating func append(_ messages: BufferTiming.Messages?, _ plan: PicturePlan) {
    guard let messages else { return }
    let layer = UInt8(plan.temporalLayer)
    if let period = messages.period {
      append(.prefixSEI, temporalID: layer) { period.write(to: &$0, hrd: messages.hrd) }
    }
    append(.prefixSEI, temporalID: layer) { messages.timing.write(to: &$0, hrd: messages.hrd) }
    if messages.isJoinable {
      append(.prefixSEI, temporalID: layer) { HEVCJoinedTiming.writeFiller(to: &$0) }
    }
  }

  /// Appends a filler data NAL unit (7.3.2.8).
  ///
  /// - Parameters:
  ///   - bytes: its size with framing and header, 8 at least.
  ///   - temporalID: TemporalId of the access unit.
  mutating func appendFiller(bytes: Int, temporalID: UInt8) {
    let payload = max(bytes - 6, 2)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: payload) { filler in
      guard let base = filler.baseAddress else { return }
      base.update(repeating: 0xFF, count: payload)
      base[payload - 1] = 0x80
      append(HEVCNALUnitHeader(type: .fillerData, temporalID: temporalID), payload: base, count: payload)
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
