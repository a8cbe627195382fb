// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import TestSupport
import Testing
import VideoToolbox

/// Rates that change in mid-stream, as a program sees it.
@Suite struct RateChangeTests {
  private func session(isLowLatency: Bool, height: Int, _ properties: [CFString: Any]) throws
    -> VTCompressionSession
  {
    try makeSession(
      width: 320, height: height,
      specification: isLowLatency
        ? [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
        : [kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.h264"],
      properties: properties)
  }

  @Test(
    "A lower frame rate and bit rate, and the first ones again, make no key frame", arguments: [true, false])
  func changesOfRateMakeNoKeyFrame(isLowLatency: Bool) throws {
    let session = try session(
      isLowLatency: isLowLatency, height: 180,
      [
        kVTCompressionPropertyKey_AverageBitRate: 250_000, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
      ])
    let samples = try encode(session, TestClip(width: 320, height: 180), count: 24) { frame in
      if frame == 8 || frame == 16 {
        let (frames, bits) = frame == 8 ? (10, 100_000) : (30, 250_000)
        for (key, value) in [
          (kVTCompressionPropertyKey_ExpectedFrameRate, frames),
          (kVTCompressionPropertyKey_AverageBitRate, bits),
        ] {
          #expect(VTSessionSetProperty(session, key: key, value: NSNumber(value: value)) == noErr)
        }
      }
      return nil
    }
    #expect(samples.count == 24)
    #expect(samples.map(\.isSync) == [true] + Array(repeating: false, count: 23))
  }

  @Test("A call's rate rises far beyond its first one without a key frame", arguments: [true, false])
  func aCallsRateRisesFarBeyondItsFirstOneWithoutAKeyFrame(isLowLatency: Bool) throws {
    let session = try session(
      isLowLatency: isLowLatency, height: 240,
      [
        kVTCompressionPropertyKey_AverageBitRate: 100_000, kVTCompressionPropertyKey_RealTime: true,
      ])
    let samples = try encode(session, TestClip(noise: 20), count: 40) { frame in
      if frame == 15 {
        #expect(
          VTSessionSetProperty(
            session, key: kVTCompressionPropertyKey_AverageBitRate, value: 5_000_000 as CFNumber) == noErr)
      }
      return nil
    }
    #expect(samples.map(\.isSync) == [true] + Array(repeating: false, count: 39))
    let sizes = samples.map { CMSampleBufferGetTotalSampleSize($0) }
    #expect(sizes[25...].reduce(0, +) > sizes[5..<15].reduce(0, +) * 6, "\(sizes)")
  }

  @Test("A pause is not filled at a constant rate: no frame takes as long to send")
  func aPauseIsNotFilledAtAConstantRate() throws {
    var encoders = [(kCMVideoCodecType_H264, "org.openvideotoolbox.videoencoder.h264")]
    #if X264
      encoders.append((kCMVideoCodecType_H264, "org.openvideotoolbox.videoencoder.h264.x264"))
    #endif
    #if X265
      encoders.append((kCMVideoCodecType_HEVC, "org.openvideotoolbox.videoencoder.hevc.x265"))
    #endif
    let clip = TestClip(width: 160, height: 96)
    for (codec, id) in encoders {
      let session = try makeSession(
        codec, width: 160, height: 96, specification: [kVTVideoEncoderSpecification_EncoderID: id],
        properties: [
          kVTCompressionPropertyKey_ConstantBitRate: 1_000_000,
          kVTCompressionPropertyKey_ExpectedFrameRate: 30,
        ])
      let collector = Collector()
      for index in 0..<16 {
        // A minute, which is 7.5 MB.
        let time = CMTime(value: CMTimeValue(index < 8 ? index : index + 1800), timescale: 30)
        try check(
          VTCompressionSessionEncodeFrame(
            session, imageBuffer: clip.buffer(index), presentationTimeStamp: time,
            duration: clip.frameDuration, frameProperties: nil, infoFlagsOut: nil
          ) { status, flags, sample in collector.add(status, flags, sample) }, "\(id), frame \(index)")
      }
      try check(
        VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
      let sizes = collector.samples.map { CMSampleBufferGetTotalSampleSize($0) }
      #expect(sizes.count == 16 && sizes.allSatisfy { $0 < 250_000 }, "\(id): \(sizes)")
      VTCompressionSessionInvalidate(session)
    }
  }

  #if X265
    /// Thirty pictures a second, then ten, then thirty.
    enum Keeping: CaseIterable { case limits, lowLatency, constant }

    @Test("libx265 keeps to a rate where pictures come at an uneven pace", arguments: Keeping.allCases)
    func libx265KeepsToARateWherePicturesComeAtAnUnevenPace(keeping: Keeping) throws {
      let clip = TestClip(noise: 20)
      var properties: [CFString: Any] = [kVTCompressionPropertyKey_ExpectedFrameRate: 30]
      if keeping == .constant {
        properties[kVTCompressionPropertyKey_ConstantBitRate] = 500_000
      } else {
        properties[kVTCompressionPropertyKey_AverageBitRate] = 500_000
        properties[kVTCompressionPropertyKey_DataRateLimits] = [94_000, 1] as NSArray
      }
      let session = try makeSession(
        kCMVideoCodecType_HEVC,
        specification: keeping == .lowLatency
          ? [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true] : nil, properties: properties)
      let collector = Collector()
      var time = CMTime.zero
      for index in 0..<120 {
        let duration = CMTime(value: (40..<80).contains(index) ? 3 : 1, timescale: 30)
        try check(
          VTCompressionSessionEncodeFrame(
            session, imageBuffer: clip.buffer(index), presentationTimeStamp: time, duration: duration,
            frameProperties: nil, infoFlagsOut: nil
          ) { status, flags, sample in collector.add(status, flags, sample) }, "frame \(index)")
        time = time + duration
      }
      try check(
        VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
      let samples = collector.samples
      #expect(samples.count == 120)
      let bytes = samples.reduce(0) { $0 + CMSampleBufferGetTotalSampleSize($1) }
      let rate = Double(bytes) * 8 / time.seconds
      #expect(rate < 500_000 * 1.15 && rate > 500_000 * 0.6, "\(rate)")
      // Where the pace changed, and at the beginning.
      #expect(samples.count { $0.isSync } <= 6, "\(samples.count { $0.isSync })")
      let fullest = RateMeasure(samples, frameDuration: 1.0 / 30).windows(of: 1).max() ?? 0
      #expect(fullest <= 94_000 * 115 / 100, "\(fullest)")
    }

    @Test(
      "A limit holds where a property begins a new stream of libx265", arguments: [true, false])
    func aLimitHoldsWhereAPropertyBeginsANewStreamOfLibx265(byThreads: Bool) throws {
      let session = try makeSession(
        kCMVideoCodecType_HEVC,
        properties: [
          kVTCompressionPropertyKey_ExpectedFrameRate: 30,
          kVTCompressionPropertyKey_AverageBitRate: 500_000,
          kVTCompressionPropertyKey_DataRateLimits: [94_000, 1] as NSArray,
        ])
      let samples = try encode(session, TestClip(noise: 20), count: 90) { frame in
        if frame == 40 || frame == 60 {
          let key =
            byThreads ? kOVTCompressionPropertyKey_ThreadCount : kVTCompressionPropertyKey_MaxKeyFrameInterval
          let value = byThreads ? frame / 20 - 1 : frame * 10
          #expect(VTSessionSetProperty(session, key: key, value: NSNumber(value: value)) == noErr)
        }
        return nil
      }
      #expect(samples.count == 90)
      let fullest = RateMeasure(samples, frameDuration: 1.0 / 30).windows(of: 1).max() ?? 0
      #expect(fullest <= 94_000 * 115 / 100, "\(fullest)")
    }

    @Test("A new libx265 stream reorders no more than the first, whose decode times go on")
    func aNewLibx265StreamReordersNoMoreThanTheFirst() throws {
      let session = try makeSession(
        kCMVideoCodecType_HEVC,
        properties: [
          kVTCompressionPropertyKey_AverageBitRate: 500_000, kVTCompressionPropertyKey_RealTime: true,
        ])
      let samples = try encode(session, TestClip(), count: 60) { frame in
        if frame == 10 {
          #expect(
            VTSessionSetProperty(session, key: kVTCompressionPropertyKey_RealTime, value: kCFBooleanFalse)
              == noErr)
        }
        return nil
      }
      let times = samples.map(\.presentationTimeStamp)
      #expect(times.count == 60 && zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test(
      "A change of a property that is not signalled in the stream causes no key frame with libx265 in low-latency mode"
    )
    func whatTheStreamDoesNotHoldMakesNoKeyFrameWithLibx265() throws {
      let session = try makeSession(
        kCMVideoCodecType_HEVC,
        specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true],
        properties: [kVTCompressionPropertyKey_AverageBitRate: 500_000])
      let samples = try encode(session, TestClip(), count: 12) { frame in
        if frame == 6 {
          let aperture: NSDictionary = [
            kCVImageBufferCleanApertureWidthKey: 300, kCVImageBufferCleanApertureHeightKey: 200,
            kCVImageBufferCleanApertureHorizontalOffsetKey: 0,
            kCVImageBufferCleanApertureVerticalOffsetKey: 0,
          ]
          #expect(
            VTSessionSetProperty(session, key: kVTCompressionPropertyKey_CleanAperture, value: aperture)
              == noErr)
        }
        return nil
      }
      #expect(samples.count { $0.isSync } == 1)
    }
  #endif

  @Test(
    "PrioritizeEncodingSpeedOverQuality set to false gives smaller frames than true in the low-latency mode, and the default is neither"
  )
  func qualityBeforeSpeedIsMoreWorkThanNeither() throws {
    var sizes: [Int] = []
    for requested in [true, nil, false] as [Bool?] {
      let session = try makeSession(
        specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true],
        properties: [kVTCompressionPropertyKey_Quality: 0.5, kOVTCompressionPropertyKey_ThreadCount: 1])
      if let requested {
        try check(
          VTSessionSetProperty(
            session, key: kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality,
            value: requested ? kCFBooleanTrue : kCFBooleanFalse), "preference")
      }
      let samples = try encode(session, TestClip(), count: 20)
      sizes.append(samples.reduce(0) { $0 + CMSampleBufferGetTotalSampleSize($1) })
    }
    #expect(Set(sizes).count == 3 && sizes[2] < sizes[0], "\(sizes)")
  }
}
