// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@testable import H264Encoder

/// SEI messages on the dynamic range, which both modes write with key frames.
@Suite struct DynamicRangeTests {
  private static let volume = (0..<24).map { UInt8($0 + 1) }
  private static let level: [UInt8] = [3, 232, 1, 144]

  /// The payloads of the SEI messages of a frame by their type, for messages without emulation
  /// prevention and of less than 255 bytes (7.3.2.3.1).
  private static func messages(_ data: [UInt8]) -> [Int: [UInt8]] {
    var starts: [Int] = []
    for at in 0..<max(data.count - 3, 0) where data[at..<at + 3].elementsEqual([0, 0, 1]) {
      starts.append(at + 3)
    }
    var found: [Int: [UInt8]] = [:]
    for (n, start) in starts.enumerated() where data[start] & 31 == 6 {
      let end = n + 1 < starts.count ? starts[n + 1] - 3 : data.count
      var at = start + 1
      while at + 2 <= end, data[at] != 0x80 {
        let size = Int(data[at + 1])
        guard at + 2 + size <= end else { break }
        found[Int(data[at])] = Array(data[at + 2..<at + 2 + size])
        at += 2 + size
      }
    }
    return found
  }

  @Test("Key frames of both modes have the messages, and other frames none", arguments: [false, true])
  func keyFramesHaveTheMessages(_ looksAhead: Bool) throws {
    var c = H264EncoderConfiguration(width: 64, height: 48)
    if looksAhead { c.lookAhead.rate = .quality(28) } else { c.lowLatency.rateControl = .constantQP(28) }
    c.keyFrameInterval = 4
    c.masteringDisplay = Self.volume
    c.contentLightLevel = Self.level
    let encoder = try H264Encoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: 64, height: 48, seed: 1)
    var frames: [(isKey: Bool, messages: [Int: [UInt8]])] = []
    func take(_ frame: consuming H264EncodedFrame) {
      frames.append((frame.properties.isKeyFrame, Self.messages(frame.data)))
    }
    for n in 0..<9 {
      try content.frame(n).withSource(planar: true, padding: 0) { try encoder.encode($0, output: take) }
    }
    encoder.flush(output: take)
    #expect(frames.count == 9 && frames.count(where: \.isKey) == 3)
    for frame in frames {
      #expect(frame.messages[137] == (frame.isKey ? Self.volume : nil))
      #expect(frame.messages[144] == (frame.isKey ? Self.level : nil))
    }
  }
}
