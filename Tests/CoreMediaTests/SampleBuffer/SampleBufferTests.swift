// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

private func time(_ value: Int64, _ scale: Int32 = 600) -> CMTime { CMTime(value: value, timescale: scale) }

private func timing(_ pts: Int64, _ duration: Int64 = 20, dts: Int64? = nil) -> CMSampleTimingInfo {
  CMSampleTimingInfo(
    duration: time(duration), presentationTimeStamp: time(pts),
    decodeTimeStamp: dts.map { time($0) } ?? .invalid)
}

private func block(_ bytes: [UInt8]) throws -> CMBlockBuffer {
  let buffer = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
  try bytes.withUnsafeBytes { try buffer.replaceDataBytes(with: $0) }
  return buffer
}

private func code(_ body: () throws -> Void) -> Int {
  do {
    try body()
    return 0
  } catch {
    let error = error as NSError
    return error.domain == NSOSStatusErrorDomain ? error.code : 1
  }
}

/// The data of a sample buffer.
private func bytes(_ sample: CMSampleBuffer) throws -> [UInt8] {
  [UInt8](try sample.dataBuffer?.dataBytes() ?? Data())
}

private func format() throws -> CMFormatDescription {
  try CMFormatDescription(videoCodecType: .h264, width: 64, height: 48)
}

/// Calls a function when it is let go.
private final class Ending: NSObject {
  private let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
  deinit { body() }
}

@Suite struct SampleBufferTests {
  @Test func oneEntryAppliesToAllSamples() throws {
    var sample: CMSampleBuffer?
    var entry = timing(100, 20, dts: 60)
    var size = 3
    #expect(
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: try block(Array(0..<12)), formatDescription: try format(), sampleCount: 4,
        sampleTimingEntryCount: 1, sampleTimingArray: &entry, sampleSizeEntryCount: 1, sampleSizeArray: &size,
        sampleBufferOut: &sample) == noErr)
    let buffer = try #require(sample)
    #expect(
      buffer.numSamples == 4 && buffer.duration == time(80) && buffer.presentationTimeStamp == time(100))
    #expect(buffer.decodeTimeStamp == time(60))
    #expect(try buffer.sampleTimingInfo(at: 3).presentationTimeStamp == time(160))
    #expect(try buffer.sampleTimingInfo(at: 3).decodeTimeStamp == time(120))
    #expect(try buffer.sampleTimingInfos().count == 1 && buffer.sampleSizes() == [3])
    #expect(buffer.totalSampleSize == 12 && buffer.sampleSize(at: 3) == 3 && buffer.sampleSize(at: 4) == 0)
    #expect(CMSampleBufferDataIsReady(buffer) && buffer.isValid)
    var needed = 0
    #expect(
      CMSampleBufferGetSampleTimingInfoArray(
        buffer, entryCount: 0, arrayToFill: nil, entriesNeededOut: &needed) == 0)
    #expect(needed == 1)
    #expect(
      CMSampleBufferGetSampleTimingInfoArray(
        buffer, entryCount: 0, arrayToFill: &entry, entriesNeededOut: &needed)
        == kCMSampleBufferError_ArrayTooSmall)
  }

  @Test func eachSampleHasItsEntry() throws {
    let buffer = try CMSampleBuffer(
      dataBuffer: block(Array(0..<6)), formatDescription: format(), numSamples: 3,
      sampleTimings: [timing(40, 20, dts: 0), timing(0, 20, dts: 20), timing(20, 10, dts: 40)],
      sampleSizes: [1, 2, 3])
    #expect(buffer.presentationTimeStamp == time(0) && buffer.decodeTimeStamp == time(0))
    #expect(buffer.duration == time(50) && buffer.totalSampleSize == 6)
    #expect(try buffer.sampleSizes() == [1, 2, 3])
    let parts = Array(try buffer.singleSampleBuffers())
    #expect(parts.map(\.presentationTimeStamp) == [time(40), time(0), time(20)])
    #expect(try parts.map(bytes) == [[0], [1, 2], [3, 4, 5]])
    let range = try CMSampleBuffer(copying: buffer, forRange: 1..<3)
    #expect(range.numSamples == 2 && range.presentationTimeStamp == time(0))
    #expect(try bytes(range) == [1, 2, 3, 4, 5])
    // The part shares the memory.
    try range.dataBuffer?.fillDataBytes(with: 9)
    #expect(try bytes(buffer) == [0, 9, 9, 9, 9, 9])
  }

  @Test func badEntriesAreErrors() throws {
    func create(_ samples: Int, _ timings: [CMSampleTimingInfo], _ sizes: [Int]) -> Int {
      code {
        _ = try CMSampleBuffer(
          dataBuffer: nil, formatDescription: nil, numSamples: samples, sampleTimings: timings,
          sampleSizes: sizes)
      }
    }
    #expect(create(3, [timing(0), timing(1)], []) == Int(kCMSampleBufferError_InvalidEntryCount))
    #expect(create(3, [], [1, 2]) == Int(kCMSampleBufferError_InvalidEntryCount))
    #expect(create(-1, [], []) == Int(kCMSampleBufferError_InvalidEntryCount))
    #expect(create(1, [], [-1]) == Int(kCMSampleBufferError_InvalidSampleData))
    #expect(create(0, [], []) == 0 && create(0, [timing(0)], []) == 0)
    var sample: CMSampleBuffer?
    #expect(
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: nil, formatDescription: nil, sampleCount: 1, sampleTimingEntryCount: 1,
        sampleTimingArray: nil, sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &sample)
        == kCMSampleBufferError_RequiredParameterMissing)

    let bare = try CMSampleBuffer(
      dataBuffer: block([1, 2]), formatDescription: nil, numSamples: 2, sampleTimings: [], sampleSizes: [])
    #expect(!bare.presentationTimeStamp.isValid && !bare.duration.isValid)
    #expect(
      code { _ = try bare.sampleTimingInfos() } == Int(kCMSampleBufferError_BufferHasNoSampleTimingInfo))
    #expect(code { _ = try bare.sampleSizes() } == Int(kCMSampleBufferError_BufferHasNoSampleSizes))
    #expect(code { _ = try bare.sampleTimingInfo(at: 2) } == Int(kCMSampleBufferError_SampleIndexOutOfRange))
    #expect(
      code { _ = try CMSampleBuffer(copying: bare, forRange: 0..<1) }
        == Int(kCMSampleBufferError_BufferHasNoSampleSizes))
    #expect(
      code { _ = try CMSampleBuffer(copying: bare, forRange: 1..<3) }
        == Int(kCMSampleBufferError_SampleIndexOutOfRange))
    var part: CMSampleBuffer?
    for (location, length) in [(0, 0), (-1, 1), (2, 1), (1, .max), (.max, .max)] {
      #expect(
        CMSampleBufferCopySampleBufferForRange(
          allocator: nil, sampleBuffer: bare, sampleRange: CFRange(location: location, length: length),
          sampleBufferOut: &part) == kCMSampleBufferError_SampleIndexOutOfRange)
    }
    // Sizes that say more than there is.
    let short = try CMSampleBuffer(
      dataBuffer: block([1, 2]), formatDescription: nil, numSamples: 2, sampleTimings: [],
      sampleSizes: [1, .max])
    #expect(
      code { _ = try CMSampleBuffer(copying: short, forRange: 1..<2) }
        == Int(kCMSampleBufferError_InvalidSampleData))
    #expect(short.totalSampleSize == 0)
  }

  @Test func dataThatComesLaterMakesTheBufferReady() throws {
    let data = try block([1, 2, 3])
    let calls = Guarded(0)
    let late = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: format(), numSamples: 1, sampleTimings: [timing(0)],
      sampleSizes: [3],
      makeDataReadyHandler: { buffer in
        calls.withLock { $0 += 1 }
        return CMSampleBufferSetDataBuffer(buffer, newValue: data)
      })
    #expect(late.dataReadiness == .notReady)
    let copy = try CMSampleBuffer(copying: late)
    #expect(copy.dataReadiness == .notReady)
    try copy.makeDataReady()
    #expect(late.dataReadiness == .ready && copy.dataReadiness == .ready && late.dataBuffer === data)
    try late.makeDataReady()
    #expect(calls.withLock { $0 } == 1)
    #expect(code { try late.setDataBuffer(data) } == Int(kCMSampleBufferError_AlreadyHasDataBuffer))

    let bad = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: nil, numSamples: 1, sampleTimings: [], sampleSizes: [],
      makeDataReadyHandler: { _ in -77 })
    #expect(code { try bad.makeDataReady() } == -77)
    #expect(CMSampleBufferSetDataFailed(bad, status: -5) == 0)
    var status: OSStatus = 0
    #expect(CMSampleBufferHasDataFailed(bad, statusOut: &status) && status == -5)
    #expect(bad.dataReadiness == .failed(-5))
    #expect(code { try bad.makeDataReady() } == Int(kCMSampleBufferError_DataFailed))

    var never: CMSampleBuffer?
    #expect(
      CMSampleBufferCreate(
        allocator: nil, dataBuffer: nil, dataReady: false, makeDataReadyCallback: nil, refcon: nil,
        formatDescription: nil, sampleCount: 1, sampleTimingEntryCount: 0, sampleTimingArray: nil,
        sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &never) == 0)
    let waiting = try #require(never)
    #expect(CMSampleBufferMakeDataReady(waiting) == kCMSampleBufferError_BufferNotReady)
    #expect(CMSampleBufferTrackDataReadiness(waiting, sampleBufferToTrack: waiting) < 0)
    #expect(CMSampleBufferTrackDataReadiness(waiting, sampleBufferToTrack: late) == 0)
    #expect(CMSampleBufferDataIsReady(waiting))
  }

  @Test func readinessAndFailureArePosted() throws {
    let buffer = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: nil, numSamples: 0, sampleTimings: [], sampleSizes: [],
      makeDataReadyHandler: { _ in 0 })
    let seen = Guarded<[String]>([])
    let tokens = [CMSampleBuffer.dataBecameReady, CMSampleBuffer.dataFailed].map { name in
      NotificationCenter.default.addObserver(forName: name, object: buffer, queue: nil) { notification in
        let status = notification.userInfo?["OSStatus"] as? Int
        seen.withLock { $0.append(name == CMSampleBuffer.dataFailed ? "failed \(status ?? 0)" : "ready") }
      }
    }
    try buffer.setDataReadiness(.failed(-3))
    try buffer.setDataReadiness(.ready)
    #expect(seen.withLock { $0 } == ["failed -3", "ready"])
    tokens.forEach(NotificationCenter.default.removeObserver)
  }

  @Test func invalidationCallsBackOnce() throws {
    let calls = Guarded<[UInt64]>([])
    let buffer = try CMSampleBuffer(
      dataBuffer: block([1]), formatDescription: format(), numSamples: 1, sampleTimings: [timing(0)],
      sampleSizes: [1])
    #expect(
      CMSampleBufferSetInvalidateCallback(
        buffer, callback: { sample, refcon in calls.withLock { $0.append(refcon) } }, refcon: 42) == 0)
    try buffer.invalidate()
    try buffer.invalidate()
    #expect(calls.withLock { $0 } == [42])
    #expect(!buffer.isValid && buffer.dataBuffer == nil)
    let invalid = Int(kCMSampleBufferError_Invalidated)
    #expect(code { try buffer.setDataBuffer(try block([2])) } == invalid)
    #expect(code { try buffer.makeDataReady() } == invalid)
    #expect(code { _ = try CMSampleBuffer(copying: buffer) } == invalid)
    #expect(code { _ = try buffer.sampleTimingInfo(at: 0) } == invalid)
    #expect(code { try buffer.setInvalidateHandler { _ in } } == invalid)
  }

  @Test func attachmentsOfSamplesAreChangedInPlace() throws {
    let buffer = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: nil, numSamples: 2, sampleTimings: [timing(0)], sampleSizes: [])
    #expect(CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false) == nil)
    #expect(buffer.sampleAttachments[0][.notSync] == nil)
    #expect(CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false) == nil)
    buffer.sampleAttachments[1][.notSync] = true
    #expect(buffer.sampleAttachments[1][.notSync] as? Bool == true)
    #expect(buffer.sampleAttachments[0][.notSync] == nil && buffer.sampleAttachments.count == 2)

    let array = try #require(CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: true))
    #expect(array.count == 2)
    let dictionary = unsafeBitCast(CFArrayGetValueAtIndex(array, 0), to: CFMutableDictionary.self)
    CFDictionarySetValue(
      dictionary, Unmanaged.passUnretained(kCMSampleAttachmentKey_DisplayImmediately).toOpaque(),
      Unmanaged.passUnretained(kCFBooleanTrue).toOpaque())
    #expect(buffer.sampleAttachments[0][.displayImmediately] as? Bool == true)
    #expect((array as? [CFMutableDictionary])?.first === dictionary)
    let swift = try #require(array as? [[CFString: Any]])
    #expect(swift[1][kCMSampleAttachmentKey_NotSync] as? Bool == true)
    #expect((array as NSArray as? [[String: Any]])?[0]["DisplayImmediately"] as? Bool == true)

    let copy = try CMSampleBuffer(copying: buffer, forRange: 0..<2)
    copy.sampleAttachments[0][.displayImmediately] = nil
    copy.sampleAttachments[0][.doNotDisplay] = 1
    #expect(buffer.sampleAttachments[0][.displayImmediately] as? Bool == true)
    #expect(buffer.sampleAttachments[0][.doNotDisplay] == nil)
    #expect(copy.sampleAttachments[0].map(\.key) == [.doNotDisplay])
    buffer.sampleAttachments = copy.sampleAttachments
    #expect(buffer.sampleAttachments[0][.displayImmediately] == nil)
    #expect(buffer.sampleAttachments[1][.notSync] as? Bool == true)
  }

  @Test func attachmentsOfTheBufferArePropagatedByMode() throws {
    let buffer = try CMSampleBuffer(
      dataBuffer: block([1]), formatDescription: format(), numSamples: 1, sampleTimings: [timing(0)],
      sampleSizes: [1])
    buffer.attachments[.forceKeyFrame] = .shouldPropagate(true)
    CMSetAttachment(
      buffer, key: kCMSampleBufferAttachmentKey_TransitionID, value: 5 as CFNumber,
      attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    let copy = try CMSampleBuffer(copying: buffer)
    #expect(copy.attachments[.forceKeyFrame]?.value as? Bool == true)
    #expect(copy.attachments[.transitionID] == nil)
    var mode: CMAttachmentMode = 99
    #expect(CMGetAttachment(buffer, key: "TransitionID" as CFString, attachmentModeOut: &mode) as? Int == 5)
    #expect(mode == kCMAttachmentMode_ShouldNotPropagate)
    CMRemoveAttachment(buffer, key: kCMSampleBufferAttachmentKey_TransitionID)
    #expect(CMGetAttachment(buffer, key: "TransitionID" as CFString, attachmentModeOut: nil) == nil)
    #expect(
      CMCopyDictionaryOfAttachments(
        allocator: nil, target: buffer, attachmentMode: kCMAttachmentMode_ShouldNotPropagate) == nil)
    buffer.attachments.merge(["x": 1, "y": "z"], mode: .shouldPropagate)
    #expect(buffer.attachments.propagated.count == 3)

    // To a picture and back.
    let picture = try makePixels(16, 16, kCVPixelFormatType_32BGRA)
    CMPropagateAttachments(buffer, destination: picture)
    #expect(picture.attachments["y"]?.value as? String == "z")
    #expect(CMGetAttachment(picture, key: "x" as CFString, attachmentModeOut: nil) as? Int == 1)
    buffer.attachments.removeAll()
    picture.propagateAttachments(to: buffer)
    #expect(buffer.attachments.propagated.count == 3)
    // No bearer at all: nothing happens.
    CMSetAttachment("text" as CFString, key: "x" as CFString, value: 1 as CFNumber, attachmentMode: 1)
    #expect(CMGetAttachment("text" as CFString, key: "x" as CFString, attachmentModeOut: nil) == nil)
  }

  @Test func outputTimesFollowTrimAndSpeed() throws {
    let buffer = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: nil, numSamples: 4, sampleTimings: [timing(1000, 100, dts: 900)],
      sampleSizes: [])
    #expect(buffer.outputPresentationTimeStamp == time(1000) && buffer.outputDuration == time(400))
    func attach(_ key: CFString, _ value: CFTypeRef) {
      CMSetAttachment(buffer, key: key, value: value, attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    }
    attach(
      kCMSampleBufferAttachmentKey_TrimDurationAtStart, CMTimeCopyAsDictionary(time(50), allocator: nil)!)
    attach(kCMSampleBufferAttachmentKey_TrimDurationAtEnd, CMTimeCopyAsDictionary(time(150), allocator: nil)!)
    #expect(buffer.outputPresentationTimeStamp == time(1050) && buffer.outputDuration == time(200))
    #expect(buffer.outputDecodeTimeStamp == time(950))
    attach(kCMSampleBufferAttachmentKey_SpeedMultiplier, 2 as CFNumber)
    #expect(buffer.outputDuration == time(100))
    let infos = try buffer.outputSampleTimingInfos()
    #expect(infos.count == 1 && infos[0].duration == time(50) && infos[0].presentationTimeStamp == time(1025))
    attach(kCMSampleBufferAttachmentKey_Reverse, kCFBooleanTrue)
    #expect(buffer.outputPresentationTimeStamp == time(1250))
    let reversed = try buffer.outputSampleTimingInfos()
    #expect(reversed.map(\.presentationTimeStamp) == [time(1325), time(1275), time(1225), time(1175)])
    try buffer.setOutputPresentationTimeStamp(time(5000))
    #expect(buffer.outputPresentationTimeStamp == time(5000))
    #expect(try CMSampleBuffer(copying: buffer).outputPresentationTimeStamp == time(5000))
    let retimed = try CMSampleBuffer(copying: buffer, withNewTiming: [timing(7, 1)])
    #expect(retimed.outputPresentationTimeStamp == time(7) && retimed.duration == time(4))
    #expect(
      code { _ = try CMSampleBuffer(copying: buffer, withNewTiming: [timing(7), timing(8)]) }
        == Int(kCMSampleBufferError_InvalidEntryCount))
  }

  @Test func imageBuffersAreHeld() throws {
    let picture = try makePixels(64, 48, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    let description = try CMFormatDescription(imageBuffer: picture)
    let buffer = try CMSampleBuffer(
      imageBuffer: picture, formatDescription: description, sampleTiming: timing(3))
    #expect(buffer.imageBuffer === picture && buffer.numSamples == 1 && buffer.dataBuffer == nil)
    #expect(buffer.presentationTimeStamp == time(3))
    #expect(
      code {
        _ = try CMSampleBuffer(imageBuffer: picture, formatDescription: try format(), sampleTiming: timing(0))
      } == Int(kCMSampleBufferError_InvalidMediaFormat))
    #expect(
      code { try buffer.setDataBuffer(try block([1])) } == Int(kCMSampleBufferError_AlreadyHasDataBuffer))
    #expect(try CMSampleBuffer(copying: buffer, forRange: 0..<1).imageBuffer === picture)
    var copy: CMSampleBuffer?
    var moved = timing(9)
    #expect(
      CMSampleBufferCreateCopyWithNewTiming(
        allocator: nil, sampleBuffer: buffer, sampleTimingEntryCount: 1, sampleTimingArray: &moved,
        sampleBufferOut: &copy) == 0)
    #expect(copy?.presentationTimeStamp == time(9) && copy?.imageBuffer === picture)
  }

  @Test func samplesAreVisitedUntilAnError() throws {
    let buffer = try CMSampleBuffer(
      dataBuffer: block(Array(0..<6)), formatDescription: nil, numSamples: 3, sampleTimings: [timing(0)],
      sampleSizes: [2])
    var seen: [[UInt8]] = []
    #expect(
      CMSampleBufferCallBlockForEachSample(buffer) { sample, index in
        seen.append((try? sample.dataBuffer?.dataBytes()).map { [UInt8]($0) } ?? [])
        return index == 1 ? -9 : 0
      } == -9)
    #expect(seen == [[0, 1], [2, 3]])
    var count = 0
    #expect(
      withUnsafeMutablePointer(to: &count) {
        CMSampleBufferCallForEachSample(
          buffer,
          callback: { _, _, refcon in
            refcon!.assumingMemoryBound(to: Int.self).pointee += 1
            return 0
          }, refcon: $0)
      } == 0)
    #expect(count == 3)
    #expect(CFGetTypeID(buffer) == CMSampleBufferGetTypeID())
  }

  // MARK: - What clients gave may look at the buffer when it is let go

  @Test func attachedValuesMayCallBackWhenTheyEnd() throws {
    let sample = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: nil, numSamples: 1, sampleTimings: [], sampleSizes: [])
    let mode = kCMAttachmentMode_ShouldPropagate
    for bearer: CMAttachmentBearer in [sample, try block([1]), try block([2, 3])] {
      var ended = 0
      func value() -> Ending {
        Ending {
          if CMGetAttachment(bearer, key: "stays", attachmentModeOut: nil) == nil { ended += 1 }
        }
      }
      for _ in 0..<2 { CMSetAttachment(bearer, key: "a", value: value(), attachmentMode: mode) }
      CMSetAttachments(bearer, attachments: ["a": value()] as NSDictionary, attachmentMode: mode)
      CMRemoveAttachment(bearer, key: "a")
      CMSetAttachment(bearer, key: "a", value: value(), attachmentMode: mode)
      let other = try block([4])
      CMSetAttachment(other, key: "a", value: NSNumber(value: 5), attachmentMode: mode)
      CMPropagateAttachments(other, destination: bearer)
      #expect(CMGetAttachment(bearer, key: "a", attachmentModeOut: nil) as? NSNumber == 5)
      CMSetAttachment(bearer, key: "a", value: value(), attachmentMode: mode)
      CMRemoveAllAttachments(bearer)
      #expect(ended == 5)
    }
  }

  @Test func dataAndHandlersMayCallBackWhenTheyEnd() throws {
    weak var made: CMSampleBuffer?
    var seen: [String] = []
    func ending(_ name: String) -> Ending {
      Ending { if let made { seen.append("\(name) \(made.isValid) \(made.dataBuffer == nil)") } }
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 16)
    let sample = try { [readying = ending("readying")] in
      try CMSampleBuffer(
        dataBuffer: try CMBlockBuffer(
          buffer: memory,
          deallocator: { pointer, _ in
            pointer.deallocate()
            if let made { seen.append("data \(made.isValid) \(made.dataBuffer == nil)") }
          }), formatDescription: nil, numSamples: 1, sampleTimings: [], sampleSizes: [4]
      ) { _ in withExtendedLifetime(readying) { noErr } }
    }()
    made = sample
    for name in ["first", "second"] {
      let held = ending(name)
      try sample.setInvalidateHandler { _ in withExtendedLifetime(held) { seen.append("called " + name) } }
    }
    #expect(seen == ["first true false"])
    try sample.setDataReadiness(.ready)
    #expect(seen == ["first true false", "readying true false"])
    seen = []
    try sample.invalidate()
    #expect(seen == ["data false true", "called second", "second false true"])
  }
}
