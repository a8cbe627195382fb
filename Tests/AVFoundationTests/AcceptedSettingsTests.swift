// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// Settings and calls that have their effect together with others, or are rejected, but never
/// ignored.
@Suite(.serialized) struct AcceptedSettingsTests {
  private let scratch = Scratch()

  private static func seconds(_ value: Double) -> CMTime { CMTime(seconds: value, preferredTimescale: 600) }
  private static var bgra: [String: Any] {
    [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
  }

  // MARK: - Reading

  @Test func coloursStayBesideAFieldMode() throws {
    let path = try Fixture.make(
      "accepted-bt709.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=0.2", "-pix_fmt", "yuv420p", "-c:v",
        "libx264", "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    var settings: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar,
      AVVideoColorPropertiesKey: [
        AVVideoColorPrimariesKey: AVVideoColorPrimaries_ITU_R_709_2,
        AVVideoTransferFunctionKey: AVVideoTransferFunction_ITU_R_709_2,
        AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_601_4,
      ],
    ]
    func pictures() throws -> [(Data, String?)] {
      try ReaderTests.read(asset, settings: settings).map { sample in
        let image = try #require(sample.imageBuffer)
        return (
          ReaderTests.packed(image),
          CVBufferCopyAttachment(image, kCVImageBufferYCbCrMatrixKey, nil) as? String
        )
      }
    }
    let plain = try pictures()
    settings[kVTDecompressionPropertyKey_FieldMode as String] = kVTDecompressionProperty_FieldMode_BothFields
    let both = try pictures()
    #expect(plain.count == 5 && both.count == 5)
    for (a, b) in zip(plain, both) {
      #expect(a.0 == b.0 && b.1 == AVVideoYCbCrMatrix_ITU_R_601_4)
    }
  }

  @Test func qualityOfTheConversionOfAudioHasItsEffect() throws {
    let path = try Fixture.make(
      "accepted-noise.wav", ["-f", "lavfi", "-i", "anoisesrc=r=48000:d=0.5:seed=7", "-c:a", "pcm_s16le"])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    func audio(_ more: [String: Any]) throws -> Data {
      let settings: [String: Any] = [AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 32000]
      return try ReaderTests.read(asset, .audio, settings: settings.merging(more) { $1 })
        .reduce(into: Data()) { $0 += try ReaderTests.bytes($1) }
    }
    let baseline = try audio([:])
    #expect(baseline.count > 20_000)
    let mastering = try audio([AVSampleRateConverterAlgorithmKey: AVSampleRateConverterAlgorithm_Mastering])
    let coarse = try audio([AVSampleRateConverterAudioQualityKey: AVAudioQuality.min.rawValue])
    #expect(mastering != baseline && coarse != baseline && mastering != coarse)
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let refused: [String: Any] = [
      AVFormatIDKey: kAudioFormatLinearPCM,
      AVSampleRateConverterAlgorithmKey: AVSampleRateConverterAlgorithm_MinimumPhase,
    ]
    let reader = try AVAssetReader(asset: asset)
    #expect(!reader.canAdd(AVAssetReaderTrackOutput(track: track, outputSettings: refused)))
  }

  /// Passes pictures on.
  private final class Passer: NSObject, AVVideoCompositing, @unchecked Sendable {
    // Sendable: it has no state.
    override init() { super.init() }
    let sourcePixelBufferAttributes: [String: any Sendable]? = [
      kCVPixelBufferPixelFormatTypeKey as String: [kCVPixelFormatType_32BGRA]
    ]
    let requiredPixelBufferAttributesForRenderContext: [String: any Sendable] = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA
    ]
    func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}
    func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
      guard let track = request.sourceTrackIDs.first?.int32Value,
        let source = request.sourceFrame(byTrackID: track)
      else { return request.finish(with: CocoaError(.featureUnsupported)) }
      request.finish(withComposedVideoFrame: source)
    }
  }

  private static func composed(
    _ asset: AVAsset, _ settings: [String: Any],
    _ change: (AVAssetReaderVideoCompositionOutput) -> Void = { _ in }
  ) throws -> AVAssetReaderVideoCompositionOutput {
    let composition = AVMutableVideoComposition(propertiesOf: asset)
    // Each picture is shown twice.
    composition.frameDuration = CMTime(value: 1, timescale: 50)
    composition.sourceTrackIDForFrameTiming = kCMPersistentTrackID_Invalid
    composition.customVideoCompositorClass = Passer.self
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video), videoSettings: settings)
    output.videoComposition = composition
    change(output)
    return output
  }

  @Test func composedPicturesMayBeWrittenTo() throws {
    let asset = AVURLAsset(
      url: URL(
        fileURLWithPath: try Fixture.make(
          "accepted-composed.mp4",
          ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.4", "-c:v", "libx264", "-bf", "0"])))
    func read(copies: Bool) throws -> [CVPixelBuffer] {
      let output = try Self.composed(asset, Self.bgra) { $0.alwaysCopiesSampleData = copies }
      return try ReaderTests.read(output, of: asset).compactMap(\.imageBuffer)
    }
    let (own, shared) = (try read(copies: true), try read(copies: false))
    #expect(own.count == 20 && shared.count == 20)
    #expect(zip(own, own.dropFirst()).allSatisfy { $0 !== $1 })
    #expect(zip(shared, shared.dropFirst()).contains { $0 === $1 })
    for (a, b) in zip(own, shared) { #expect(ReaderTests.packed(a) == ReaderTests.packed(b)) }
  }

  @Test func composedPicturesHaveTheColoursThatWereAskedFor() throws {
    let asset = try ComposedPicturesTests.hlg()
    let other: [String: Any] = [
      AVVideoColorPrimariesKey: AVVideoColorPrimaries_SMPTE_C,
      AVVideoTransferFunctionKey: AVVideoTransferFunction_ITU_R_709_2,
      AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_709_2,
    ]
    let plain = try ReaderTests.read(Self.composed(asset, Self.bgra), of: asset)
    let mapped = try ReaderTests.read(
      Self.composed(asset, Self.bgra.merging([AVVideoColorPropertiesKey: other]) { $1 }), of: asset)
    #expect(plain.count == mapped.count && !mapped.isEmpty)
    for (a, b) in zip(plain, mapped) {
      let (one, two) = (try #require(a.imageBuffer), try #require(b.imageBuffer))
      #expect(
        CVBufferCopyAttachment(two, kCVImageBufferColorPrimariesKey, nil) as? String
          == AVVideoColorPrimaries_SMPTE_C)
      #expect(ReaderTests.packed(one) != ReaderTests.packed(two))
    }
    // A composition's pictures have no fields.
    let fields: [String: Any] = [
      kVTDecompressionPropertyKey_FieldMode as String: kVTDecompressionProperty_FieldMode_TopFieldOnly
    ]
    let reader = try AVAssetReader(asset: asset)
    #expect(!reader.canAdd(try Self.composed(asset, Self.bgra.merging(fields) { $1 })))
    // These ask for none.
    for (key, value) in [
      (kVTDecompressionPropertyKey_FieldMode, kVTDecompressionProperty_FieldMode_BothFields),
      (kVTDecompressionPropertyKey_DeinterlaceMode, kVTDecompressionProperty_DeinterlaceMode_VerticalFilter),
      (kVTDecompressionPropertyKey_DeinterlaceMode, kVTDecompressionProperty_DeinterlaceMode_Temporal),
    ] {
      let whole = try Self.composed(asset, Self.bgra.merging([key as String: value]) { $1 })
      #expect(try AVAssetReader(asset: asset).canAdd(whole), "\(key) \(value)")
    }
  }

  // MARK: - Writing

  private static func sample(_ index: Int, at time: CMTime, isKey: Bool = false) throws -> CMSampleBuffer {
    let sample = try WriterBehaviourTests.sample(WriterBehaviourTests.picture(index), at: time)
    if isKey {
      CMSetAttachment(
        sample, key: kCMSampleBufferAttachmentKey_ForceKeyFrame, value: kCFBooleanTrue,
        attachmentMode: kCMAttachmentMode_ShouldPropagate)
    }
    return sample
  }

  private static func feed(_ input: AVAssetWriterInput, _ samples: [CMSampleBuffer]) {
    for sample in samples {
      blockUntil { input.isReadyForMoreMediaData }
      #expect(input.append(sample))
    }
  }

  /// A camera that is a little faster than the scale, with jitter: two pictures fall into one unit.
  @Test func aCoarseTimeScaleLosesNothing() async throws {
    let writer = try AVAssetWriter(url: scratch.url("coarse.mov"), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    input.mediaTimeScale = 30
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    let times: [Double] = (0..<90).map { index in
      let jitter = index % 3 == 1 ? 0.012 : 0.0
      return Double(index) / 30.3 + jitter
    }
    Self.feed(input, try times.enumerated().map { try Self.sample($0, at: Self.seconds($1)) })
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let properties = try Probe.properties(scratch.file("coarse.mov"), "stream=nb_frames,time_base")
    #expect(properties["nb_frames"] == "90" && properties["time_base"] == "1/30")
  }

  @Test func aPictureCanAskToBeAKeyFrame() async throws {
    let writer = try AVAssetWriter(url: scratch.url("key.mov"), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    Self.feed(
      input,
      try (0..<20).map {
        try Self.sample($0, at: CMTime(value: CMTimeValue($0), timescale: 30), isKey: $0 == 7)
      })
    input.markAsFinished()
    await writer.finishWriting()
    let samples = try Probe.samples(scratch.file("key.mov"))
    #expect(samples.count == 20)
    let keys = samples.filter(\.isSync).map(\.pts)
    #expect(keys.contains(ReaderTests.time(CMTime(value: 7, timescale: 30))), "\(keys)")
  }

  private static func starts(_ segments: WriterTests.Segments) -> [Double] {
    segments.lock.withLock {
      segments.all.compactMap { $0.report?.trackReports.first?.earliestPresentationTimeStamp.seconds }
    }
  }

  /// Pictures at four a second.
  private static func segmented(
    _ delegate: WriterTests.Segments, interval: CMTime?, origin: CMTime, start: CMTime, count: Int
  ) async throws -> AVAssetWriter {
    let writer = WriterBehaviourTests.segmented(delegate, seconds: nil, start: origin)
    if let interval { writer.preferredOutputSegmentInterval = interval }
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: WriterBehaviourTests.video())
    writer.add(input)
    #expect(writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: start)
    Self.feed(
      input,
      try (0..<count).map { try Self.sample($0, at: start + CMTime(value: CMTimeValue($0), timescale: 4)) })
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    return writer
  }

  @Test func segmentsAreCountedFromTheInitialTime() async throws {
    // A stream that continues at 101.5 s keeps to the grid of two seconds from zero.
    let grid = WriterTests.Segments()
    _ = try await Self.segmented(
      grid, interval: CMTime(value: 2, timescale: 1), origin: .zero, start: Self.seconds(101.5), count: 24)
    #expect(Self.starts(grid) == [101.5, 102, 104, 106], "\(Self.starts(grid))")
    // Six seconds where nothing is said.
    let baseline = WriterTests.Segments()
    _ = try await Self.segmented(baseline, interval: nil, origin: .zero, start: .zero, count: 56)
    #expect(Self.starts(baseline) == [0, 6, 12], "\(Self.starts(baseline))")
  }

  @Test func aFlushedSegmentHasAllThatWasAppended() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let stored = try ReaderTests.read(asset)
    let segments = WriterTests.Segments()
    let writer = WriterBehaviourTests.segmented(segments, start: .zero)
    writer.preferredOutputSegmentInterval = .indefinite
    let input = AVAssetWriterInput(
      mediaType: .video, outputSettings: nil,
      sourceFormatHint: stored.first.flatMap { CMSampleBufferGetFormatDescription($0) })
    writer.add(input)
    #expect(writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: .zero)
    var wanted: [Double] = []
    for (index, sample) in stored.enumerated() {
      let notes =
        CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false)?.firstObject
        as? NSDictionary
      if (notes?[kCMSampleAttachmentKey_NotSync] as? NSNumber)?.boolValue != true {
        if index > 0 { writer.flushSegment() }
        wanted.append(sample.presentationTimeStamp.seconds)
      }
      Self.feed(input, [sample])
    }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(wanted.count == 3 && Self.starts(segments) == wanted, "\(Self.starts(segments))")
    let joined = segments.lock.withLock { segments.all.reduce(into: Data()) { $0 += $1.data } }
    try joined.write(to: scratch.url("joined.mp4"))
    #expect(
      try Probe.samples(scratch.file("joined.mp4")).map(\.hash) == Probe.samples(Fixture.movie()).map(\.hash))
  }

  @Test func aSecondExportSaysThatItIsNone() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    try await session.export(to: scratch.url("first.mov"), as: .mov)
    await #expect {
      try await session.export(to: scratch.url("second.mov"), as: .mov)
    } throws: {
      ($0 as? AVError)?.code == .operationNotAllowed
    }
    #expect(scratch.contents == ["first.mov"])
  }

  // MARK: - Audio that is heard

  /// Fails the first time.
  private final class Sink: OVTAudioSink, Sendable {
    let starts = Mutex(0)
    func start(sampleRate: Double, channels: Int, source: @escaping Source) throws {
      let count = starts.withLock {
        $0 += 1
        return $0
      }
      if count == 1 { throw CocoaError(.fileNoSuchFile) }
    }
    func stop() {}
  }

  @Test func aFlushTriesTheSinkAgain() async throws {
    let renderer = AVSampleBufferAudioRenderer()
    let sink = Sink()
    renderer.ovtAudioSink = sink
    renderer.enqueue(try AudioRendererTests.ramp(from: 0, frames: 480))
    #expect(await waitUntil { renderer.status == .failed })
    renderer.enqueue(try AudioRendererTests.ramp(from: 480, frames: 480))
    renderer.flush()
    #expect(renderer.status == .unknown)
    renderer.enqueue(try AudioRendererTests.ramp(from: 960, frames: 480))
    #expect(await waitUntil { sink.starts.withLock { $0 } == 2 })
    renderer.enqueue(try AudioRendererTests.ramp(from: 1440, frames: 480))
    await onThread { letOthersRun(turns: 50_000) }
    #expect(renderer.status == .rendering && sink.starts.withLock { $0 } == 2)
  }
}
