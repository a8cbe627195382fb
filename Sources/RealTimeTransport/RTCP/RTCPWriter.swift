// SPDX-License-Identifier: Apache-2.0
extension RTCPPacket {
  /// Makes a compound packet. RFC 3550 requires a report first, and a source description.
  public static func compound(_ packets: [RTCPPacket]) -> [UInt8] { packets.flatMap(\.bytes) }

  public var bytes: [UInt8] {
    var body: [UInt8] = []
    switch self {
    case .senderReport(let report):
      body.append32(report.source)
      body.append64(report.ntpTime)
      body.append32(report.rtpTime)
      body.append32(report.packets)
      body.append32(report.octets)
      return Self.framed(type: 200, count: 0, body)
    case .receiverReport(let source, let blocks):
      body.append32(source)
      for block in blocks.prefix(31) { Self.append(block, to: &body) }
      return Self.framed(type: 201, count: UInt8(min(blocks.count, 31)), body)
    case .sourceDescription(let source, let name):
      body.append32(source)
      let text = Array(name.utf8.prefix(255))
      // The CNAME item, and null bytes that end the chunk at a multiple of four bytes.
      body += [1, UInt8(text.count)] + text + [0]
      while body.count % 4 != 0 { body.append(0) }
      return Self.framed(type: 202, count: 1, body)
    case .bye(let source):
      body.append32(source)
      return Self.framed(type: 203, count: 1, body)
    case .retransmissionRequest(let sender, let media, let numbers):
      body.append32(sender)
      body.append32(media)
      Self.append(requested: numbers, to: &body)
      return Self.framed(type: 205, count: 1, body)
    case .congestionFeedback(let sender, let streams, let time):
      body.append32(sender)
      for stream in streams { stream.append(to: &body) }
      body.append32(time)
      return Self.framed(type: 205, count: 11, body)
    case .pictureLoss(let sender, let media):
      body.append32(sender)
      body.append32(media)
      return Self.framed(type: 206, count: 1, body)
    case .fullIntraRequest(let sender, let media, let number):
      body.append32(sender)
      // The media's source is in the entry only (RFC 5104, 4.3.1.2).
      body.append32(0)
      body.append32(media)
      body += [number, 0, 0, 0]
      return Self.framed(type: 206, count: 4, body)
    case .rateRequest(let sender, let limit), .rateNotice(let sender, let limit):
      body.append32(sender)
      body.append32(0)
      body.append32(limit.media)
      body.append32(limit.word)
      if case .rateRequest = self { return Self.framed(type: 205, count: 3, body) }
      return Self.framed(type: 205, count: 4, body)
    case .referenceSelection(let sender, let media, let payloadType, let token):
      body.append32(sender)
      body.append32(media)
      Self.append(token: token, payloadType, to: &body)
      return Self.framed(type: 206, count: 3, body)
    case .transportFeedback(let sender, let media, let feedback):
      body.append32(sender)
      body.append32(media)
      feedback.append(to: &body)
      return Self.framed(type: 205, count: 15, body)
    case .receiverEstimate(let sender, let sources, let rate):
      body.append32(sender)
      Self.append(estimate: rate, of: sources, to: &body)
      return Self.framed(type: 206, count: 15, body)
    case .lostFrames(let sender, let frames):
      body.append32(sender)
      Self.append(lostFrames: frames, to: &body)
      return Self.framed(type: 204, count: 0, body)
    }
  }

  /// Appends the entries of a generic NACK (RFC 4585, 6.2.1): each has a sequence number (PID) and
  /// a bit mask of the sixteen after it (BLP).
  private static func append(requested numbers: [UInt16], to body: inout [UInt8]) {
    var rest = numbers.prefix(maxRequested)
    while let first = rest.popFirst() {
      var mask: UInt16 = 0
      while let next = rest.first, (1...16).contains(next &- first) {
        mask |= 1 << (next &- first - 1)
        rest.removeFirst()
      }
      body.append16(first)
      body.append16(mask)
    }
  }

  /// Appends the token of a reference picture selection indication (RFC 4585, 6.3.3).
  private static func append(token: Int64, _ payloadType: UInt8, to body: inout [UInt8]) {
    // The first byte is the number of padding bits: 16 bits and the token's 64 end 16 bits before a
    // multiple of 32.
    body += [16, payloadType & 0x7F]
    body.append64(UInt64(bitPattern: token))
    body += [0, 0]
  }

  /// Appends the fields of a receiver estimated maximum bit rate (REMB).
  /// - Parameters:
  ///   - rate: The bit rate in bits per second.
  ///   - sources: The sources that it applies to.
  private static func append(estimate rate: UInt64, of sources: [UInt32], to body: inout [UInt8]) {
    // The media's source is not used.
    body.append32(0)
    body += estimateName
    let exponent = UInt32(max(0, 64 - rate.leadingZeroBitCount - 18))
    let reported = sources.prefix(maxEstimateSources)
    body.append32(UInt32(reported.count) << 24 | exponent << 18 | UInt32(rate >> UInt64(exponent)))
    for source in reported { body.append32(source) }
  }

  /// Appends the frame numbers of the application's packet about lost frames, the newest ones if
  /// there are too many.
  private static func append(lostFrames frames: [UInt16], to body: inout [UInt8]) {
    body += lostFramesName
    let reported = frames.suffix(maxLostFrames)
    body.append16(UInt16(reported.count))
    for frame in reported { body.append16(frame) }
    while body.count % 4 != 0 { body.append(0) }
  }

  private static func append(_ block: ReportBlock, to body: inout [UInt8]) {
    body.append32(block.source)
    let lost = UInt32(bitPattern: min(max(block.cumulativeLost, -0x80_0000), 0x7F_FFFF)) & 0xFF_FFFF
    body.append32(UInt32(block.fractionLost) << 24 | lost)
    body.append32(block.highestSequence)
    body.append32(block.jitter)
    body.append32(block.lastReport)
    body.append32(block.delaySinceLastReport)
  }

  private static func framed(type: UInt8, count: UInt8, _ body: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x80 | count, type]
    result.append16(UInt16(body.count / 4))
    return result + body
  }
}
