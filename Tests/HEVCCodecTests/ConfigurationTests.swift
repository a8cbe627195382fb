// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import HEVCEncoder
import Testing

@testable import HEVCCodec

/// The configuration that a session gives the adapter.
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

  @Test(
    "Pictures of either depth are coded in either profile", arguments: [8, 10],
    [PictureFormat.nv12VideoRange, .p010VideoRange])
  func depths(depth: Int, format: PictureFormat) throws {
    for (width, height) in [(64, 48), (33, 17)] {
      let sender = try Sender(width: width, height: height) {
        $0.profile = depth == 10 ? .hevcMain10 : .hevcMain
        $0.format = format
        $0.rate.mode = .average(300_000)
      }
      let decoder = try IndependentDecoder()
      for n in 0..<6 {
        let sent = try #require(try sender.send())
        let shown = try decoder.decode(sent.byteStream)
        #expect(shown == [sent.expected] && shown.first?.depth == depth, "frame \(n)")
      }
    }
  }

  @Test("HDR metadata goes to the encoder, and of another length is refused")
  func metadata() throws {
    var c = VideoEncoderConfiguration(
      codec: .hevc, width: 64, height: 48, format: .p010VideoRange, profile: .hevcMain10)
    c.hdr.masteringDisplay = [UInt8](repeating: 3, count: 24)
    c.hdr.contentLightLevel = [1, 2, 3, 4]
    let made = try HEVCEncoderConfiguration(lookingAhead: c)
    #expect(made.masteringDisplay == c.hdr.masteringDisplay && made.contentLightLevel == [1, 2, 3, 4])
    c.hdr.contentLightLevel = [1, 2, 3]
    for looksAhead in [false, true] {
      #expect(throws: CodecError.self) { try HEVCAdapter(c, looksAhead: looksAhead) }
    }
  }

  @Test("What the encoder cannot do is refused", arguments: [CodecProfile.h264Main, .h264High])
  func profiles(profile: CodecProfile) {
    let configuration = VideoEncoderConfiguration(
      codec: .hevc, width: 64, height: 48, format: .nv12VideoRange, profile: profile)
    #expect(throws: CodecError.self) { try HEVCAdapter(configuration, looksAhead: false) }
  }
}
