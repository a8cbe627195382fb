// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing
import VideoToolbox

#if HEVC
  /// Sessions with the package's own HEVC encoder that may wait: B pictures, average rates, two
  /// passes.
  @Suite(.serialized) struct HEVCLookAheadSessionTests {
    private static let encoderID = "org.openvideotoolbox.videoencoder.hevc"
    private static let clip = TestClip(width: 320, height: 192, noise: 12, cutEvery: 40)

    private static func session(_ properties: [CFString: Any]) throws -> VTCompressionSession {
      try makeSession(
        kCMVideoCodecType_HEVC, width: clip.width, height: clip.height,
        specification: [kVTVideoEncoderSpecification_EncoderID: encoderID],
        properties: [kVTCompressionPropertyKey_ExpectedFrameRate: 30].merging(properties) { $1 })
    }

    @Test(
      "Frames come in decode order, with decode times before presentation times", arguments: [true, false])
    func decodeOrder(_ allows: Bool) throws {
      let session = try Self.session([
        kVTCompressionPropertyKey_AverageBitRate: 400_000,
        kVTCompressionPropertyKey_AllowFrameReordering: allows,
      ])
      let samples = try encode(session, Self.clip, count: 100)
      #expect(samples.count == 100)
      let shown = samples.map(\.presentationTimeStamp)
      #expect(shown.sorted() == (0..<100).map { Self.clip.time($0) })
      #expect((shown != shown.sorted()) == allows)
      if allows {
        let decoded = samples.map(\.decodeTimeStamp)
        #expect(decoded.allSatisfy { $0.isNumeric })
        #expect(zip(decoded, decoded.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(decoded, shown).allSatisfy { $0 <= $1 })
      }
      let probe = try StreamProbe(annexB(samples), hevc: true)
      #expect(probe.errors.isEmpty, "\(probe.errors)")
      #expect(probe.frames.count == 100)
      #expect(probe.number("has_b_frames") == (allows ? 2 : 0))
      #expect(probe.pictureTypes.contains("B") == allows)
      let rate = RateMeasure(samples, frameDuration: 1.0 / 30).bitRate
      #expect(abs(rate / 400_000 - 1) < 0.1, "\(rate)")
    }

    @Test("Open groups begin with CRA pictures, closed ones with IDR pictures", arguments: [true, false])
    func openGroups(_ allows: Bool) throws {
      let clip = TestClip(width: 320, height: 192, noise: 4)
      let session = try Self.session([
        kVTCompressionPropertyKey_Quality: 0.4, kVTCompressionPropertyKey_MaxKeyFrameInterval: 12,
        kVTCompressionPropertyKey_AllowOpenGOP: allows,
      ])
      let samples = try encode(session, clip, count: 48)
      let keys = samples.filter(\.isSync)
      #expect(keys.map(\.presentationTimeStamp) == [0, 12, 24, 36].map { clip.time($0) })
      // nal_unit_type of the last NAL unit: 20 is IDR_N_LP, 21 CRA_NUT, 8 and 9 are RASL pictures.
      func types(_ samples: [CMSampleBuffer]) -> [Int] {
        samples.compactMap { $0.nalUnits.last.map { Int($0[0]) >> 1 & 63 } }
      }
      #expect(types(keys) == (allows ? [20, 21, 21, 21] : [20, 20, 20, 20]))
      #expect(types(samples).contains(8) == allows)
      let probe = try StreamProbe(annexB(samples), hevc: true)
      #expect(probe.errors.isEmpty, "\(probe.errors)")
      #expect(probe.frames.count == 48)
    }

    @Test("Limits hold in every window, with B pictures")
    func limits() throws {
      let session = try Self.session([
        kVTCompressionPropertyKey_AverageBitRate: 400_000,
        kVTCompressionPropertyKey_DataRateLimits: [60_000, 1] as CFArray,
      ])
      let samples = try encode(session, Self.clip, count: 120)
      let measure = RateMeasure(samples, frameDuration: 1.0 / 30)
      #expect(measure.windows(of: 1).allSatisfy { $0 <= 60_000 })
      let probe = try StreamProbe(annexB(samples), hevc: true)
      #expect(probe.errors.isEmpty, "\(probe.errors)")
      #expect(probe.pictureTypes.contains("B"))
    }

    @Test("A real-time session has each frame at once")
    func realTime() throws {
      let session = try Self.session([
        kVTCompressionPropertyKey_RealTime: true, kVTCompressionPropertyKey_AverageBitRate: 400_000,
      ])
      let collector = Collector()
      _ = try encode(session, Self.clip, count: 40, complete: false, into: collector)
      // Nothing asks for them; a session that holds frames never gives the last ones.
      blockUntil { collector.samples.count >= 40 }
      let shown = collector.samples.map(\.presentationTimeStamp)
      #expect(shown == shown.sorted() && shown.count == 40)
    }

    @Test("What the encoder cannot do is refused")
    func refusals() throws {
      let session = try Self.session([:])
      for key in [kOVTCompressionPropertyKey_IntraRefreshFrameCount, kVTCompressionPropertyKey_EnableLTR] {
        #expect(
          VTSessionSetProperty(session, key: key, value: 1 as CFNumber) == kVTPropertyNotSupportedErr)
      }
    }

    @Test("A constant rate is kept, and the stream can describe the buffer")
    func constantRate() throws {
      let rate = 500_000
      let session = try Self.session([
        kVTCompressionPropertyKey_ConstantBitRate: rate,
        kOVTCompressionPropertyKey_WritesBufferTiming: true,
      ])
      let samples = try encode(session, Self.clip, count: 120)
      let stream = annexB(samples)
      let probe = try StreamProbe(stream, hevc: true)
      #expect(probe.errors.isEmpty, "\(probe.errors)")
      let bits = stream.count * 8
      // In addition to the rate there is what the buffer of half a second held at first.
      #expect(abs(Double(bits) / 4 / Double(rate) - 1) < 0.15)
    }

    @Test("Two passes keep the rate within a percent")
    func twoPasses() throws {
      let rate = 300_000
      let session = try Self.session([kVTCompressionPropertyKey_AverageBitRate: rate])
      var made: VTMultiPassStorage?
      try check(
        VTMultiPassStorageCreate(
          allocator: nil, fileURL: nil, timeRange: .invalid, options: nil, multiPassStorageOut: &made),
        "storage")
      let storage = try #require(made)
      try check(
        VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage), "set")
      var last: [CMSampleBuffer] = []
      for isFinal in [false, true] {
        try check(
          VTCompressionSessionBeginPass(session, flags: isFinal ? .beginFinalPass : [], nil), "begin")
        last = try encode(session, Self.clip, count: 240)
        var more = DarwinBoolean(false)
        try check(VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &more, nil), "end")
        #expect(more.boolValue == !isFinal)
      }
      let measure = RateMeasure(last, frameDuration: 1.0 / 30)
      #expect(abs(measure.bitRate / Double(rate) - 1) < 0.01, "\(measure.bitRate)")
      let probe = try StreamProbe(annexB(last), hevc: true)
      #expect(probe.errors.isEmpty, "\(probe.errors)")
    }
  }
#endif
