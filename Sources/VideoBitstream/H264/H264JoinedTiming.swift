// SPDX-License-Identifier: Apache-2.0

// Picture timing SEI messages of streams that are encoded independently and then joined.
// cpb_removal_delay of the first access unit counts from the last buffering period of the previous
// stream (C.1.2), which the encoder does not know. The encoder therefore appends filler_payload()
// to the message, so that the program that joins the streams can set the delay without changing the
// size of the NAL unit.

extension H264PictureTiming {
  /// payloadType of filler_payload() (D.1.5).
  private static let fillerType = 3
  /// The bytes of filler that the encoder writes. Another delay may need more or fewer emulation
  /// prevention bytes, and the filler makes up for the difference.
  private static let defaultFillerByteCount = 6

  /// Returns the SEI messages of an access unit at the start of a stream: its picture timing, and
  /// filler.
  /// - Parameters:
  ///   - timing: the picture timing; the removal delay may be set later (`replacingRemovalDelay`).
  ///   - hrd: the HRD parameters, which give the lengths of the fields.
  package static func messagesWithReplaceableDelay(_ timing: Self, hrd: H264HypotheticalDecoder)
    -> [SupplementalInformation
    .Message]
  {
    timing.messages(hrd: hrd, filler: defaultFillerByteCount)
  }

  /// Returns the picture timing message and a filler message of `filler` bytes.
  private func messages(hrd: H264HypotheticalDecoder, filler: Int) -> [SupplementalInformation.Message] {
    let payload = BitWriter.bytes { bits in
      bits.put(Self.remainder(removalDelay, hrd.removalDelayLength), hrd.removalDelayLength)
      bits.put(Self.remainder(outputDelay, hrd.outputDelayLength), hrd.outputDelayLength)
      if !bits.isByteAligned { bits.trailingBits() }
    }
    return [
      .init(type: Self.payloadType, payload: payload),
      .init(type: Self.fillerType, payload: [UInt8](repeating: 0xFF, count: filler)),
    ]
  }

  /// Reads the picture timing message of an SEI NAL unit; nil if there is none.
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header.
  ///   - hrd: the HRD parameters, which give the lengths of the fields.
  package init?(nalUnit: some Collection<UInt8>, hrd: H264HypotheticalDecoder) {
    let messages = SupplementalInformation.messages(nalUnit: nalUnit, headerLength: 1)
    guard let message = messages.first(where: { $0.type == Self.payloadType }),
      message.payload.count * 8 >= hrd.removalDelayLength + hrd.outputDelayLength
    else { return nil }
    var position = 0
    func take(_ count: Int) -> Int {
      var value = 0
      for _ in 0..<count {
        value = value << 1 | Int(message.payload[position >> 3] >> UInt8(7 - position & 7) & 1)
        position += 1
      }
      return value
    }
    removalDelay = take(hrd.removalDelayLength)
    outputDelay = take(hrd.outputDelayLength)
  }

  /// Returns a copy of an SEI NAL unit that has the messages of `joinable`, with another removal
  /// delay and the same size; nil if the NAL unit has other messages.
  /// - Parameters:
  ///   - removalDelay: the new cpb_removal_delay, in clock ticks.
  ///   - nalUnit: the NAL unit with its header.
  ///   - hrd: the HRD parameters, which give the lengths of the fields.
  package static func replacingRemovalDelay(
    _ removalDelay: Int, in nalUnit: some Collection<UInt8>, hrd: H264HypotheticalDecoder
  ) -> [UInt8]? {
    guard let header = nalUnit.first, H264NALUnitHeader(byte: header)?.type == .sei,
      var timing = H264PictureTiming(nalUnit: nalUnit, hrd: hrd)
    else { return nil }
    let found = SupplementalInformation.messages(nalUnit: nalUnit, headerLength: 1)
    guard found.map(\.type) == [payloadType, fillerType] else { return nil }
    timing.removalDelay = removalDelay
    for filler in 0...(2 * defaultFillerByteCount) {
      let payload = BitWriter.bytes {
        SupplementalInformation.write(timing.messages(hrd: hrd, filler: filler), to: &$0)
      }
      let unit = EmulationPrevention.adding(header: [header], payload: payload)
      if unit.count == nalUnit.count { return unit }
    }
    return nil
  }
}
