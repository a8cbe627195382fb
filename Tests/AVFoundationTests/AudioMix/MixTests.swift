// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Mixing of audio and composing of pictures, against a recomputation of every sample and pixel.
@Suite struct MixTests {
  private static func frames(_ count: Int64) -> CMTime { CMTime(value: count, timescale: 44100) }

  /// A movie with two audio tracks, and their samples as ffmpeg decodes them.
  private static func audioTracks() throws -> (path: String, samples: [[Int16]]) {
    let path = try Fixture.make(
      "two.mov",
      [
        "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=1", "-f", "lavfi", "-i",
        "sine=frequency=1000:sample_rate=44100:duration=0.6", "-map", "0", "-map", "1", "-c:a", "pcm_s16le",
      ])
    let scratch = Scratch()
    let samples = try (0..<2).map { index in
      let raw = scratch.file("\(index)")
      try Tool.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:\(index)", "-f", "s16le", raw])
      return try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes {
        Array($0.bindMemory(to: Int16.self))
      }
    }
    return (path, samples)
  }

  private static func read(
    _ asset: AVAsset, _ mix: AVAudioMix?, _ settings: [String: Any], range: CMTimeRange? = nil
  ) throws -> [CMSampleBuffer] {
    let output = AVAssetReaderAudioMixOutput(
      audioTracks: asset.tracks(withMediaType: .audio), audioSettings: settings)
    output.audioMix = mix
    return try ReaderTests.read(output, of: asset, range: range)
  }

  @Test func volumesAndRampsAreThoseOfTheArithmetic() throws {
    let (path, sources) = try Self.audioTracks()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let tracks = asset.tracks(withMediaType: .audio)
    let first = AVMutableAudioMixInputParameters(track: tracks[0])
    first.setVolumeRamp(
      fromStartVolume: 0, toEndVolume: 0.5,
      timeRange: CMTimeRange(start: Self.frames(10_000), duration: Self.frames(20_000)))
    let second = AVMutableAudioMixInputParameters(track: tracks[1])
    second.setVolume(0.25, at: .zero)
    let mix = AVMutableAudioMix()
    mix.inputParameters = [first, second]
    var (from, to): (Float, Float) = (9, 9)
    var range = CMTimeRange()
    #expect(
      first.getVolumeRamp(
        for: Self.frames(15_000), startVolume: &from, endVolume: &to, timeRange: &range))
    #expect(from == 0 && to == 0.5 && range.start == Self.frames(10_000))
    #expect(!first.getVolumeRamp(for: .zero, startVolume: nil, endVolume: nil, timeRange: nil))
    let settings: [String: Any] = [
      AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 32, AVLinearPCMIsFloatKey: true,
    ]
    let samples = try Self.read(asset, mix, settings)
    let mixed = try samples.flatMap { sample in
      try ReaderTests.bytes(sample).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }
    #expect(mixed.count == sources[0].count)
    var worst = 0.0
    for index in mixed.indices {
      let volume = index < 10_000 ? 1 : min(0.5, Double(index - 10_000) / 40_000)
      var wanted = Double(sources[0][index]) / 32768 * volume
      if index < sources[1].count { wanted += Double(sources[1][index]) / 32768 * 0.25 }
      worst = max(worst, abs(wanted - Double(mixed[index])))
    }
    #expect(worst < 1e-5, "\(worst)")
  }

  /// Two pictures a microsecond apart do not give a million pictures a second.
  @Test func aCompositionHasItsTracksRate() throws {
    func distance(_ name: String, _ arguments: [String]) throws -> CMTime {
      let path = try Fixture.make(
        name, arguments + ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"])
      return AVVideoComposition(propertiesOf: AVURLAsset(url: URL(fileURLWithPath: path))).frameDuration
    }
    func source(_ rate: String) -> [String] {
      ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=\(rate):duration=1"]
    }
    for (rate, kind, wanted) in [
      ("30000/1001", "mp4", (1001, 30000)), ("30000/1001", "ts", (1001, 30000)),
      ("24000/1001", "mkv", (1001, 24000)), ("25/2", "mp4", (2, 25)), ("500", "mp4", (1, 240)),
    ] {
      let name = "rate-\(rate.replacingOccurrences(of: "/", with: "-")).\(kind)"
      let found = try distance(name, source(rate))
      #expect(found == CMTime(value: Int64(wanted.0), timescale: Int32(wanted.1)), "\(name): \(found)")
    }
    let irregular = try distance(
      "irregular-rate.mp4",
      source("10") + [
        "-vf", "settb=1/1000000,setpts='if(eq(N,5),400001,N*100000)'", "-fps_mode", "passthrough",
        "-enc_time_base", "1:1000000", "-video_track_timescale", "1000000",
      ])
    #expect(abs(irregular.seconds - 0.1) < 0.001, "\(irregular)")
    // A picture is missing.
    let missing = try distance(
      "missing.mp4", source("30000/1001") + ["-vf", "select='not(eq(n,10))'", "-fps_mode", "vfr"])
    #expect(missing == CMTime(value: 1001, timescale: 30000), "\(missing)")
  }

  @Test func unusableMixesAreRefused() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let reader = try AVAssetReader(asset: asset)
    #expect(
      !reader.canAdd(
        AVAssetReaderAudioMixOutput(audioTracks: asset.tracks(withMediaType: .video), audioSettings: nil)))
    #expect(
      !reader.canAdd(
        AVAssetReaderAudioMixOutput(
          audioTracks: asset.tracks(withMediaType: .audio),
          audioSettings: [AVFormatIDKey: kAudioFormatMPEG4AAC])))
    let video = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video), videoSettings: nil)
    reader.add(video)
    #expect(!reader.startReading())
    #expect((reader.error as? AVError)?.code == .invalidVideoComposition)
  }

  // MARK: - Pictures

  private static var bgra: [String: Any] {
    [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
  }

  private static func pictures(
    _ asset: AVAsset, _ composition: AVVideoComposition
  ) throws -> [CMSampleBuffer] {
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video), videoSettings: Self.bgra)
    output.videoComposition = composition
    #expect(reader.canAdd(output))
    reader.add(output)
    #expect(reader.startReading(), "\(String(describing: reader.error))")
    var samples: [CMSampleBuffer] = []
    while let sample = output.copyNextSampleBuffer() { samples.append(sample) }
    #expect(reader.status == .completed, "\(String(describing: reader.error))")
    return samples
  }

  private static func pixel(_ sample: CMSampleBuffer, _ x: Int, _ y: Int) throws -> [Int] {
    let buffer = try #require(CMSampleBufferGetImageBuffer(sample))
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let base = try #require(CVPixelBufferGetBaseAddress(buffer))
    return (0..<4).map {
      Int(base.load(fromByteOffset: y * CVPixelBufferGetBytesPerRow(buffer) + 4 * x + $0, as: UInt8.self))
    }
  }

  @Test func layersAreComposedByTheArithmetic() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let plain = try ReaderTests.read(asset, settings: Self.bgra)
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let layer = AVMutableVideoCompositionLayerInstruction(assetTrack: track)
    layer.setTransform(CGAffineTransform(translationX: 40, y: 20), at: .zero)
    layer.setCropRectangle(CGRect(x: 10, y: 0, width: 200, height: 240), at: .zero)
    layer.setOpacityRamp(
      fromStartOpacity: 1, toEndOpacity: 0,
      timeRange: CMTimeRange(
        start: CMTime(value: 10 * 1001, timescale: 30000),
        duration: CMTime(value: 20 * 1001, timescale: 30000)))
    let instruction = AVMutableVideoCompositionInstruction()
    instruction.timeRange = CMTimeRange(start: .zero, duration: asset.duration)
    instruction.layerInstructions = [layer]
    let composition = AVMutableVideoComposition()
    composition.frameDuration = CMTime(value: 1001, timescale: 30000)
    composition.renderSize = CGSize(width: 400, height: 300)
    composition.instructions = [instruction]
    let made = try Self.pictures(asset, composition)
    #expect(made.count == plain.count)
    for (index, opacity) in [(0, 1.0), (5, 1.0), (15, 0.75), (20, 0.5), (40, 0)] {
      #expect(
        CMSampleBufferGetPresentationTimeStamp(made[index])
          == CMTime(value: Int64(index) * 1001, timescale: 30000))
      for (x, y) in [(60, 30), (200, 100), (249, 259)] {
        let source = try Self.pixel(plain[index], x - 40, y - 20)
        let found = try Self.pixel(made[index], x, y)
        for part in 0..<3 {
          #expect(abs(Double(found[part]) - Double(source[part]) * opacity) <= 2, "\(index) \(x),\(y)")
        }
      }
      // Outside the layer, in what is cut off of it, and below: black.
      for (x, y) in [(0, 0), (45, 100), (251, 100), (100, 280)] {
        #expect(try Self.pixel(made[index], x, y) == [0, 0, 0, 255])
      }
    }
    // Faults are reported before anything is read.
    for change in [
      { (c: AVMutableVideoComposition) in c.frameDuration = .zero }, { $0.renderSize = .zero },
      { $0.instructions = [] }, { $0.renderScale = 2 },
      { c in
        let short = AVMutableVideoCompositionInstruction()
        short.timeRange = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 2))
        c.instructions = [short]
      },
    ] as [(AVMutableVideoComposition) -> Void] {
      let wrong = try #require(composition.mutableCopy() as? AVMutableVideoComposition)
      change(wrong)
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderVideoCompositionOutput(videoTracks: [track], videoSettings: nil)
      output.videoComposition = wrong
      reader.add(output)
      #expect(!reader.startReading())
      #expect((reader.error as? AVError)?.code == .invalidVideoComposition)
    }
  }

  /// Swaps blue and red, and finishes later on another thread.
  private final class Swapper: NSObject, AVVideoCompositing, @unchecked Sendable {
    private let queue = DispatchQueue(label: "swapper")
    override init() { super.init() }
    var sourcePixelBufferAttributes: [String: any Sendable]? {
      [kCVPixelBufferPixelFormatTypeKey as String: [kCVPixelFormatType_32BGRA]]
    }
    var requiredPixelBufferAttributesForRenderContext: [String: any Sendable] {
      [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
    }
    func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}
    func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
      queue.async {
        guard let track = request.sourceTrackIDs.first?.int32Value,
          let source = request.sourceFrame(byTrackID: track),
          let target = request.renderContext.newPixelBuffer()
        else { return request.finish(with: CocoaError(.featureUnsupported)) }
        CVPixelBufferLockBaseAddress(source, .readOnly)
        CVPixelBufferLockBaseAddress(target, [])
        defer {
          CVPixelBufferUnlockBaseAddress(target, [])
          CVPixelBufferUnlockBaseAddress(source, .readOnly)
        }
        guard let from = CVPixelBufferGetBaseAddress(source), let to = CVPixelBufferGetBaseAddress(target)
        else { return request.finish(with: CocoaError(.featureUnsupported)) }
        for y in 0..<CVPixelBufferGetHeight(target) {
          for x in 0..<CVPixelBufferGetWidth(target) {
            let place = y * CVPixelBufferGetBytesPerRow(source) + 4 * x
            for (a, b) in [(0, 2), (1, 1), (2, 0), (3, 3)] {
              to.storeBytes(
                of: from.load(fromByteOffset: place + a, as: UInt8.self),
                toByteOffset: y * CVPixelBufferGetBytesPerRow(target) + 4 * x + b, as: UInt8.self)
            }
          }
        }
        if request.compositionTime.seconds > 1.5 {
          request.finish(with: CocoaError(.featureUnsupported))
        } else {
          request.finish(withComposedVideoFrame: target)
        }
      }
    }
  }

  @Test func aCompositorOfTheClientIsCalled() async throws {
    let path = try Fixture.movie()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let plain = try ReaderTests.read(asset, settings: Self.bgra)
    let composition = AVMutableVideoComposition(propertiesOf: asset)
    #expect(composition.renderSize == CGSize(width: 320, height: 240))
    composition.customVideoCompositorClass = Swapper.self
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderVideoCompositionOutput(videoTracks: [track], videoSettings: nil)
    output.videoComposition = composition
    #expect(output.customVideoCompositor is Swapper)
    reader.add(output)
    #expect(reader.startReading())
    var count = 0
    while let sample = output.copyNextSampleBuffer() {
      if count % 10 == 0 {
        let (found, source) = (try Self.pixel(sample, 77, 99), try Self.pixel(plain[count], 77, 99))
        #expect(found == [source[2], source[1], source[0], source[3]])
      }
      count += 1
    }
    // From 1.5 s on the compositor gives errors, which end the reading.
    #expect(reader.status == .failed && (40...46).contains(count), "\(count)")

    // In an export, with a mix.
    let half = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPreset640x480))
    session.videoComposition = composition
    session.timeRange = half
    let parameters = AVMutableAudioMixInputParameters(track: asset.tracks(withMediaType: .audio).first)
    parameters.setVolume(0, at: .zero)
    let mix = AVMutableAudioMix()
    mix.inputParameters = [parameters]
    session.audioMix = mix
    let scratch = Scratch()
    try await session.export(to: scratch.url("out.mp4"), as: .mp4)
    #expect(try Tool.decodingErrors(scratch.file("out.mp4")) == "")
    let made = AVURLAsset(url: scratch.url("out.mp4"))
    let first = try #require(ReaderTests.read(made, settings: Self.bgra).first)
    let (found, source) = (try Self.pixel(first, 160, 30), try Self.pixel(plain[0], 160, 30))
    #expect(abs(found[0] - source[2]) < 40 && abs(found[2] - source[0]) < 40)
    let audio = try ReaderTests.read(
      made, .audio, settings: [AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 16])
    let loudest = try audio.flatMap { sample in
      try ReaderTests.bytes(sample).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }.map { abs(Int($0)) }.max()
    #expect((loudest ?? 0) < 8)
    let copying = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    copying.audioMix = mix
    await #expect(throws: AVError.self) {
      try await copying.export(to: scratch.url("copy.mp4"), as: .mp4)
    }
  }

  // MARK: - Beside

  @Test func aperturesDecideOnTheSizeOfImages() throws {
    let path = try Fixture.make(
      "wide.mp4",
      Fixture.picture + ["-vf", "setsar=4/3", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-t", "0.2"])
    let generator = AVAssetImageGenerator(asset: AVURLAsset(url: URL(fileURLWithPath: path)))
    #expect(generator.apertureMode == nil)
    func width(_ mode: AVAssetImageGenerator.ApertureMode?) throws -> Int {
      generator.apertureMode = mode
      return try generator.copyCGImage(at: .zero, actualTime: nil).width
    }
    #expect(try width(nil) == 427 && width(.cleanAperture) == 427 && width(.productionAperture) == 427)
    #expect(try width(.encodedPixels) == 320)
  }

  @Test func metadataItemsHaveDataTypes() {
    let item = AVMutableMetadataItem()
    item.value = "x" as NSString
    #expect(item.dataType == kCMMetadataBaseDataType_UTF8 as String)
    item.value = NSNumber(value: 2.5)
    #expect(item.dataType == kCMMetadataBaseDataType_Float64 as String)
    item.value = Data([0x89, 0x50, 0x4E, 0x47, 13]) as NSData
    #expect(item.dataType == kCMMetadataBaseDataType_PNG as String && item.stringValue == nil)
    item.value = Data([0, 0x41, 0, 0x42]) as NSData
    item.dataType = kCMMetadataBaseDataType_UTF16 as String
    #expect(item.stringValue == "AB")
  }

  @Test func aLayersRendererShowsItsPictures() async throws {
    let layer = AVSampleBufferDisplayLayer()
    let renderer = layer.sampleBufferRenderer
    #expect(renderer === layer.sampleBufferRenderer && renderer.status == .unknown)
    layer.bounds = CGRect(x: 0, y: 0, width: 640, height: 640)
    let (stream, continuation) = AsyncStream.makeStream(of: CMTime.self)
    layer.frameHandler = { image, time in if image != nil { continuation.yield(time) } }
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    for sample in try ReaderTests.read(asset).prefix(1) { renderer.enqueue(sample) }
    #expect(layer.status == .rendering && renderer.isReadyForMoreMediaData)
    for await time in stream {
      #expect(time == .zero)
      break
    }
    #expect(layer.videoRect == CGRect(x: 0, y: 80, width: 640, height: 480))
    await withCheckedContinuation { done in
      renderer.flush(removingDisplayedImage: true) { done.resume() }
    }
    #expect(layer.videoRect == .zero && renderer.status == .unknown)
  }
}
