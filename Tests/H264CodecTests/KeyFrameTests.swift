// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import H264Encoder
import Testing

@testable import H264Codec

/// Where sessions without look-ahead put key frames.
@Suite struct KeyFrameTests {
  @Test("A recording has a key frame every ten seconds unless an interval is named, a call has none")
  func intervals() throws {
    for (isCall, interval, longest) in [(false, 0, 300), (false, 120, 120), (true, 0, 310)] {
      var configuration = VideoEncoderConfiguration(
        codec: .h264, width: 32, height: 32, format: .nv12VideoRange, profile: .h264High)
      configuration.timescale = 90_000
      configuration.frameRate = 30
      configuration.maxKeyFrameInterval = interval
      configuration.speed.effort = 0
      if isCall { configuration.lowLatency = LowLatencyRequest() }
      let sender = try Sender(SmallClip(width: 32, height: 32)) { $0 = configuration }
      var found: [Int] = []
      for index in 0..<310 where try sender.send()?.properties.isKeyFrame == true { found.append(index) }
      let gaps = zip(found, found.dropFirst() + [310]).map { $1 - $0 }
      #expect(found.first == 0)
      #expect(gaps.allSatisfy { $0 <= longest }, "call: \(isCall), interval \(interval): \(found)")
      #expect((found.count == 1) == isCall)
    }
  }
}
