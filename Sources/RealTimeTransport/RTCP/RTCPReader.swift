// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

extension RTCPPacket {
  /// Parses a compound packet. Packets of types that calls do not use are left out.
  /// - Parameter bytes: The datagram.
  /// - Returns: Nil if it is empty or not RTCP.
  public static func parse(_ bytes: [UInt8]) -> [RTCPPacket]? {
    var reader = ByteReader(bytes[...])
    var result: [RTCPPacket] = []
    while reader.remaining > 0 {
      guard let first = try? reader.uint8(), first >> 6 == 2, let type = try? reader.uint8(),
        let words = try? reader.uint16(), var body = try? reader.bytes(Int(words) * 4)
      else { return nil }
      if first & 0x20 != 0 {
        guard let padding = body.last, padding > 0, Int(padding) <= body.count else { return nil }
        body = body.dropLast(Int(padding))
      }
      switch read(type: type, count: first & 0x1F, body) {
      case .malformed: return nil
      case .unknown: continue
      case .packet(let packet): result.append(packet)
      }
    }
    return result.isEmpty && bytes.isEmpty ? nil : result
  }

  private enum Reading {
    case packet(RTCPPacket), unknown, malformed
  }

  private static func read(type: UInt8, count: UInt8, _ body: ArraySlice<UInt8>) -> Reading {
    var reader = ByteReader(body)
    guard let source = try? reader.uint32() else { return type == 203 && count == 0 ? .unknown : .malformed }
    switch (type, count) {
    case (200, _):
      guard let ntp = try? reader.uint64(), let rtp = try? reader.uint32(),
        let packets = try? reader.uint32(),
        let octets = try? reader.uint32()
      else { return .malformed }
      return .packet(
        .senderReport(.init(source: source, ntpTime: ntp, rtpTime: rtp, packets: packets, octets: octets)))
    case (201, _):
      var blocks: [ReportBlock] = []
      for _ in 0..<count {
        guard let block = readBlock(&reader) else { return .malformed }
        blocks.append(block)
      }
      return .packet(.receiverReport(source: source, blocks: blocks))
    case (202, 1...):
      guard (try? reader.uint8()) == 1, let length = try? reader.uint8(),
        let text = try? reader.bytes(Int(length))
      else {
        return .unknown
      }
      return .packet(.sourceDescription(source: source, name: String(decoding: text, as: UTF8.self)))
    case (203, 1...): return .packet(.bye(source: source))
    case (204, 0):
      return readLostFrames(from: source, &reader)
    case (205, 1):
      return readRetransmissionRequest(from: source, &reader)
    case (205, 3), (205, 4):
      return readRateLimit(isRequest: count == 3, from: source, &reader)
    case (205, 11):
      guard let (streams, time) = StreamArrivals.read(body.dropFirst(4)) else { return .malformed }
      return .packet(.congestionFeedback(sender: source, streams: streams, time: time))
    case (205, 15):
      guard let media = try? reader.uint32(), let feedback = TransportFeedback(body.dropFirst(8)) else {
        return .malformed
      }
      return .packet(.transportFeedback(sender: source, media: media, feedback: feedback))
    case (206, 15):
      return readEstimate(from: source, &reader)
    case (206, 1):
      guard let media = try? reader.uint32() else { return .malformed }
      return .packet(.pictureLoss(sender: source, media: media))
    case (206, 4):
      guard (try? reader.uint32()) != nil, let media = try? reader.uint32(), let number = try? reader.uint8()
      else {
        return .malformed
      }
      return .packet(.fullIntraRequest(sender: source, media: media, number: number))
    case (206, 3):
      return readReferenceSelection(from: source, &reader)
    default: return .unknown
    }
  }

  private static func readLostFrames(from source: UInt32, _ reader: inout ByteReader<ArraySlice<UInt8>>)
    -> Reading
  {
    guard let name = try? reader.bytes(4) else { return .malformed }
    guard Array(name) == lostFramesName else { return .unknown }
    guard let number = try? reader.uint16(), reader.remaining >= Int(number) * 2 else { return .malformed }
    return .packet(
      .lostFrames(sender: source, frames: (0..<number).compactMap { _ in try? reader.uint16() }))
  }

  private static func readRetransmissionRequest(
    from source: UInt32, _ reader: inout ByteReader<ArraySlice<UInt8>>
  ) -> Reading {
    guard let media = try? reader.uint32() else { return .malformed }
    var numbers: [UInt16] = []
    while reader.remaining > 0, numbers.count < maxRequested {
      guard let first = try? reader.uint16(), let mask = try? reader.uint16() else { return .malformed }
      numbers.append(first)
      for bit in 0..<16 where mask >> UInt16(bit) & 1 != 0 { numbers.append(first &+ UInt16(bit) &+ 1) }
    }
    numbers.removeLast(max(0, numbers.count - maxRequested))
    return .packet(.retransmissionRequest(sender: source, media: media, numbers: numbers))
  }

  /// Reads a temporary maximum media stream bit rate request or notification (RFC 5104, 4.2).
  private static func readRateLimit(
    isRequest: Bool, from source: UInt32, _ reader: inout ByteReader<ArraySlice<UInt8>>
  ) -> Reading {
    // Only the first entry is read, because a call has one stream.
    guard (try? reader.uint32()) != nil else { return .malformed }
    guard reader.remaining > 0 else { return .unknown }
    guard let media = try? reader.uint32(), let word = try? reader.uint32() else { return .malformed }
    let limit = RateLimit(media: media, word: word)
    return .packet(
      isRequest ? .rateRequest(sender: source, limit: limit) : .rateNotice(sender: source, limit: limit))
  }

  private static func readEstimate(from source: UInt32, _ reader: inout ByteReader<ArraySlice<UInt8>>)
    -> Reading
  {
    guard (try? reader.uint32()) != nil else { return .malformed }
    guard (try? reader.bytes(4)).map({ Array($0) == estimateName }) == true else { return .unknown }
    guard let word = try? reader.uint32(), reader.remaining >= Int(word >> 24) * 4 else {
      return .malformed
    }
    let sources = (0..<(word >> 24)).compactMap { _ in try? reader.uint32() }
    // An exponent for which the rate would exceed 64 bits is as good as no limit.
    let rate = UInt64(word & 0x3FFFF) << UInt64(min(word >> 18 & 0x3F, 45))
    return .packet(.receiverEstimate(sender: source, sources: sources, bitsPerSecond: rate))
  }

  private static func readReferenceSelection(
    from source: UInt32, _ reader: inout ByteReader<ArraySlice<UInt8>>
  ) -> Reading {
    guard let media = try? reader.uint32(), let padding = try? reader.uint8(),
      let payloadType = try? reader.uint8()
    else {
      return .malformed
    }
    // A bit string of another length is not a token of ours.
    guard reader.remaining * 8 - Int(padding) == 64, let token = try? reader.uint64() else {
      return .unknown
    }
    return .packet(
      .referenceSelection(
        sender: source, media: media, payloadType: payloadType & 0x7F, token: Int64(bitPattern: token)))
  }

  private static func readBlock(_ reader: inout ByteReader<ArraySlice<UInt8>>) -> ReportBlock? {
    guard let source = try? reader.uint32(), let lost = try? reader.uint32(),
      let highest = try? reader.uint32(),
      let jitter = try? reader.uint32(), let last = try? reader.uint32(), let delay = try? reader.uint32()
    else { return nil }
    let cumulative = Int32(bitPattern: lost << 8) >> 8
    return ReportBlock(
      source: source, fractionLost: UInt8(lost >> 24), cumulativeLost: cumulative, highestSequence: highest,
      jitter: jitter, lastReport: last, delaySinceLastReport: delay)
  }
}
