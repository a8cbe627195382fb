// SPDX-License-Identifier: Apache-2.0
/// buffering_period() of HEVC (D.2.2), for NAL HRD parameters with one delivery schedule and
/// without sub-picture parameters.
package struct HEVCBufferingPeriod: Equatable, Sendable {
  package static let payloadType = 0

  /// bp_seq_parameter_set_id
  package var sequenceParameterSetID = 0
  /// au_cpb_removal_delay_delta_minus1 + 1: the clock ticks since the removal of the last access
  /// unit that is neither of a higher temporal layer nor a leading picture nor a sub-layer
  /// non-reference picture.
  package var removalDelayDelta = 1
  /// nal_initial_cpb_removal_delay, in ticks of 90 kHz: the time from the arrival of the first bit
  /// of the access unit to its removal.
  package var initialRemovalDelay = 1
  /// nal_initial_cpb_removal_offset, in ticks of 90 kHz.
  package var initialRemovalOffset = 0

  package init() {}

  /// Writes a sei_rbsp() with this message alone, trailing bits included.
  /// - Parameters:
  ///   - bits: receives it.
  ///   - hrd: the lengths of the fields.
  package func write(to bits: inout BitWriter, hrd: HEVCHypotheticalDecoder.Common) {
    // ue(v), two flags and three times 32 bits at most, then payload alignment.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { scratch in
      guard let base = scratch.baseAddress else { return }
      var payload = BitWriter(base, capacity: 24)
      payload.ue(sequenceParameterSetID)
      // irap_cpb_params_present_flag and concatenation_flag
      payload.put(0, 2)
      payload.put(
        lowBits(removalDelayDelta - 1, hrd.removalDelayLength), hrd.removalDelayLength)
      payload.put(UInt32(truncatingIfNeeded: initialRemovalDelay), hrd.initialRemovalDelayLength)
      payload.put(UInt32(truncatingIfNeeded: initialRemovalOffset), hrd.initialRemovalDelayLength)
      SupplementalInformation.write(type: Self.payloadType, &payload, to: &bits)
    }
  }
}

/// pic_timing() of HEVC (D.2.3), without frame field information and sub-picture parameters.
package struct HEVCPictureTiming: Equatable, Sendable {
  package static let payloadType = 1

  /// au_cpb_removal_delay_minus1 + 1: the clock ticks since the removal of the last access unit
  /// before this one that has a buffering period message. It is written modulo 2 to the power of
  /// its length, 1 in the first access unit of a stream.
  package var removalDelay = 1
  /// pic_dpb_output_delay, in clock ticks from the removal of the access unit to the output of its
  /// picture.
  package var outputDelay = 0

  package init() {}

  /// Writes a sei_rbsp() with this message alone, trailing bits included.
  /// - Parameters:
  ///   - bits: receives it.
  ///   - hrd: the lengths of the fields.
  package func write(to bits: inout BitWriter, hrd: HEVCHypotheticalDecoder.Common) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { scratch in
      guard let base = scratch.baseAddress else { return }
      var payload = BitWriter(base, capacity: 16)
      payload.put(
        lowBits(removalDelay - 1, hrd.removalDelayLength), hrd.removalDelayLength)
      payload.put(lowBits(outputDelay, hrd.outputDelayLength), hrd.outputDelayLength)
      SupplementalInformation.write(type: Self.payloadType, &payload, to: &bits)
    }
  }
}

/// The lowest `length` bits of a value.
private func lowBits(_ value: Int, _ length: Int) -> UInt32 {
  UInt32(truncatingIfNeeded: value & ((1 << length) - 1))
}
