// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import AVFoundation

/// The pictures of video compositions, exports and image generators: colours, alpha, places
/// and times.
@Suite struct ComposedPicturesTests {
  static var bgra: [String: Any] {
    [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
  }
  private static func seconds(_ value: Double) -> CMTime { CMTime(seconds: value, preferredTimescale: 600) }
  private static func range(_ start: Double, _ end: Double) -> CMTimeRange {
    CMTimeRange(start: seconds(start), end: seconds(end))
  }
  static func asset(_ path: String) -> AVURLAsset { AVURLAsset(url: URL(fileURLWithPath: path)) }

  /// Red of BT.709, without loss.
  private static func red(_ size: String = "64x48", rate: Int = 10, duration: Int = 1) throws -> AVURLAsset {
    asset(
      try Fixture.make(
        "composed-red-\(size)-\(rate)-\(duration).mov",
        [
          "-f", "lavfi", "-i", "color=red:size=\(size):rate=\(rate):duration=\(duration)", "-vf",
          "scale=out_color_matrix=bt709,format=yuv420p", "-c:v", "libx264", "-qp", "0", "-color_primaries",
          "bt709", "-color_trc", "bt709", "-colorspace", "bt709",
        ]))
  }

  static func hlg() throws -> AVURLAsset {
    asset(
      try Fixture.make(
        "composed-hlg.mov",
        [
          "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=10:duration=0.5", "-c:v", "libx265", "-preset",
          "ultrafast", "-x265-params",
          "log-level=none:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc", "-pix_fmt",
          "yuv420p10le", "-tag:v", "hvc1", "-color_primaries", "bt2020", "-color_trc", "arib-std-b67",
          "-colorspace", "bt2020nc",
        ]))
  }

  private static func pictures(
    _ asset: AVAsset, _ composition: AVVideoComposition, _ format: OSType = kCVPixelFormatType_32BGRA
  ) throws -> [CMSampleBuffer] {
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video),
      videoSettings: [kCVPixelBufferPixelFormatTypeKey as String: format])
    output.videoComposition = composition
    return try ReaderTests.read(output, of: asset)
  }

  /// Blue, green and red, or the luma.
  private static func pixel(_ sample: CMSampleBuffer, _ x: Int, _ y: Int) throws -> [Int] {
    let image = try #require(CMSampleBufferGetImageBuffer(sample))
    CVPixelBufferLockBaseAddress(image, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(image, .readOnly) }
    if CVPixelBufferIsPlanar(image) {
      let plane = try #require(CVPixelBufferGetBaseAddressOfPlane(image, 0))
      let place = y * CVPixelBufferGetBytesPerRowOfPlane(image, 0) + x
      return [Int(plane.load(fromByteOffset: place, as: UInt8.self))]
    }
    let base = try #require(CVPixelBufferGetBaseAddress(image))
    let place = y * CVPixelBufferGetBytesPerRow(image) + 4 * x
    return (0..<3).map { Int(base.load(fromByteOffset: place + $0, as: UInt8.self)) }
  }

  private static func tags(_ sample: CMSampleBuffer) throws -> [String?] {
    let image = try #require(CMSampleBufferGetImageBuffer(sample))
    return [
      kCVImageBufferColorPrimariesKey, kCVImageBufferTransferFunctionKey, kCVImageBufferYCbCrMatrixKey,
    ].map { CVBufferCopyAttachment(image, $0, nil) as? String }
  }
  private static let standard: [String?] = [
    AVVideoColorPrimaries_ITU_R_709_2, AVVideoTransferFunction_ITU_R_709_2, AVVideoYCbCrMatrix_ITU_R_709_2,
  ]

  // MARK: - Ramps

  @Test func rampsAreThoseThatWereSet() throws {
    let layer = AVMutableVideoCompositionLayerInstruction()
    #expect(!layer.getOpacityRamp(for: .zero, startOpacity: nil, endOpacity: nil, timeRange: nil))
    layer.setOpacity(0.25, at: Self.seconds(1))
    layer.setOpacityRamp(fromStartOpacity: 0.5, toEndOpacity: 1, timeRange: Self.range(3, 4))
    layer.setOpacity(0.75, at: Self.seconds(6))
    let wanted: [(Double, Float, Float, CMTimeRange)] = [
      // Before all: the first.
      (0, 0.25, 0.25, Self.range(1, 3)), (1, 0.25, 0.25, Self.range(1, 3)),
      (2.5, 0.25, 0.25, Self.range(1, 3)), (3, 0.5, 1, Self.range(3, 4)), (3.5, 0.5, 1, Self.range(3, 4)),
      (4, 1, 1, Self.range(4, 6)),
      (6, 0.75, 0.75, CMTimeRange(start: Self.seconds(6), end: .positiveInfinity)),
      (99, 0.75, 0.75, CMTimeRange(start: Self.seconds(6), end: .positiveInfinity)),
    ]
    for (time, start, end, range) in wanted {
      var found: (Float, Float, CMTimeRange) = (-1, -1, .invalid)
      #expect(
        layer.getOpacityRamp(
          for: Self.seconds(time), startOpacity: &found.0, endOpacity: &found.1, timeRange: &found.2))
      #expect(found.0 == start && found.1 == end && found.2 == range, "\(time): \(found)")
    }
    #expect(!layer.getOpacityRamp(for: .invalid, startOpacity: nil, endOpacity: nil, timeRange: nil))
    // The values themselves stay what they were.
    #expect(layer.opacity(at: .zero) == 1 && layer.opacity(at: Self.seconds(3.5)) == 0.75)
    let turn = CGAffineTransform(a: 0, b: 1, c: -1, d: 0, tx: 48, ty: 0)
    layer.setTransform(turn, at: .zero)
    var (start, end, range) = (CGAffineTransform.identity, CGAffineTransform.identity, CMTimeRange.invalid)
    #expect(layer.getTransformRamp(for: Self.seconds(5), start: &start, end: &end, timeRange: &range))
    #expect(start == turn && end == turn && range == CMTimeRange(start: .zero, end: .positiveInfinity))
    let part = CGRect(x: 1, y: 2, width: 3, height: 4)
    layer.setCropRectangle(part, at: Self.seconds(2))
    var crop = CGRect.zero
    #expect(
      layer.getCropRectangleRamp(
        for: .zero, startCropRectangle: &crop, endCropRectangle: nil, timeRange: &range))
    #expect(crop == part && range.start == Self.seconds(2))
  }

  // MARK: - Transforms of other sizes

  @Test(arguments: [
    (1.0, 0.0, 0.0, 1.0), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0), (-1, 0, 0, 1), (1, 0, 0, -1),
    (0, 1, 1, 0), (0, -1, -1, 0),
  ])
  func transformsFitAnotherSize(_ a: Double, _ b: Double, _ c: Double, _ d: Double) {
    let (old, new) = (CGSize(width: 1920, height: 1080), CGSize(width: 640, height: 360))
    let linear = CGAffineTransform(a: a, b: b, c: c, d: d, tx: 0, ty: 0)
    let box = CGRect(origin: .zero, size: old).applying(linear)
    for (x, y) in [(0.0, 0.0), (96, 60), (-300, 0)] {
      let whole = CGAffineTransform(a: a, b: b, c: c, d: d, tx: x - box.minX, ty: y - box.minY)
      let fitted = whole.fitted(from: old, to: new)
      let made = CGRect(origin: .zero, size: new).applying(fitted)
      #expect(abs(made.minX - x / 3) < 1e-6 && abs(made.minY - y / 3) < 1e-6, "\(made)")
      #expect(
        Double(fitted.a) == a && Double(fitted.b) == b && Double(fitted.c) == c && Double(fitted.d) == d)
      #expect(made.size == (a == 0 ? CGSize(width: 360, height: 640) : new))
      #expect(whole.fitted(from: old, to: old) == whole)
    }
    #expect(linear.fitted(from: .zero, to: new) == linear)
  }

  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264)))
  func anExportedPortraitLiesAtItsOrigin() async throws {
    let source = try Self.red("1280x720")
    let portrait = AVMutableComposition()
    let track = try #require(portrait.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
    try track.insertTimeRange(
      Self.range(0, 0.5), of: try #require(source.tracks(withMediaType: .video).first), at: .zero)
    track.preferredTransform = CGAffineTransform(a: 0, b: 1, c: -1, d: 0, tx: 720, ty: 0)
    let scratch = Scratch()
    let session = try #require(
      AVAssetExportSession(asset: portrait, presetName: AVAssetExportPreset640x480))
    try await session.export(to: scratch.url("out.mov"), as: .mov)
    let made = try #require(Self.asset(scratch.file("out.mov")).tracks(withMediaType: .video).first)
    #expect(made.naturalSize == CGSize(width: 640, height: 360))
    #expect(
      CGRect(origin: .zero, size: made.naturalSize).applying(made.preferredTransform)
        == CGRect(x: 0, y: 0, width: 360, height: 640), "\(made.preferredTransform)")
  }

  // MARK: - Colours

  @Test func coloursOfTheSourceAreReported() throws {
    let asset = try Self.red()
    let composition = AVMutableVideoComposition(propertiesOf: asset)
    for format in [kCVPixelFormatType_32BGRA, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange] {
      let samples = try Self.pictures(asset, composition, format)
      #expect(samples.count == 10)
      for sample in samples { #expect(try Self.tags(sample) == Self.standard) }
    }
    // Red's luma is that of BT.709, and not that of BT.601, 81.
    let planes = try Self.pictures(asset, composition, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(try abs(Self.pixel(planes[3], 20, 20)[0] - 63) <= 1)
  }

  @Test func aHighRangeIsMapped() async throws {
    let asset = try Self.hlg()
    let plain = try ReaderTests.read(
      asset, settings: Self.bgra.merging([AVVideoColorPropertiesKey: CompositionColor.standardRange]) { $1 })
    let composition = AVMutableVideoComposition(propertiesOf: asset)
    let made = try Self.pictures(asset, composition)
    #expect(made.count == plain.count && made.count == 5)
    for (found, wanted) in zip(made, plain) {
      #expect(try Self.tags(found) == Self.standard)
      for (x, y) in [(10, 10), (160, 120), (300, 200), (80, 60)] {
        #expect(try Self.pixel(found, x, y) == Self.pixel(wanted, x, y))
      }
    }
    // It is a change at all.
    let raw = try ReaderTests.read(asset, settings: Self.bgra)
    #expect(try Self.pixel(raw[0], 80, 60) != Self.pixel(plain[0], 80, 60))

    guard AVAssetExportSession.allExportPresets().contains(AVAssetExportPreset640x480) else { return }
    let scratch = Scratch()
    for name in ["plain", "composed"] {
      let session = try #require(
        AVAssetExportSession(asset: asset, presetName: AVAssetExportPreset640x480))
      if name == "composed" { session.videoComposition = composition }
      try await session.export(to: scratch.url("\(name).mov"), as: .mov)
      let properties = try Probe.properties(
        scratch.file("\(name).mov"), "stream=color_transfer,color_primaries,color_space")
      #expect(Set(properties.values) == ["bt709"], "\(name): \(properties)")
    }
    let exported = try ["plain", "composed"].map {
      try ReaderTests.read(Self.asset(scratch.file("\($0).mov")), settings: Self.bgra)
    }
    // Edges of colours differ, as one way goes by RGB.
    var (sum, count) = (0, 0)
    for y in stride(from: 4, to: 240, by: 8) {
      for x in stride(from: 4, to: 320, by: 8) {
        let (a, b) = (try Self.pixel(exported[0][0], x, y), try Self.pixel(exported[1][0], x, y))
        sum += zip(a, b).reduce(0) { $0 + abs($1.0 - $1.1) }
        count += 3
      }
    }
    #expect(Double(sum) / Double(count) < 6, "\(Double(sum) / Double(count))")
  }

  @Test func imagesOfAHighRangeAreMapped() throws {
    let asset = try Self.hlg()
    let plain = try ReaderTests.read(
      asset, settings: Self.bgra.merging([AVVideoColorPropertiesKey: CompositionColor.standardRange]) { $1 })
    let raw = try ReaderTests.read(asset, settings: Self.bgra)
    let generator = AVAssetImageGenerator(asset: asset)
    #expect(generator.dynamicRangePolicy == .forceSDR)
    for (policy, samples, space) in [
      (AVAssetImageGenerator.DynamicRangePolicy.forceSDR, plain, CGColorSpace.sRGB),
      (.matchSource, raw, CGColorSpace.itur_2100_HLG),
    ] {
      generator.dynamicRangePolicy = policy
      let image = try generator.copyCGImage(at: .zero, actualTime: nil)
      #expect(image.colorSpace?.name == space)
      let bytes = try #require(image.dataProvider?.data as Data?)
      for (x, y) in [(10, 10), (160, 120), (300, 200), (80, 60)] {
        let place = y * image.bytesPerRow + 4 * x
        #expect(try (0..<3).map { Int(bytes[place + $0]) } == Self.pixel(samples[0], x, y))
      }
    }
  }

  // MARK: - Of an asset's properties

  @Test func instructionsCoverAllTracks() throws {
    let (small, large) = (try Self.red(), try Self.red("128x64", rate: 20, duration: 2))
    let movie = AVMutableComposition()
    let first = try #require(movie.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
    let second = try #require(movie.addMutableTrack(withMediaType: .video, preferredTrackID: 2))
    let hidden = try #require(movie.addMutableTrack(withMediaType: .video, preferredTrackID: 3))
    let (one, two) = (
      try #require(small.tracks(withMediaType: .video).first),
      try #require(large.tracks(withMediaType: .video).first)
    )
    try first.insertTimeRange(Self.range(0, 1), of: one, at: .zero)
    try first.insertTimeRange(Self.range(0, 1), of: one, at: Self.seconds(2))
    try second.insertTimeRange(Self.range(0, 1), of: two, at: Self.seconds(0.5))
    try hidden.insertTimeRange(Self.range(0, 1), of: two, at: .zero)
    hidden.isEnabled = false
    first.preferredTransform = CGAffineTransform(a: 0, b: 1, c: -1, d: 0, tx: 48, ty: 0)
    second.preferredTransform = CGAffineTransform(translationX: 10, y: 20)
    let composition = AVMutableVideoComposition(propertiesOf: movie)
    let instructions = composition.instructions.compactMap { $0 as? AVVideoCompositionInstruction }
    let wanted: [(CMTimeRange, [CMPersistentTrackID])] = [
      (Self.range(0, 0.5), [1]), (Self.range(0.5, 1), [1, 2]), (Self.range(1, 1.5), [2]),
      (Self.range(1.5, 2), []), (Self.range(2, 3), [1]),
    ]
    #expect(instructions.map(\.timeRange) == wanted.map(\.0))
    #expect(instructions.map { $0.layerInstructions.map(\.trackID) } == wanted.map(\.1))
    // 48 by 64 at the origin, and 128 by 64 at (10, 20).
    #expect(composition.renderSize == CGSize(width: 138, height: 84))
    #expect(composition.frameDuration == CMTime(value: 1, timescale: 20))
    #expect(composition.sourceTrackIDForFrameTiming == kCMPersistentTrackID_Invalid)
    let all = CMTimeRange(start: .zero, duration: .positiveInfinity)
    #expect(composition.isValid(for: movie, timeRange: all, validationDelegate: nil))
    let made = try Self.pictures(movie, composition)
    #expect(made.count == 60)
    func isRed(_ index: Int, _ x: Int, _ y: Int) throws -> Bool { try Self.pixel(made[index], x, y)[2] > 200 }
    #expect(try isRed(2, 5, 5) && !isRed(2, 100, 70) && isRed(15, 5, 5) && isRed(15, 100, 70))
    #expect(try !isRed(25, 5, 5) && isRed(25, 100, 70))
    #expect(try !isRed(35, 5, 5) && !isRed(35, 100, 70) && isRed(45, 5, 5) && !isRed(45, 100, 70))
  }

  @Test func aSingleTrackKeepsItsTimes() throws {
    let path = try Fixture.make(
      "composed-irregular.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30:duration=2", "-vf",
        "select='not(mod(n,7))+not(mod(n,11))'", "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-c:v",
        "libx264", "-bf", "3", "-video_track_timescale", "600",
      ])
    let asset = Self.asset(path)
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let composition = AVVideoComposition(propertiesOf: asset)
    #expect(composition.sourceTrackIDForFrameTiming == track.trackID && composition.instructions.count == 1)
    let (plain, made) = (
      try ReaderTests.read(asset, settings: Self.bgra), try Self.pictures(asset, composition)
    )
    #expect(made.map(\.presentationTimeStamp) == plain.map(\.presentationTimeStamp))
    #expect(made.map(\.duration) == plain.map(\.duration))
  }

  @Test func gapsOfASingleTrackAreFilled() throws {
    let source = try Self.red()
    let movie = AVMutableComposition()
    let track = try #require(movie.addMutableTrack(withMediaType: .video, preferredTrackID: 1))
    let red = try #require(source.tracks(withMediaType: .video).first)
    try track.insertTimeRange(Self.range(0, 0.5), of: red, at: Self.seconds(0.25))
    try track.insertTimeRange(Self.range(0, 0.5), of: red, at: Self.seconds(1.25))
    let composition = AVVideoComposition(propertiesOf: movie)
    #expect(composition.instructions.count == 4 && composition.sourceTrackIDForFrameTiming == 1)
    let made = try Self.pictures(movie, composition)
    // 0, 0.1, 0.2 | 0.25 ... 0.65 | 0.75 ... 1.15 | 1.25 ... 1.65.
    let wanted =
      [0, 100, 200] + [250, 350, 450, 550, 650] + [750, 850, 950, 1050, 1150]
      + [1250, 1350, 1450, 1550, 1650]
    #expect(made.map { Int(($0.presentationTimeStamp.seconds * 1000).rounded()) } == wanted)
    for (sample, time) in zip(made, wanted) {
      let isRed = (250..<750).contains(time) || time >= 1250
      #expect(try (Self.pixel(sample, 20, 20)[2] > 200) == isRed, "\(time)")
    }
    #expect(made.last.map { $0.presentationTimeStamp + $0.duration } == movie.duration)
  }

  // MARK: - Alpha

  @Test(arguments: [("qtrle", "argb"), ("png", "rgba")])
  func whatLiesBelowIsSeenThroughAlpha(_ codec: String, _ format: String) throws {
    let path = try Fixture.make(
      "composed-alpha-\(codec).mov",
      [
        "-f", "lavfi", "-i", "color=black:size=64x48:rate=10:duration=1", "-vf",
        "format=rgba,geq=r=0:g=0:b=255:a='if(lt(X,21),0,if(lt(X,42),128,255))'", "-c:v", codec, "-pix_fmt",
        format,
      ])
    let (below, above) = (try Self.red(), Self.asset(path))
    // Alone, as buffers and as images, whose colours are multiplied.
    let alone = try #require(ReaderTests.read(above, settings: Self.bgra).first)
    let mode = alone.imageBuffer.flatMap {
      CVBufferCopyAttachment($0, kCVImageBufferAlphaChannelModeKey, nil)
    }
    #expect(mode as? String == kCVImageBufferAlphaChannelMode_StraightAlpha as String)
    #expect(try Self.pixel(alone, 31, 24) == [255, 0, 0])
    let image = try AVAssetImageGenerator(asset: above).copyCGImage(at: .zero, actualTime: nil)
    let bytes = try #require(image.dataProvider?.data as Data?)
    #expect(image.alphaInfo == .premultipliedFirst)
    for (x, wanted) in [(5, [0, 0, 0, 0]), (31, [128, 0, 0, 128]), (60, [255, 0, 0, 255])] as [(Int, [UInt8])]
    {
      #expect(Array(bytes[(24 * image.bytesPerRow + 4 * x)...].prefix(4)) == wanted, "\(x)")
    }
    let movie = AVMutableComposition()
    for (index, asset) in [above, below].enumerated() {
      let track = try #require(
        movie.addMutableTrack(withMediaType: .video, preferredTrackID: CMPersistentTrackID(index + 1)))
      try track.insertTimeRange(
        Self.range(0, 1), of: try #require(asset.tracks(withMediaType: .video).first), at: .zero)
    }
    let composition = AVMutableVideoComposition(propertiesOf: movie)
    let plain = try Self.pixel(ReaderTests.read(below, settings: Self.bgra)[0], 20, 20)
    func check(_ opacity: Double) throws {
      let made = try Self.pictures(movie, composition)
      #expect(made.count == 10)
      for (x, alpha) in [(5, 0.0), (20, 0), (21, 128.0 / 255), (31, 128.0 / 255), (42, 1), (60, 1)] {
        let found = try Self.pixel(made[3], x, 24)
        let share = alpha * opacity
        for (part, blue) in [255.0, 0, 0].enumerated() {
          let wanted = blue * share + Double(plain[part]) * (1 - share)
          #expect(abs(Double(found[part]) - wanted) <= 1, "\(x): \(found)")
        }
      }
    }
    try check(1)
    let layer = try #require(
      (composition.instructions.first as? AVVideoCompositionInstruction)?.layerInstructions.first
        as? AVMutableVideoCompositionLayerInstruction)
    layer.setOpacity(0.5, at: .zero)
    try check(0.5)
    // Between pixels, what is not to be seen gives no colour.
    layer.setOpacity(1, at: .zero)
    layer.setTransform(CGAffineTransform(translationX: 0.5, y: 0), at: .zero)
    let edge = try Self.pixel(Self.pictures(movie, composition)[3], 21, 24)
    #expect(abs(Double(edge[0]) - 64) <= 2 && abs(Double(edge[2]) - Double(plain[2]) * 0.75) <= 2, "\(edge)")
  }

  /// Calls back when it is made and when it goes.
  private final class Caller: NSObject, AVVideoCompositing, @unchecked Sendable {
    // Sendable: it has no state.
    static let call = Mutex<(@Sendable () -> Void)?>(nil)
    override init() {
      super.init()
      Self.call.withLock { $0 }?()
    }
    deinit { Self.call.withLock { $0 }?() }
    let sourcePixelBufferAttributes: [String: any Sendable]? = nil
    let requiredPixelBufferAttributesForRenderContext: [String: any Sendable] = [:]
    func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}
    func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
      request.finish(with: CocoaError(.featureUnsupported))
    }
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func compositorsMayCallBackWhenTheyComeAndGo() throws {
    let asset = try Self.red()
    let composition = AVMutableVideoComposition(propertiesOf: asset)
    composition.customVideoCompositorClass = Caller.self
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video), videoSettings: nil)
    let item = AVPlayerItem(asset: asset)
    let generator = AVAssetImageGenerator(asset: asset)
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    let owners: [(ask: @Sendable () -> Void, set: (AVVideoComposition?) -> Void)] = [
      ({ _ = output.customVideoCompositor }, { output.videoComposition = $0 }),
      ({ _ = item.customVideoCompositor }, { item.videoComposition = $0 }),
      ({ _ = generator.customVideoCompositor }, { generator.videoComposition = $0 }),
      ({ _ = session.customVideoCompositor }, { session.videoComposition = $0 }),
    ]
    defer { Caller.call.withLock { $0 = nil } }
    for (ask, set) in owners {
      let calls = Gathered<Bool>()
      Caller.call.withLock {
        $0 = {
          ask()
          calls.add(true)
        }
      }
      set(composition)
      #expect(calls.count == 1)
      set(nil)
      #expect(calls.count == 2)
    }
  }
}
