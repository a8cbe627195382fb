// SPDX-License-Identifier: Apache-2.0

// Picture timing at a join: a stream that is encoded by itself does not know when the last buffering period before its
// first access unit began. It leaves room for the number, so that who joins streams need not change any size.

extension H264PictureTiming {
  /// filler_payload() (D.1.5)
  private static let fillerType = 3
  /// Bytes of filler that a first access unit comes with: emulation prevention takes some of them, or gives some.
  private static let usualFiller = 6

  /// The payload of a NAL unit with this message, and bytes of filler in a message behind it.
  package static func joinable(_ timing: Self, hrd: H264HypotheticalDecoder) -> [SupplementalInformation
    .Message]
  {
    timing.messages(hrd: hrd, filler: usualFiller)
  }

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

  /// Reads the message of a NAL unit; nil if there is none.
  package init?(nalUnit: some Collection<UInt8>, hrd: H264HypotheticalDecoder) {
    let messages = SupplementalInformation.messages(nalUnit: nalUnit, headerLength: 1)
    guard let message = messages.first(where: { $0.type == Self.payloadType }),
      message.payload.count * 8 >= hrd.removalDelayLength + hrd.outputDelayLength
    else { return nil }
    var place = 0
    func take(_ count: Int) -> Int {
      var value = 0
      for _ in 0..<count {
        value = value << 1 | Int(message.payload[place >> 3] >> UInt8(7 - place & 7) & 1)
        place += 1
      }
      return value
    }
    removalDelay = take(hrd.removalDelayLength)
    outputDelay = take(hrd.outputDelayLength)
  }

  /// A NAL unit that `joinable` was written to, with another removal delay, as long as it was; nil if it is none.
  package static func replacing(
    removalDelay: Int, in nalUnit: some Collection<UInt8>, hrd: H264HypotheticalDecoder
  ) -> [UInt8]? {
    guard let header = nalUnit.first, H264NALUnitHeader(byte: header)?.type == .sei,
      var timing = H264PictureTiming(nalUnit: nalUnit, hrd: hrd)
    else { return nil }
    let found = SupplementalInformation.messages(nalUnit: nalUnit, headerLength: 1)
    guard found.map(\.type) == [payloadType, fillerType] else { return nil }
    timing.removalDelay = removalDelay
    for filler in 0...(2 * usualFiller) {
      let payload = BitWriter.bytes {
        SupplementalInformation.write(timing.messages(hrd: hrd, filler: filler), to: &$0)
      }
      let unit = EmulationPrevention.adding(header: [header], payload: payload)
      if unit.count == nalUnit.count { return unit }
    }
    return nil
  }
}
