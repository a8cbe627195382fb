// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import TestSupport
import Testing
import VideoToolbox

/// Streams that the low-latency mode writes on request, and the outcome of a frame that it cannot
/// encode.
@Suite struct LowLatencyStreamTests {
  private func session(_ properties: [CFString: Any]) throws -> VTCompressionSession {
    try makeSession(
      specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true],
      properties: [kVTCompressionPropertyKey_AverageBitRate: 400_000].merging(properties) { $1 })
  }

  @Test("The prefix NAL unit tells the temporal layer (G.7.3.1.1); without being asked for there is none")
  func thePrefixNALUnitTellsTheTemporalLayer() throws {
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
      // After idr_flag and priority_id: no_inter_layer_pred_flag, dependency_id, quality_id; then
      // temporal_id.
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

  @Test(
    "No frame waits longer than the bound, through cuts and noise; more of it is used, also from the next frame on"
  )
  func noFrameWaitsLongerThanTheBound() throws {
    let rate = 400_000
    let clip = TestClip(noise: 12, cutEvery: 15)
    func longestWait(_ sizes: some Sequence<Int>) -> Double {
      var (wait, longest) = (0.0, 0.0)
      for bytes in sizes {
        wait = max(wait - 1 / Double(clip.framesPerSecond), 0) + Double(bytes * 8) / Double(rate)
        longest = max(longest, wait)
      }
      return longest
    }
    func sizes(_ bound: Double) throws -> [Int] {
      return try encode(
        session([kOVTCompressionPropertyKey_MaximumQueueDelay: bound]), clip, count: 60
      ).map(\.bytes.count)
    }
    let (short, long) = (longestWait(try sizes(0.1)), longestWait(try sizes(0.8)))
    #expect(short <= 0.101 && long <= 0.808 && long > 2 * short, "\(short) s, \(long) s")

    let running = try self.session([kOVTCompressionPropertyKey_MaximumQueueDelay: 0.8])
    _ = try encode(running, clip, count: 8)
    #expect(
      VTSessionSetProperty(running, key: kOVTCompressionPropertyKey_MaximumQueueDelay, value: 0.1 as CFNumber)
        == noErr)
    let later = try encode(running, clip, count: 60, from: 8).map(\.bytes.count)
    // Queued data is sent first when the bound falls.
    #expect(longestWait(later.dropFirst(20)) <= 0.101)
  }

  @Test("A frame that cannot be encoded is one error, and the session continues")
  func aFrameThatCannotBeEncodedIsOneError() throws {
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

  @Test(
    "No window holds more than the line carries, key frames on request and cuts of the rate included",
    arguments: [1, 2, 3])
  func noWindowHoldsMoreThanTheLineCarries(threads: Int) throws {
    let clip = TestClip(width: 480, height: 272, noise: 24, cutEvery: 23)
    let session = try makeSession(
      width: clip.width, height: clip.height,
      specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true],
      properties: [
        kVTCompressionPropertyKey_ExpectedFrameRate: 30, kOVTCompressionPropertyKey_ThreadCount: threads,
      ])
    /// Bits a second, from a frame on.
    let rates = [(0, 900_000), (40, 300_000), (90, 900_000)]
    let window = 0.25
    func bytes(_ rate: Int) -> Double { (Double(rate) * window / 8).rounded() }
    let samples = try encode(session, clip, count: 130) { index in
      if let rate = rates.first(where: { $0.0 == index })?.1 {
        try check(
          VTSessionSetProperties(
            session,
            propertyDictionary: [
              kVTCompressionPropertyKey_AverageBitRate: rate,
              kVTCompressionPropertyKey_DataRateLimits: [bytes(rate), window],
            ] as CFDictionary), "rate")
      }
      return [20, 21, 60, 110].contains(index) ? [kVTEncodeFrameOptionKey_ForceKeyFrame: true] : nil
    }
    #expect(samples.count == 130 && samples.count { $0.isSync } >= 5)
    for (place, (first, rate)) in rates.enumerated() {
      let end = place + 1 < rates.count ? rates[place + 1].0 : 130
      let measure = RateMeasure(Array(samples[first..<end]), frameDuration: 1.0 / 30)
      let maximum = measure.windows(of: window).max() ?? 0
      #expect(Double(maximum) <= bytes(rate), "\(maximum) bytes in \(window) s at \(rate) bits a second")
      #expect(Double(maximum) > 0.5 * bytes(rate))
    }
  }

  @Test("The preset for conferences can be applied, and is the only one of the mode")
  func thePresetForConferencesCanBeApplied() throws {
    let session = try session([:])
    let presets = try #require(
      property(session, kVTCompressionPropertyKey_SupportedPresetDictionaries) as? [String: [String: Any]])
    #expect(Array(presets.keys) == [kVTCompressionPreset_VideoConferencing as String])
    let settings = try #require(presets[kVTCompressionPreset_VideoConferencing as String])
    #expect(!settings.isEmpty)
    try check(VTSessionSetProperties(session, propertyDictionary: settings as CFDictionary), "preset")
    for (key, value) in settings {
      let now = try property(session, key as CFString) as? NSObject
      #expect(now?.isEqual(value) == true, "\(key) is \(String(describing: now))")
    }
    let samples = try encode(session, TestClip(), count: 12)
    #expect(samples.map(\.isSync) == [true] + Array(repeating: false, count: 11))
  }
}
