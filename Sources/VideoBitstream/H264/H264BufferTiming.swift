// SPDX-License-Identifier: Apache-2.0
/// buffering_period() of H.264 (D.1.2), for NAL HRD parameters with one delivery schedule.
package struct H264BufferingPeriod: Equatable, Sendable {
  package static let payloadType = 0

  /// seq_parameter_set_id
  package var sequenceParameterSetID = 0
  /// initial_cpb_removal_delay, in ticks of 90 kHz: the time from the arrival of the first bit of
  /// the access unit to its removal.
  package var initialRemovalDelay = 1
  /// initial_cpb_removal_delay_offset, in ticks of 90 kHz.
  package var initialRemovalDelayOffset = 0

  package init() {}

  /// Writes a sei_rbsp() with this message alone, trailing bits included.
  package func write(to bits: inout BitWriter, hrd: H264HypotheticalDecoder) {
    // ue(v) and twice 32 bits at most, then payload alignment.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { scratch in
      guard let base = scratch.baseAddress else { return }
      var payload = BitWriter(base, capacity: 16)
      payload.ue(sequenceParameterSetID)
      payload.put(UInt32(truncatingIfNeeded: initialRemovalDelay), hrd.initialRemovalDelayLength)
      payload.put(UInt32(truncatingIfNeeded: initialRemovalDelayOffset), hrd.initialRemovalDelayLength)
      SupplementalInformation.write(type: Self.payloadType, &payload, to: &bits)
    }
  }
}

/// pic_timing() of H.264 (D.1.3), without pic_struct.
package struct H264PictureTiming: Equatable, Sendable {
  package static let payloadType = 1

  /// cpb_removal_delay, in clock ticks since the removal of the last access unit before this one
  /// that has a buffering period message. It is written modulo 2 to the power of its length.
  package var removalDelay = 0
  /// dpb_output_delay, in clock ticks from the removal of the access unit to the output of its
  /// picture.
  package var outputDelay = 0

  package init() {}

  /// Writes a sei_rbsp() with this message alone, trailing bits included.
  package func write(to bits: inout BitWriter, hrd: H264HypotheticalDecoder) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { scratch in
      guard let base = scratch.baseAddress else { return }
      var payload = BitWriter(base, capacity: 16)
      payload.put(Self.remainder(removalDelay, hrd.removalDelayLength), hrd.removalDelayLength)
      payload.put(Self.remainder(outputDelay, hrd.outputDelayLength), hrd.outputDelayLength)
      SupplementalInformation.write(type: Self.payloadType, &payload, to: &bits)
    }
  }

  /// Returns the lowest `length` bits of a value.
  static func remainder(_ value: Int, _ length: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: value & ((1 << length) - 1))
  }
}
