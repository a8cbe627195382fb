// SPDX-License-Identifier: Apache-2.0

// The messages on the decoder's buffer of streams that are encoded independently and then joined.
// Two delays of the first access unit count from access units of the stream before (C.2.3, D.3.2),
// which the encoder does not know: au_cpb_removal_delay_minus1 from the last one with a buffering
// period message, au_cpb_removal_delay_delta_minus1 from the last one that no decoder leaves out.
// The encoder therefore adds an SEI message of filler, so that the program that joins the streams
// can set both without changing the size of the access unit. The filler is a NAL unit of its own,
// since no other message may be in that of a buffering period or picture timing message (D.3.1).

/// Sets the delays of the first access unit of a stream that follows another one.
package enum HEVCJoinedTiming {
  /// payloadType of filler_payload() (D.2.4).
  private static let fillerType = 3
  /// The bytes of filler that the encoder writes. Other delays may need more or fewer emulation
  /// prevention bytes, and the filler makes up for the difference.
  private static let defaultFiller = 8

  /// Writes a sei_rbsp() of filler, trailing bits included.
  package static func writeFiller(to bits: inout BitWriter) {
    SupplementalInformation.write(filler(defaultFiller), to: &bits)
  }

  private static func filler(_ count: Int) -> [SupplementalInformation.Message] {
    [.init(type: fillerType, payload: [UInt8](repeating: 0xFF, count: count))]
  }

  /// Sets the delays.
  /// - Parameters:
  ///   - units: the NAL units of the access unit, with their headers; their sizes change, their sum
  ///     does not.
  ///   - removalDelay: clock ticks since the removal of the last access unit with a buffering
  ///     period message.
  ///   - removalDelayDelta: clock ticks since the removal of the last access unit that is neither a
  ///     leading picture nor a sub-layer non-reference picture.
  ///   - hrd: the lengths of the fields.
  /// - Returns: false, and the units are unchanged, if a message or the filler is missing, or the
  ///   filler does not make up for the difference.
  package static func set(
    removalDelay: Int, removalDelayDelta: Int, in units: inout [[UInt8]],
    hrd: HEVCHypotheticalDecoder.Common
  ) -> Bool {
    var changed = units
    var filled: Int?
    var (hasPeriod, hasTiming) = (false, false)
    for (n, unit) in units.enumerated() {
      guard let header = HEVCNALUnitHeader(of: unit), header.type == .prefixSEI else { continue }
      let messages = SupplementalInformation.messages(nalUnit: unit, headerLength: 2)
      guard messages.count == 1, let message = messages.first else { continue }
      func rewritten(_ write: (inout BitWriter) -> Void) -> [UInt8] {
        EmulationPrevention.adding(header: header.bytes, payload: BitWriter.bytes(write))
      }
      switch message.type {
      case HEVCBufferingPeriod.payloadType:
        guard var period = HEVCBufferingPeriod(payload: message.payload, hrd: hrd) else { return false }
        period.removalDelayDelta = removalDelayDelta
        changed[n] = rewritten { period.write(to: &$0, hrd: hrd) }
        hasPeriod = true
      case HEVCPictureTiming.payloadType:
        guard var timing = HEVCPictureTiming(payload: message.payload, hrd: hrd) else { return false }
        timing.removalDelay = removalDelay
        changed[n] = rewritten { timing.write(to: &$0, hrd: hrd) }
        hasTiming = true
      case fillerType:
        filled = n
      default: break
      }
    }
    guard hasPeriod, hasTiming, let filled, let header = HEVCNALUnitHeader(of: units[filled]) else {
      return false
    }
    func size(_ units: [[UInt8]]) -> Int { units.reduce(0) { $0 + $1.count } }
    // Header, type, size and trailing bits are five bytes. Filler has no emulation prevention
    // bytes.
    let count = changed[filled].count - 5 + size(units) - size(changed)
    guard (0..<255).contains(count) else { return false }
    changed[filled] = EmulationPrevention.adding(
      header: header.bytes,
      payload: BitWriter.bytes { SupplementalInformation.write(filler(count), to: &$0) })
    units = changed
    return true
  }
}

extension HEVCBufferingPeriod {
  /// Reads the payload of a message as `write` writes it; nil if it is another one.
  package init?(payload: [UInt8], hrd: HEVCHypotheticalDecoder.Common) {
    guard
      let read: Self = payload.withUnsafeBufferPointer({ bytes in
        var reader = BitReader(bytes, hasEmulationPrevention: false)
        var read = HEVCBufferingPeriod()
        read.sequenceParameterSetID = reader.ue(max: 15)
        // irap_cpb_params_present_flag and concatenation_flag
        let flags = reader.u(2)
        read.removalDelayDelta = reader.u(hrd.removalDelayLength) + 1
        read.initialRemovalDelay = reader.u(hrd.initialRemovalDelayLength)
        read.initialRemovalOffset = reader.u(hrd.initialRemovalDelayLength)
        return reader.failure == nil && flags == 0 ? read : nil
      })
    else { return nil }
    self = read
  }
}

extension HEVCPictureTiming {
  /// Reads the payload of a message as `write` writes it; nil if it is too short.
  package init?(payload: [UInt8], hrd: HEVCHypotheticalDecoder.Common) {
    guard
      let read: Self = payload.withUnsafeBufferPointer({ bytes in
        var reader = BitReader(bytes, hasEmulationPrevention: false)
        var read = HEVCPictureTiming()
        read.removalDelay = reader.u(hrd.removalDelayLength) + 1
        read.outputDelay = reader.u(hrd.outputDelayLength)
        return reader.failure == nil ? read : nil
      })
    else { return nil }
    self = read
  }
}
