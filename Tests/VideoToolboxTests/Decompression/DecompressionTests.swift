// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Synchronization
import Testing
import TestSupport
import VideoToolbox

private let reordering = [
  "-c:v", "libx264", "-bf", "3", "-x264-params", "b-pyramid=normal:keyint=12:open-gop=1",
]
private let plain = ["-c:v", "libx264", "-bf", "0", "-g", "12"]
private let hevc = ["-c:v", "libx265", "-x265-params", "log-level=none:keyint=12", "-tag:v", "hvc1"]
private let hevc10 = ["-pix_fmt", "yuv420p10"] + hevc

@Suite(.enabled(if: SampleMovie.isAvailable)) struct DecompressionTests {
  /// Each frame is output when the call returns, in decode order, and equals ffmpeg's.
  @Test(arguments: [
    (plain, kCMVideoCodecType_H264, "yuv420p"), (reordering, kCMVideoCodecType_H264, "yuv420p"),
    (hevc, kCMVideoCodecType_HEVC, "yuv420p"), (hevc10, kCMVideoCodecType_HEVC, "yuv420p10le"),
  ]) func synchronousFramesAreThereWhenTheCallReturns(
    encoding: [String], codec: CMVideoCodecType, pixelFormat: String
  ) throws {
    let movie = try SampleMovie(encoding, codec: codec, pixelFormat: pixelFormat)
    let session = try makeDecoder(movie.format)
    let collector = ImageCollector()
    for (index, sample) in movie.samples.enumerated() {
      var info: VTDecodeInfoFlags = .frameDropped
      try check(
        VTDecompressionSessionDecodeFrame(
          session, sampleBuffer: sample, flags: [], infoFlagsOut: &info, outputHandler: collector.add),
        "decode")
      #expect(collector.count == index + 1)
      #expect(!info.contains(.asynchronous) && !info.contains(.frameDropped))
      let entry = try #require(collector.all.last)
      #expect(entry.status == noErr)
      #expect(entry.time == sample.presentationTimeStamp)
      #expect(entry.duration == CMTime(value: 1, timescale: 25))
    }
    for (place, index) in movie.presentationOrder.enumerated() {
      let image = try #require(collector.all[index].image)
      let isSame = planar(image) == movie.reference[place]
      #expect(isSame, "frame \(place)")
    }
    let expected =
      pixelFormat == "yuv420p"
      ? kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange : kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
    #expect(CVPixelBufferGetPixelFormatType(collector.images[0]) == expected)
  }

  @Test(arguments: [
    VTDecodeFrameFlags._EnableAsynchronousDecompression,
    [._EnableAsynchronousDecompression, ._EnableTemporalProcessing], ._EnableTemporalProcessing,
    [._EnableAsynchronousDecompression, ._1xRealTimePlayback],
  ]) func framesComeInTheOrderAskedFor(flags: VTDecodeFrameFlags) throws {
    let movie = try SampleMovie(reordering, seconds: 2)
    let session = try makeDecoder(movie.format)
    let collector = try decode(session, movie.samples, flags)
    try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
    #expect(collector.count == movie.samples.count)
    // Playback at the pace of the clock alone does not reorder.
    let isPresentation = flags.contains(._EnableTemporalProcessing)
    let times = movie.samples.map(\.presentationTimeStamp)
    #expect(collector.times == (isPresentation ? times.sorted() : times))
    let sorted = collector.all.sorted { $0.time < $1.time }
    for (place, entry) in sorted.enumerated() {
      let isSame = try planar(#require(entry.image)) == movie.reference[place]
      #expect(isSame, "frame \(place)")
    }
  }

  /// Clients that wait for frames in the middle of a stream, in whatever way, lose nothing.
  @Test(arguments: 0..<6) func waitingInTheMiddleLosesNothing(way: Int) throws {
    let movie = try SampleMovie(reordering, seconds: 2)
    let session = try makeDecoder(movie.format, properties: [kVTDecompressionPropertyKey_ThreadCount: 3])
    let collector = ImageCollector()
    for (index, sample) in movie.samples.enumerated() {
      var flags: VTDecodeFrameFlags = ._EnableAsynchronousDecompression
      switch way {
      case 0: if index % 7 == 6 { flags = [] }
      case 1: if index >= 20 { flags = [] }
      case 2: flags = index < 20 ? [] : flags
      case 3: flags = index < 17 ? [._EnableTemporalProcessing, ._EnableAsynchronousDecompression] : []
      default: break
      }
      try decode(session, [sample], flags, into: collector)
      if way == 4 { try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait") }
      if way == 5, index % 9 == 8 { try check(VTDecompressionSessionFinishDelayedFrames(session), "finish") }
      if way == 4 { #expect(collector.count == index + 1) }
    }
    try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
    #expect(collector.count == movie.samples.count)
    if way != 3 { #expect(collector.times == movie.samples.map(\.presentationTimeStamp)) }
    for (place, entry) in collector.all.sorted(by: { $0.time < $1.time }).enumerated() {
      let isSame = entry.image.map { planar($0) == movie.reference[place] } ?? false
      #expect(isSame, "frame \(place)")
    }
  }

  /// A client that sends one frame and waits for its handler gets it.
  @Test func aFrameComesWithoutFurtherFrames() throws {
    let movie = try SampleMovie(plain)
    let session = try makeDecoder(movie.format)
    for sample in movie.samples.prefix(4) {
      let done = DispatchSemaphore(value: 0)
      try check(
        VTDecompressionSessionDecodeFrame(
          session, sampleBuffer: sample, flags: ._EnableAsynchronousDecompression, infoFlagsOut: nil
        ) { status, _, image, _, _ in
          #expect(status == noErr && image != nil)
          done.signal()
        }, "decode")
      #expect(waitForSignal(done))
    }
  }

  /// A slow callback holds the caller up: never more frames wait than the session takes.
  @Test func aSlowCallbackHoldsTheCallerUp() throws {
    let movie = try SampleMovie(plain, seconds: 2.4)
    let session = try makeDecoder(movie.format)
    let maximum = Mutex(0)
    let collector = ImageCollector()
    for sample in movie.samples {
      try check(
        VTDecompressionSessionDecodeFrame(
          session, sampleBuffer: sample, flags: ._EnableAsynchronousDecompression, infoFlagsOut: nil
        ) { status, flags, image, time, duration in
          letOthersRun(turns: 2000)
          collector.add(status, flags, nil, time, duration)
        }, "decode")
      var waiting: CFNumber?
      try check(
        VTSessionCopyProperty(
          session, key: kVTDecompressionPropertyKey_NumberOfFramesBeingDecoded, allocator: nil,
          valueOut: &waiting),
        "count")
      let count = waiting?.intValue ?? 0
      maximum.withLock { $0 = max($0, count) }
    }
    try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
    #expect(collector.count == movie.samples.count)
    let limit = maximum.withLock { $0 }
    #expect(limit > 1 && limit <= 8 + 18 + 3, "\(limit)")
  }

  @Test func theCallbackRecordAndRefconsArePassedThrough() throws {
    let movie = try SampleMovie(plain, seconds: 0.2, reference: false)
    let box = UnsafeMutablePointer<Int>.allocate(capacity: 2)
    box.initialize(repeating: 0, count: 2)
    defer { box.deallocate() }
    var record = VTDecompressionOutputCallbackRecord(
      decompressionOutputCallback: { refcon, frameRefcon, status, _, image, time, _ in
        #expect(status == noErr && image != nil && time.isNumeric)
        refcon?.assumingMemoryBound(to: Int.self).pointee += 1
        frameRefcon?.assumingMemoryBound(to: Int.self).pointee += 10
      }, decompressionOutputRefCon: box)
    var created: VTDecompressionSession?
    try check(
      VTDecompressionSessionCreate(
        allocator: nil, formatDescription: movie.format, decoderSpecification: nil,
        imageBufferAttributes: nil,
        outputCallback: &record, decompressionSessionOut: &created), "create")
    let session = try #require(created)
    for sample in movie.samples {
      try check(
        VTDecompressionSessionDecodeFrame(
          session, sampleBuffer: sample, flags: [], frameRefcon: box + 1, infoFlagsOut: nil), "decode")
    }
    #expect(box[0] == movie.samples.count && box[1] == 10 * movie.samples.count)
    #expect(
      VTDecompressionSessionDecodeFrame(
        session, sampleBuffer: movie.samples[0], flags: [], infoFlagsOut: nil,
        outputHandler: { _, _, _, _, _ in })
        == kVTParameterErr)
    let other = try makeDecoder(movie.format)
    #expect(
      VTDecompressionSessionDecodeFrame(
        other, sampleBuffer: movie.samples[0], flags: [], frameRefcon: nil, infoFlagsOut: nil)
        == kVTParameterErr)
  }

  @Test func framesThatAreNotToBeOutputHaveNoImage() throws {
    let movie = try SampleMovie(plain)
    let session = try makeDecoder(movie.format)
    let hidden = try decode(session, Array(movie.samples.prefix(5)), ._DoNotOutputFrame)
    #expect(hidden.count == 5 && hidden.images.isEmpty && hidden.all.allSatisfy { $0.status == noErr })
    let shown = try decode(session, Array(movie.samples.dropFirst(5)))
    let isSame = planar(shown.images[0]) == movie.reference[5]
    #expect(isSame)
  }

  @Test func anInvalidSessionRefusesEverything() throws {
    let movie = try SampleMovie(plain, seconds: 0.2, reference: false)
    let session = try makeDecoder(movie.format)
    VTDecompressionSessionInvalidate(session)
    VTDecompressionSessionInvalidate(session)
    let collector = ImageCollector()
    #expect(
      VTDecompressionSessionDecodeFrame(
        session, sampleBuffer: movie.samples[0], flags: [], infoFlagsOut: nil, outputHandler: collector.add)
        == kVTInvalidSessionErr)
    #expect(VTDecompressionSessionFinishDelayedFrames(session) == kVTInvalidSessionErr)
    #expect(VTDecompressionSessionWaitForAsynchronousFrames(session) == kVTInvalidSessionErr)
    #expect(
      VTSessionSetProperty(session, key: kVTDecompressionPropertyKey_RealTime, value: kCFBooleanTrue)
        == kVTInvalidSessionErr)
    #expect(!VTDecompressionSessionCanAcceptFormatDescription(session, formatDescription: movie.format))
    #expect(collector.count == 0)
  }

  /// Calls from inside of a handler do not block each other.
  @Test(.timeLimit(.minutes(HangLimit.minutes))) func callsFromTheHandlerDoNotBlock() throws {
    let movie = try SampleMovie(plain)
    let session = try makeDecoder(movie.format)
    let collector = ImageCollector()
    let rest = Mutex(Array(movie.samples.dropFirst()))
    @Sendable func next(_ flags: VTDecodeFrameFlags) {
      let sample = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      guard let sample else { return }
      let status = VTDecompressionSessionDecodeFrame(
        session, sampleBuffer: sample, flags: flags, infoFlagsOut: nil
      ) { status, info, image, time, duration in
        collector.add(status, info, image, time, duration)
        _ = VTDecompressionSessionWaitForAsynchronousFrames(session)
        next(flags.isEmpty ? ._EnableAsynchronousDecompression : [])
      }
      #expect(status == noErr)
    }
    try check(
      VTDecompressionSessionDecodeFrame(
        session, sampleBuffer: movie.samples[0], flags: ._EnableAsynchronousDecompression, infoFlagsOut: nil
      ) { status, info, image, time, duration in
        collector.add(status, info, image, time, duration)
        next([])
      }, "decode")
    blockUntil { collector.count >= movie.samples.count }
    #expect(collector.times == movie.samples.map(\.presentationTimeStamp))
  }
}
