import CoreMedia
import Testing
import VideoToolbox

/// What the low-latency mode writes on request, and what becomes of a frame that it cannot encode.
@Suite struct LowLatencyStreamTests {
  private func session(_ properties: [CFString: Any]) throws -> VTCompressionSession {
    try makeSession(
      specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true],
      properties: [kVTCompressionPropertyKey_AverageBitRate: 400_000].merging(properties) { $1 })
  }

  @Test("The prefix NAL unit tells the temporal layer (G.7.3.1.1); without being asked for there is none")
  func prefix() throws {
    let layers: [CFString: Any] = [kVTCompressionPropertyKey_BaseLayerFrameRateFraction: 0.5]
    let plain = try encode(session(layers), TestClip(), count: 10)
    #expect(plain.allSatisfy { $0.nalUnits.allSatisfy { [1, 5].contains($0[0] & 31) } })

    let samples = try encode(
      session(layers.merging([kOVTCompressionPropertyKey_WritesTemporalLayerPrefix: true]) { $1 }),
      TestClip(), count: 10)
    for sample in samples {
      let units = sample.nalUnits
      #expect(units.count == 2)
      let prefix = try #require(units.first)
      let slice = try #require(units.last)
      try #require(prefix.count >= 4)
      #expect(prefix[0] & 31 == 14 && prefix[1] & 0x80 != 0, "a prefix with the extension of scalable coding")
      #expect(prefix[0] >> 5 == slice[0] >> 5, "nal_ref_idc is that of the slice")
      let layer = (sample.firstAttachments[kOVTSampleAttachmentKey_TemporalLayer] as? NSNumber)?.intValue ?? 0
      // After idr_flag and priority_id: no_inter_layer_pred_flag, dependency_id, quality_id; then temporal_id.
      #expect(Int(prefix[3] >> 5) == layer)
      #expect((prefix[1] >> 6) & 1 == (sample.isSync ? 1 : 0), "idr_flag")
      // discardable_flag
      #expect((prefix[3] >> 3) & 1 == (layer > 0 ? 1 : 0))
    }
    #expect(Set(samples.map { $0.nalUnits[0][3] >> 5 }) == [0, 1])
    guard StreamProbe.isAvailable else { return }
    let probe = try StreamProbe(annexB(samples))
    #expect(probe.frames.count == 10 && probe.errors.isEmpty)
  }

  @Test("A frame that cannot be encoded is one error, and the session goes on")
  func failures() throws {
    let session = try session([kVTCompressionPropertyKey_EnableLTR: true])
    let clip = TestClip()
    let collector = Collector()
    _ = try encode(session, clip, count: 4, into: collector)
    func attempt(_ image: CVImageBuffer, _ time: CMTime) -> [OSStatus] {
      let results = Collector()
      let status = VTCompressionSessionEncodeFrame(
        session, imageBuffer: image, presentationTimeStamp: time, duration: .invalid, frameProperties: nil,
        infoFlagsOut: nil
      ) { status, flags, sample in results.add(status, flags, sample) }
      VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
      return (status == noErr ? [] : [status]) + results.all.map(\.status)
    }
    // The time of a frame that was encoded, an earlier one, and none at all.
    for time in [clip.time(3), clip.time(1), CMTime.invalid, .positiveInfinity] {
      let outcome = attempt(clip.buffer(4), time)
      #expect(outcome.count == 1 && outcome.first != noErr, "\(time): \(outcome)")
    }
    // A picture without planes that the session knows.
    var odd: CVPixelBuffer?
    CVPixelBufferCreate(nil, 16, 16, kCVPixelFormatType_OneComponent32Float, nil, &odd)
    if let odd {
      let outcome = attempt(odd, clip.time(4))
      #expect(outcome.count == 1 && outcome.first != noErr, "\(outcome)")
    }
    _ = try encode(session, clip, count: 5, from: 5, into: collector)
    #expect(collector.samples.count == 9)
    #expect(collector.samples.dropFirst().allSatisfy { !$0.isSync }, "nobody lost anything")
    guard StreamProbe.isAvailable else { return }
    let probe = try StreamProbe(annexB(collector.samples))
    #expect(probe.frames.count == 9 && probe.errors.isEmpty)
  }
}
