// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// Tests writers and export sessions that encode in several passes.
@Suite struct MultiPassTests {
  private let scratch = Scratch()

  /// Whether the encoder that a session chooses for H.264 supports several passes.
  static var supportsPasses: Bool {
    var session: VTCompressionSession?
    VTCompressionSessionCreate(
      allocator: nil, width: 320, height: 240, codecType: kCMVideoCodecType_H264, encoderSpecification: nil,
      imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
      compressionSessionOut: &session)
    guard let session else { return false }
    defer { VTCompressionSessionInvalidate(session) }
    var properties: CFDictionary?
    VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &properties)
    return properties?.object(forKey: kVTCompressionPropertyKey_MultiPassStorage) != nil
  }

  /// Returns a movie of three seconds, with noise in the second one only. A single pass distributes
  /// the bits badly over such a movie.
  private static func source() throws -> AVURLAsset {
    AVURLAsset(
      url: URL(
        fileURLWithPath: try Fixture.make(
          "uneven.mkv",
          [
            "-f", "lavfi", "-i",
            "testsrc2=size=320x240:rate=30:duration=3,noise=alls=60:allf=t:enable='between(t,1,2)'", "-f",
            "lavfi",
            "-i", "sine=duration=3", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "10", "-pix_fmt",
            "yuv420p",
            "-c:a", "flac",
          ])))
  }

  private static var settings: [String: Any] {
    [
      AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 320, AVVideoHeightKey: 240,
      AVVideoCompressionPropertiesKey: [AVVideoAverageBitRateKey: 400_000],
    ]
  }

  @Test func aWriterMakesThePassesThatTheEncoderAsksFor() async throws {
    #if X264
      #expect(Self.supportsPasses)
    #endif
    let (reader, output) = try await makeRandomAccessReader(try Self.source())
    let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
    let folder = scratch.url("passes")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    writer.directoryForTemporaryFiles = folder
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: Self.settings)
    input.performsMultiPassEncodingIfSupported = true
    writer.add(input)
    #expect(reader.startReading() && writer.startWriting())
    #expect(input.canPerformMultiplePasses == Self.supportsPasses)
    writer.startSession(atSourceTime: .zero)
    let passes = Mutex<[[CMTimeRange]]>([])
    let counts = Mutex<[Int]>([])
    let queue = DispatchQueue(label: "passes")
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      input.respondToEachPassDescription(on: queue) {
        guard let pass = input.currentPassDescription else {
          output.markConfigurationAsFinal()
          input.markAsFinished()
          return done.resume()
        }
        let ranges = pass.sourceTimeRanges.map(\.timeRangeValue)
        let number = passes.withLock {
          $0.append(ranges)
          return $0.count
        }
        counts.withLock { $0.append(0) }
        if number > 1 { output.reset(forReadingTimeRanges: pass.sourceTimeRanges) }
        input.requestMediaDataWhenReady(on: queue) {
          while input.isReadyForMoreMediaData {
            guard let sample = output.copyNextSampleBuffer(), input.append(sample) else {
              return input.markCurrentPassAsFinished()
            }
            counts.withLock { $0[$0.count - 1] += 1 }
          }
        }
      }
    }
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    // An encoder that supports passes over parts of the movie may request more of them.
    #expect(counts.withLock { Array($0.prefix(2)) } == (Self.supportsPasses ? [90, 90] : [90]))
    if Self.supportsPasses {
      let range = try #require(passes.withLock { $0[1].first })
      #expect(range.start == .zero && abs(range.end.seconds - 3) < 0.001)
    }
    #expect(try Probe.properties(scratch.file("a.mp4"), "stream=nb_frames")["nb_frames"] == "90")
    #expect(try Tool.decodingErrors(scratch.file("a.mp4")) == "")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  /// If the input is marked as finished in the middle of a pass, the movie is complete: Apple's
  /// documentation allows the results of the most recent pass to be used.
  @Test(.enabled(if: supportsPasses), arguments: [0, 45]) func aPassMayBeEndedEarly(after count: Int)
    async throws
  {
    let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: Self.settings)
    input.performsMultiPassEncodingIfSupported = true
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input, sourcePixelBufferAttributes: nil)
    writer.add(input)
    #expect(writer.startWriting() && input.canPerformMultiplePasses)
    writer.startSession(atSourceTime: .zero)
    func append(_ frames: Range<Int>) throws {
      var made: CVPixelBuffer?
      CVPixelBufferCreate(nil, 320, 240, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made)
      let image = try #require(made)
      for index in frames {
        #expect(adaptor.append(image, withPresentationTime: CMTime(value: CMTimeValue(index), timescale: 30)))
      }
    }
    try append(0..<90)
    input.markCurrentPassAsFinished()
    #expect(input.currentPassDescription != nil)
    try append(0..<count)
    input.markAsFinished()
    #expect(input.currentPassDescription == nil)
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(try Probe.properties(scratch.file("a.mp4"), "stream=nb_frames")["nb_frames"] == "90")
    #expect(try Tool.decodingErrors(scratch.file("a.mp4")) == "")
  }

  /// The blocks that programs usually pass to an input refer to it. The writer's end breaks this
  /// reference cycle.
  @Test func inputsAreReleasedWithTheirWriter() async throws {
    weak var held: AVAssetWriterInput?
    do {
      let writer = try AVAssetWriter(url: scratch.url("a.mp4"), fileType: .mp4)
      let input = AVAssetWriterInput(mediaType: .video, outputSettings: Self.settings)
      held = input
      writer.add(input)
      #expect(writer.startWriting())
      writer.startSession(atSourceTime: .zero)
      input.respondToEachPassDescription(on: .global()) { _ = input.currentPassDescription }
      input.requestMediaDataWhenReady(on: .global()) { _ = input.isReadyForMoreMediaData }
      writer.cancelWriting()
    }
    await waitUntil { held == nil }
    #expect(held == nil)
  }

  @Test("An export in two passes keeps all frames and audio, differs from a single pass, and leaves no files")
  func anExportInTwoPassesKeepsAllFramesAndAudio() async throws {
    let asset = try Self.source()
    var rates: [Bool: Double] = [:]
    for allows in [false, true] {
      let folder = scratch.url("folder\(allows)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPreset640x480))
      session.canPerformMultiplePassesOverSourceMediaData = allows
      session.directoryForTemporaryFiles = folder
      session.timeRange = CMTimeRange(
        start: CMTime(value: 1, timescale: 2), duration: CMTime(value: 2, timescale: 1))
      let url = scratch.url("\(allows).mp4")
      session.outputURL = url
      session.outputFileType = .mp4
      let seen = Mutex<[Float]>([])
      let watch = Task {
        for await _ in session.states(updateInterval: 0.005) {
          seen.withLock { $0.append(session.progress) }
        }
      }
      await session.export()
      await watch.value
      #expect(session.status == .completed, "\(String(describing: session.error))")
      let steps = seen.withLock { $0 }
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 <= $1 + 0.0001 }, "\(steps)")
      #expect(session.progress == 1)
      let hasMore = allows && Self.supportsPasses
      #expect(hasMore ? (2...8).contains(session.ovtPassCount) : session.ovtPassCount == 1)
      let properties = try Probe.properties(url.path, "stream=nb_frames,bit_rate")
      #expect(properties["nb_frames"] == "60")
      #expect(try Probe.properties(url.path, stream: "a:0", "stream=codec_name")["codec_name"] == "aac")
      #expect(try Tool.decodingErrors(url.path) == "")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
      rates[allows] = try Double(#require(properties["bit_rate"]))
    }
    // If the encoder supports several passes, the second one distributes the bits differently.
    #expect((rates[false] != rates[true]) == Self.supportsPasses)
  }

  @Test func anExportInPassesThatIsCancelledLeavesNothing() async throws {
    // Long enough to be still in progress when the thread below cancels it, even on a busy machine.
    let long = try Fixture.make(
      "long.mkv",
      [
        "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30:duration=60", "-c:v", "libx264", "-preset",
        "ultrafast", "-pix_fmt", "yuv420p",
      ])
    let session = try #require(
      AVAssetExportSession(
        asset: AVURLAsset(url: URL(fileURLWithPath: long)), presetName: AVAssetExportPreset1280x720))
    session.canPerformMultiplePassesOverSourceMediaData = true
    let folder = scratch.url("folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    session.directoryForTemporaryFiles = folder
    session.outputURL = scratch.url("cancelled.mp4")
    session.outputFileType = .mp4
    // A thread cancels the export. A task might have to wait for minutes, while other tests occupy
    // all threads of the pool.
    let watch = Thread {
      blockUntil { session.progress > 0 || session.status.rawValue > 2 }
      session.cancelExport()
    }
    watch.start()
    await session.export()
    #expect(session.status == .cancelled)
    #expect(!FileManager.default.fileExists(atPath: scratch.file("cancelled.mp4")))
    #expect(
      try await waitUntil { try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty })
  }
}

/// Returns a reader of an asset's pictures and its output, which supports random access, so that
/// the pictures can be read again for each pass.
func makeRandomAccessReader(_ asset: AVAsset) async throws -> (
  reader: AVAssetReader, output: AVAssetReaderTrackOutput
) {
  let reader = try AVAssetReader(asset: asset)
  let output = AVAssetReaderTrackOutput(
    track: try #require(try await reader.asset.loadTracks(withMediaType: .video).first),
    outputSettings: [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    ])
  output.supportsRandomAccess = true
  reader.add(output)
  return (reader, output)
}
