// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

@testable import HEVCCodec

/// What a session asks of the adapter.
@Suite struct ConfigurationTests {
  @Test(
    "Pictures of any size are coded, and shown at the next even size",
    arguments: [(1, 1), (2, 7), (15, 9), (17, 33), (66, 50)])
  func sizes(width: Int, height: Int) throws {
    let sender = try Sender(width: width, height: height)
    let decoder = try IndependentDecoder()
    var shown: [Planes] = []
    var expected: [Planes] = []
    for _ in 0..<4 {
      let sent = try #require(try sender.send())
      expected.append(sent.expected)
      shown += try decoder.decode(sent.byteStream)
    }
    shown += try decoder.drain()
    #expect(shown == expected)
    #expect(shown.first?.luma.count == (width + 1) / 2 * 2 * ((height + 1) / 2 * 2))
  }

  @Test("A new rate needs no new stream, and takes effect")
  func newRate() throws {
    var configuration = VideoEncoderConfiguration(
      codec: .hevc, width: 64, height: 48, format: .nv12VideoRange, profile: .hevcMain)
    configuration.timescale = 90_000
    configuration.frameRate = 30
    configuration.lowLatency = LowLatencyRequest()
    configuration.rate.mode = .average(200_000)
    let sender = try Sender { $0 = configuration }
    func bytes(_ frames: Int) throws -> Int {
      try (0..<frames).reduce(0) { sum, _ in sum + (try sender.send()?.byteStream.count ?? 0) }
    }
    _ = try bytes(30)
    let before = try bytes(30)
    configuration.rate.mode = .average(50_000)
    #expect(try sender.adapter.reconfigure(configuration) == .applied)
    _ = try bytes(30)
    let after = try bytes(30)
    #expect(Double(after) < 0.5 * Double(before), "\(before) and \(after) bytes in a second")
  }

  @Test("A file has a key frame every ten seconds unless an interval is named, a call has none")
  func keyFrames() throws {
    for (isCall, interval, longest) in [(false, 0, 300), (false, 120, 120), (true, 0, 310)] {
      let sender = try Sender(width: 16, height: 16) {
        if !isCall { $0.lowLatency = nil }
        $0.maxKeyFrameInterval = interval
        $0.speed.effort = 0
      }
      var found: [Int] = []
      for index in 0..<310 where try sender.send()?.properties.isKeyFrame == true { found.append(index) }
      #expect(found.first == 0)
      // New scenes may add further ones to a file.
      let gaps = zip(found, found.dropFirst() + [310]).map { $1 - $0 }
      #expect(gaps.allSatisfy { $0 <= longest }, "call: \(isCall), interval \(interval): \(found)")
      #expect((found.count == 1) == isCall)
    }
  }

  @Test("What the encoder cannot do is refused", arguments: [CodecProfile.hevcMain10, .h264High])
  func profiles(profile: CodecProfile) {
    let configuration = VideoEncoderConfiguration(
      codec: .hevc, width: 64, height: 48, format: .nv12VideoRange, profile: profile)
    #expect(throws: CodecError.self) { try HEVCAdapter(configuration, looksAhead: false) }
  }
}
