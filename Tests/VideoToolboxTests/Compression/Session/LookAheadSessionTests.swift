// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import TestSupport
import VideoToolbox

/// Sessions with the package's own encoder that may wait: B pictures, constant rates, two passes.
@Suite(.serialized) struct LookAheadSessionTests {
  private static let encoderID = "org.openvideotoolbox.videoencoder.h264"
  private static let clip = TestClip(width: 320, height: 192, noise: 12, cutEvery: 40)

  private static func session(_ properties: [CFString: Any]) throws -> VTCompressionSession {
    var session: VTCompressionSession?
    try check(
      VTCompressionSessionCreate(
        allocator: nil, width: Int32(clip.width), height: Int32(clip.height),
        codecType: kCMVideoCodecType_H264,
        encoderSpecification: [kVTVideoEncoderSpecification_EncoderID: encoderID] as CFDictionary,
        imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
        compressionSessionOut: &session), "create")
    let made = try #require(session)
    for (key, value) in properties {
      try check(VTSessionSetProperty(made, key: key, value: value as CFTypeRef), "\(key)")
    }
    return made
  }

  @Test("Frames come in decode order, with decode times before presentation times", arguments: [true, false])
  func framesComeInDecodeOrder(_ allows: Bool) throws {
    let session = try Self.session([
      kVTCompressionPropertyKey_AverageBitRate: 400_000, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
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
    let probe = try StreamProbe(annexB(samples))
    #expect(probe.errors.isEmpty, "\(probe.errors)")
    #expect(probe.frames.count == 100)
    #expect(probe.number("has_b_frames") == (allows ? 2 : 0))
  }

  @Test(
    "Open groups begin with partial sync samples, closed ones with sync samples", arguments: [true, false])
  func openGroupsBeginWithPartialSyncSamples(_ allows: Bool) throws {
    let clip = TestClip(width: 320, height: 192, noise: 4)
    let session = try Self.session([
      kVTCompressionPropertyKey_AverageBitRate: 400_000, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
      kVTCompressionPropertyKey_MaxKeyFrameInterval: 12, kVTCompressionPropertyKey_AllowOpenGOP: allows,
    ])
    #expect((try property(session, kVTCompressionPropertyKey_AllowOpenGOP) as? NSNumber)?.boolValue == allows)
    let samples = try encode(session, clip, count: 48)
    let partial = samples.filter { $0.flag(kCMSampleAttachmentKey_PartialSync) == true }
    let sync = samples.filter(\.isSync)
    #expect(partial.map(\.presentationTimeStamp) == (allows ? [12, 24, 36] : []).map { clip.time($0) })
    #expect(sync.map(\.presentationTimeStamp) == (allows ? [0] : [0, 12, 24, 36]).map { clip.time($0) })
    for sample in partial {
      #expect(sample.flag(kCMSampleAttachmentKey_NotSync) == true)
      #expect(sample.flag(kCMSampleAttachmentKey_DependsOnOthers) == false)
      // A recovery point (6) without frames to wait for, in a message of one byte, and no IDR slice
      // (5).
      #expect(sample.nalUnits.contains { $0.prefix(3) == [6, 6, 1] && $0.count > 3 && $0[3] & 0x80 != 0 })
      #expect(sample.nalUnits.allSatisfy { $0[0] & 31 != 5 })
    }
    #expect(sync.allSatisfy { $0.nalUnits.contains { $0[0] & 31 == 5 } })
    let probe = try StreamProbe(annexB(samples))
    #expect(probe.errors.isEmpty, "\(probe.errors)")
    #expect(probe.frames.count == 48)
  }

  @Test("A real-time session has each frame at once, with a constant rate too")
  func aRealTimeSessionHasEachFrameAtOnce() throws {
    for constant in [false, true] {
      let session = try Self.session([
        kVTCompressionPropertyKey_RealTime: true, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
        constant
          ? kVTCompressionPropertyKey_ConstantBitRate : kVTCompressionPropertyKey_AverageBitRate: 400_000,
      ])
      let collector = Collector()
      _ = try encode(session, Self.clip, count: 60, complete: false, into: collector)
      // Nothing asks for them; a session that holds frames never gives the last ones.
      blockUntil { collector.samples.count >= 60 }
      let samples = collector.samples
      let shown = samples.map(\.presentationTimeStamp)
      #expect(shown == shown.sorted())
      #expect(shown.count == 60)
    }
  }

  @Test("A constant rate holds in every window", arguments: [true, false])
  func aConstantRateHoldsInEveryWindow(_ isRealTime: Bool) throws {
    let rate = 500_000.0
    let session = try Self.session([
      kVTCompressionPropertyKey_ConstantBitRate: Int(rate), kVTCompressionPropertyKey_ExpectedFrameRate: 30,
      kVTCompressionPropertyKey_RealTime: isRealTime,
    ])
    let samples = try encode(session, Self.clip, count: 150)
    let measure = RateMeasure(samples, frameDuration: 1.0 / 30)
    // In addition to the rate there is what the buffer of half a second held at first.
    #expect(abs(measure.bitRate / rate - 1) < 0.09)
    #expect(measure.windows(of: 1).allSatisfy { abs(Double($0) * 8 / rate - 1) < 0.5 })
    let probe = try StreamProbe(annexB(samples))
    #expect(probe.errors.isEmpty, "\(probe.errors)")
  }

  @Test("The decoder's buffer is in the stream where it is asked for", arguments: [0, 1, 2, 3])
  func theDecodersBufferIsInTheStreamWhereItIsAskedFor(_ kind: Int) throws {
    let rates: [CFString: Any] =
      switch kind {
      case 0: [kVTCompressionPropertyKey_ConstantBitRate: 500_000]
      case 1: [kVTCompressionPropertyKey_VariableBitRate: 400_000]
      case 2:
        [
          kVTCompressionPropertyKey_AverageBitRate: 400_000,
          kVTCompressionPropertyKey_DataRateLimits: [75_000, 1] as CFArray,
        ]
      default: [kVTCompressionPropertyKey_AverageBitRate: 400_000, kVTCompressionPropertyKey_RealTime: true]
      }
    let session = try Self.session(
      rates.merging([
        kOVTCompressionPropertyKey_WritesBufferTiming: true, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
        kVTCompressionPropertyKey_MaxKeyFrameInterval: 30,
      ]) { $1 })
    guard kind < 3 else {
      // There is no buffer that it could describe.
      #expect(VTCompressionSessionPrepareToEncodeFrames(session) == kVTParameterErr)
      return
    }
    let samples = try encode(session, Self.clip, count: 90)
    #expect(samples.count == 90)
    let stream = annexB(samples)
    let probe = try StreamProbe(stream)
    #expect(probe.errors.isEmpty, "\(probe.errors)")
    // The messages that ffmpeg reads: one description of the buffer, one period a key frame, a time
    // for each frame.
    let traced = try StreamProbe.trace(stream)
    let keyFrames = probe.keyFrames.count
    func count(_ name: String) -> Int { traced.count { $0.contains(name) } }
    #expect(count("Buffering Period") == keyFrames && keyFrames >= 3)
    #expect(count("Picture Timing") == 90)
    #expect(count("cbr_flag") >= 1 && count("cpb_removal_delay ") == 90)
  }

  @Test func onlyTheEngineThatLooksAheadDescribesABuffer() throws {
    var session: VTCompressionSession?
    try check(
      VTCompressionSessionCreate(
        allocator: nil, width: 320, height: 192, codecType: kCMVideoCodecType_H264,
        encoderSpecification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
          as CFDictionary,
        imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
        compressionSessionOut: &session), "create")
    #expect(
      VTSessionSetProperty(
        try #require(session), key: kOVTCompressionPropertyKey_WritesBufferTiming, value: kCFBooleanTrue)
        == kVTPropertyNotSupportedErr)
  }

  @Test("What needs a new stream is refused in the middle of a pass, and the pass continues")
  func aChangeThatNeedsANewStreamFailsWithinAPass() throws {
    let session = try Self.session([
      kVTCompressionPropertyKey_AverageBitRate: 300_000, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
    ])
    var made: VTMultiPassStorage?
    try check(
      VTMultiPassStorageCreate(
        allocator: nil, fileURL: nil, timeRange: .invalid, options: nil, multiPassStorageOut: &made),
      "storage")
    let storage = try #require(made)
    try check(
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage), "set")
    try check(VTCompressionSessionBeginPass(session, flags: [], nil), "begin")
    let collector = Collector()
    _ = try encode(session, Self.clip, count: 30, complete: false, into: collector)
    // Another look-ahead is another stream.
    let old = VTSessionSetProperty(
      session, key: kVTCompressionPropertyKey_SuggestedLookAheadFrameCount, value: 3 as CFTypeRef)
    try check(old, "look-ahead")
    let failed = Collector()
    _ = VTCompressionSessionEncodeFrame(
      session, imageBuffer: Self.clip.buffer(30), presentationTimeStamp: Self.clip.time(30),
      duration: Self.clip.frameDuration, frameProperties: nil, infoFlagsOut: nil
    ) { failed.add($0, $1, $2) }
    _ = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
    #expect(failed.all.map(\.status).allSatisfy { $0 != noErr })
    #expect(failed.samples.isEmpty)
    #expect(collector.samples.count == 30)
  }

  @Test("Two passes keep the rate within half a percent")
  func twoPassesKeepTheRateWithinHalfAPercent() throws {
    let rate = 300_000
    let session = try Self.session([
      kVTCompressionPropertyKey_AverageBitRate: rate, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
    ])
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
    #expect(abs(measure.bitRate / Double(rate) - 1) < 0.005, "\(measure.bitRate)")
  }

  @Test("What a storage keeps is a first pass for a session elsewhere: the same bits as from one session")
  func keptStatisticsAreAFirstPassForAnotherSession() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("pass")
    func storage(_ option: CFString, status: OSStatus = noErr) throws -> VTMultiPassStorage? {
      var made: VTMultiPassStorage?
      #expect(
        VTMultiPassStorageCreate(
          allocator: nil, fileURL: url as CFURL, timeRange: .invalid, options: [option: true] as CFDictionary,
          multiPassStorageOut: &made) == status)
      return made
    }
    func session(_ storage: VTMultiPassStorage?) throws -> VTCompressionSession {
      let storage = try #require(storage)
      let session = try Self.session([
        kVTCompressionPropertyKey_AverageBitRate: 300_000, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
      ])
      try check(
        VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage), "set")
      return session
    }
    func pass(_ session: VTCompressionSession, _ flags: VTCompressionSessionOptionFlags) throws -> [[UInt8]] {
      try check(VTCompressionSessionBeginPass(session, flags: flags, nil), "begin")
      let samples = try encode(session, Self.clip, count: 60)
      var more = DarwinBoolean(false)
      try check(VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &more, nil), "end")
      #expect(more.boolValue == flags.isEmpty)
      return samples.map(\.bytes)
    }
    #expect(
      try storage(kOVTMultiPassStorageCreationOption_ReadsExisting, status: kVTMultiPassStorageInvalidErr)
        == nil)
    let first = try storage(kVTMultiPassStorageCreationOption_DoNotDelete)
    let whole = try session(first)
    _ = try pass(whole, [])
    let wanted = try pass(whole, .beginFinalPass)
    VTCompressionSessionInvalidate(whole)
    #expect(VTMultiPassStorageClose(try #require(first)) == noErr)

    let kept = try Data(contentsOf: url)
    let second = try storage(kOVTMultiPassStorageCreationOption_ReadsExisting)
    let later = try session(second)
    #expect(try pass(later, .beginFinalPass) == wanted)
    #expect(VTMultiPassStorageClose(try #require(second)) == noErr)
    #expect(try Data(contentsOf: url) == kept, "what is read stays as it is")

    // A damaged file is not storage.
    for count in [kept.count / 2, 20] {
      try kept.prefix(count).write(to: url)
      let damaged = try session(storage(kOVTMultiPassStorageCreationOption_ReadsExisting))
      try check(VTCompressionSessionBeginPass(damaged, flags: .beginFinalPass, nil), "begin")
      let failed = Collector()
      let status = VTCompressionSessionEncodeFrame(
        damaged, imageBuffer: Self.clip.buffer(0), presentationTimeStamp: Self.clip.time(0),
        duration: Self.clip.frameDuration, frameProperties: nil, infoFlagsOut: nil
      ) { failed.add($0, $1, $2) }
      _ = VTCompressionSessionCompleteFrames(damaged, untilPresentationTimeStamp: .invalid)
      #expect(([status] + failed.all.map(\.status)).contains(kVTMultiPassStorageInvalidErr), "\(count) bytes")
    }
  }

  @Test("A level whose rates or pictures are too small is raised")
  func aLevelWhoseRatesOrPicturesAreTooSmallIsRaised() throws {
    let low = kVTProfileLevel_H264_Baseline_1_3
    // 300 macroblocks, 60 times a second; level 1.3 has 11,880.
    let session = try makeSession(
      kCMVideoCodecType_H264,
      properties: [
        kVTCompressionPropertyKey_ProfileLevel: low, kVTCompressionPropertyKey_ExpectedFrameRate: 60,
        kVTCompressionPropertyKey_AverageBitRate: 300_000,
      ])
    let samples = try encode(session, TestClip(), count: 5)
    #expect(samples.count == 5)
    let level = try #require(samples.first?.parameterSets.first?[3])
    #expect(level == 21)
    let large = try makeSession(
      kCMVideoCodecType_H264, width: 1280, height: 720,
      properties: [kVTCompressionPropertyKey_ProfileLevel: low])
    // 3,600 macroblocks in a picture, 30 times a second: level 3.1 is the lowest that holds them.
    let big = try encode(large, TestClip(width: 1280, height: 720), count: 2)
    #expect(try #require(big.first?.parameterSets.first?[3]) == 31)
  }

  @Test("In the low-latency mode a level that is too low is refused")
  func inTheLowLatencyModeALevelThatIsTooLowIsRefused() throws {
    let session = try makeSession(
      kCMVideoCodecType_H264, width: 1280, height: 720,
      specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true],
      properties: [kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_H264_Baseline_1_3])
    #expect(VTCompressionSessionPrepareToEncodeFrames(session) == kVTParameterErr)
  }

  @Test("Pictures beyond every level are encoded by another encoder, or rejected")
  func picturesBeyondEveryLevelAreAnotherEncodersOrNobodys() throws {
    do {
      let session = try makeSession(kCMVideoCodecType_H264, width: 8192, height: 8192)
      let id = try property(session, kVTCompressionPropertyKey_EncoderID) as? String
      #expect(id?.hasSuffix(".x264") == true)
    } catch let error as SessionError {
      #expect(error.status == kVTCouldNotFindVideoEncoderErr)
      #if X264
        Issue.record("libx264 takes them")
      #endif
    }
  }
}
