// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Colours, backgrounds and faults of video compositions, and pictures of them.
@Suite struct CompositionColorTests {
  private static let size = CGSize(width: 128, height: 96)
  private static let second = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1))

  /// A second of red, which says that it is BT.709.
  private static func red() throws -> AVURLAsset {
    let path = try Fixture.make(
      "red.mov",
      [
        "-f", "lavfi", "-i", "color=red:size=128x96:rate=10:duration=1", "-vf",
        "scale=out_color_matrix=bt709,format=yuv420p", "-c:v", "libx264", "-qp", "0", "-color_primaries",
        "bt709", "-color_trc", "bt709", "-colorspace", "bt709",
      ])
    return AVURLAsset(url: URL(fileURLWithPath: path))
  }

  /// The asset's track, 64 pixels to the right.
  private static func composition(_ asset: AVAsset) throws -> AVMutableVideoComposition {
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let layer = AVMutableVideoCompositionLayerInstruction(assetTrack: track)
    layer.setTransform(CGAffineTransform(translationX: 64, y: 0), at: .zero)
    let instruction = AVMutableVideoCompositionInstruction()
    instruction.timeRange = Self.second
    instruction.layerInstructions = [layer]
    let composition = AVMutableVideoComposition()
    composition.frameDuration = CMTime(value: 1, timescale: 10)
    composition.renderSize = Self.size
    composition.instructions = [instruction]
    return composition
  }

  private static func pictures(
    _ asset: AVAsset, _ composition: AVVideoComposition,
    _ format: OSType = kCVPixelFormatType_32BGRA
  ) throws -> [CVPixelBuffer] {
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video),
      videoSettings: [kCVPixelBufferPixelFormatTypeKey as String: format])
    output.videoComposition = composition
    return try ReaderTests.read(output, of: asset).compactMap { CMSampleBufferGetImageBuffer($0) }
  }

  /// Blue, green and red.
  private static func pixel(_ image: CVPixelBuffer, _ x: Int, _ y: Int) throws -> [Int] {
    CVPixelBufferLockBaseAddress(image, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(image, .readOnly) }
    let base = try #require(CVPixelBufferGetBaseAddress(image))
    return (0..<3).map {
      Int(base.load(fromByteOffset: y * CVPixelBufferGetBytesPerRow(image) + 4 * x + $0, as: UInt8.self))
    }
  }

  private static func tag(_ image: CVPixelBuffer, _ key: CFString) -> String? {
    CVBufferCopyAttachment(image, key, nil) as? String
  }

  @Test func backgroundIsSeenWhereNoLayerIs() throws {
    let asset = try Self.red()
    let composition = try Self.composition(asset)
    #expect(try Self.pixel(Self.pictures(asset, composition)[0], 10, 10) == [0, 0, 0])
    let colors: [(CGColor, [Int])] = [
      (CGColor(red: 0.2, green: 0.4, blue: 1, alpha: 1), [255, 102, 51]),
      (CGColor(red: 1, green: 1, blue: 0, alpha: 0.5), [0, 128, 128]),
      (CGColor(gray: 0.6, alpha: 1), [153, 153, 153]),
    ]
    for (color, wanted) in colors {
      let instruction = try #require(composition.instructions[0] as? AVMutableVideoCompositionInstruction)
      instruction.backgroundColor = color
      #expect(instruction.backgroundColor == color)
      let image = try Self.pictures(asset, composition)[0]
      #expect(try Self.pixel(image, 10, 10) == wanted)
      #expect(try Self.pixel(image, 100, 50)[2] > 240)
    }
  }

  @Test func picturesHaveTheColoursOfTheComposition() throws {
    let asset = try Self.red()
    let composition = try Self.composition(asset)
    composition.colorPrimaries = AVVideoColorPrimaries_ITU_R_2020
    composition.colorTransferFunction = AVVideoTransferFunction_ITU_R_709_2
    composition.colorYCbCrMatrix = AVVideoYCbCrMatrix_ITU_R_2020
    let images = try Self.pictures(asset, composition)
    #expect(images.count == 10)
    for image in images {
      #expect(Self.tag(image, kCVImageBufferColorPrimariesKey) == AVVideoColorPrimaries_ITU_R_2020)
      #expect(Self.tag(image, kCVImageBufferTransferFunctionKey) == AVVideoTransferFunction_ITU_R_709_2)
      #expect(Self.tag(image, kCVImageBufferYCbCrMatrixKey) == AVVideoYCbCrMatrix_ITU_R_2020)
    }
    // Red of BT.709 in the primaries of BT.2020 (ITU-R BT.2087), through the curve of BT.709.
    let wanted = [0.0163916, 0.0690973, 0.6274040].map { light in
      Int(((light < 0.018 ? 4.5 * light : 1.099 * pow(light, 0.45) - 0.099) * 255).rounded())
    }
    let found = try Self.pixel(images[3], 100, 50)
    #expect(zip(found, wanted).allSatisfy { abs($0 - $1) <= 5 }, "\(found), not \(wanted)")
    // Converted pictures then have the tags as well.
    let planes = try Self.pictures(asset, composition, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(Self.tag(planes[0], kCVImageBufferYCbCrMatrixKey) == AVVideoYCbCrMatrix_ITU_R_2020)
    CVPixelBufferLockBaseAddress(planes[0], .readOnly)
    let luma = try #require(CVPixelBufferGetBaseAddressOfPlane(planes[0], 0)).load(
      fromByteOffset: 50 * CVPixelBufferGetBytesPerRowOfPlane(planes[0], 0) + 100, as: UInt8.self)
    CVPixelBufferUnlockBaseAddress(planes[0], .readOnly)
    // Kr, Kg and Kb of BT.2020.
    let weighted = 0.2627 * Double(found[2]) + 0.6780 * Double(found[1]) + 0.0593 * Double(found[0])
    #expect(abs(Double(luma) - (16 + weighted * 219 / 255)) < 3)
    let copy = try #require(composition.copy() as? AVVideoComposition)
    #expect(copy.colorPrimaries == AVVideoColorPrimaries_ITU_R_2020)
  }

  @Test func coloursThatCannotBeAreRefused() throws {
    let asset = try Self.red()
    func code(_ change: (AVMutableVideoComposition) -> Void) throws -> AVError.Code? {
      let composition = try Self.composition(asset)
      change(composition)
      let output = AVAssetReaderVideoCompositionOutput(
        videoTracks: asset.tracks(withMediaType: .video), videoSettings: nil)
      output.videoComposition = composition
      let reader = try AVAssetReader(asset: asset)
      reader.add(output)
      #expect(!reader.startReading())
      return (reader.error as? AVError)?.code
    }
    #expect(try code { $0.colorPrimaries = AVVideoColorPrimaries_P3_D65 } == .invalidVideoComposition)
    #expect(
      try code {
        $0.colorPrimaries = AVVideoColorPrimaries_ITU_R_2020
        $0.colorTransferFunction = AVVideoTransferFunction_ITU_R_2100_HLG
        $0.colorYCbCrMatrix = AVVideoYCbCrMatrix_ITU_R_2020
      } == .invalidVideoComposition)
  }

  // MARK: - Validation

  private final class Faults: NSObject, AVVideoCompositionValidationHandling {
    var found: [String] = []
    let continues: Bool
    init(continues: Bool = true) { self.continues = continues }

    func videoComposition(
      _ videoComposition: AVVideoComposition,
      shouldContinueValidatingAfterFindingInvalidValueForKey key: String
    ) -> Bool {
      found.append(key)
      return continues
    }
    func videoComposition(
      _ videoComposition: AVVideoComposition,
      shouldContinueValidatingAfterFindingEmptyTimeRange timeRange: CMTimeRange
    ) -> Bool {
      found.append("gap \(timeRange.start.seconds) \(timeRange.end.seconds)")
      return continues
    }
    func videoComposition(
      _ videoComposition: AVVideoComposition,
      shouldContinueValidatingAfterFindingInvalidTimeRangeIn videoCompositionInstruction:
        any AVVideoCompositionInstructionProtocol
    ) -> Bool {
      found.append("range")
      return continues
    }
    func videoComposition(
      _ videoComposition: AVVideoComposition,
      shouldContinueValidatingAfterFindingInvalidTrackIDIn videoCompositionInstruction:
        any AVVideoCompositionInstructionProtocol,
      layerInstruction: AVVideoCompositionLayerInstruction, asset: AVAsset
    ) -> Bool {
      found.append("track \(layerInstruction.trackID)")
      return continues
    }
  }

  private static func instruction(_ start: Double, _ end: Double, track: Int32? = nil)
    -> AVMutableVideoCompositionInstruction
  {
    let made = AVMutableVideoCompositionInstruction()
    made.timeRange = CMTimeRange(
      start: CMTime(seconds: start, preferredTimescale: 100),
      end: CMTime(seconds: end, preferredTimescale: 100))
    if let track {
      let layer = AVMutableVideoCompositionLayerInstruction()
      layer.trackID = track
      made.layerInstructions = [layer]
    }
    return made
  }

  @Test func faultsAreReported() throws {
    let asset = try Self.red()
    let composition = try Self.composition(asset)
    let all = CMTimeRange(start: .zero, duration: .positiveInfinity)
    func faults(
      of asset: AVAsset?, _ range: CMTimeRange = CMTimeRange(start: .zero, duration: .positiveInfinity)
    ) -> [String] {
      let faults = Faults()
      let isValid = composition.isValid(for: asset, timeRange: range, validationDelegate: faults)
      #expect(isValid == faults.found.isEmpty)
      return faults.found
    }
    #expect(faults(of: asset) == [] && faults(of: nil) == [])
    #expect(composition.isValid(for: asset, timeRange: all, validationDelegate: nil))
    composition.instructions = [Self.instruction(0.2, 0.5, track: 1), Self.instruction(0.7, 0.8, track: 9)]
    #expect(faults(of: asset) == ["gap 0.0 0.2", "gap 0.5 0.7", "track 9", "gap 0.8 1.0"])
    #expect(faults(of: nil) == ["gap 0.0 0.2", "gap 0.5 0.7"])
    #expect(faults(of: nil, .invalid) == ["gap 0.5 0.7"])
    #expect(
      !composition.isValid(
        for: asset.tracks, assetDuration: asset.duration, timeRange: .invalid, validationDelegate: nil))
    let first = Faults(continues: false)
    #expect(!composition.isValid(for: asset, timeRange: all, validationDelegate: first))
    #expect(first.found == ["gap 0.0 0.2"])
    composition.instructions = [Self.instruction(0, 0.6), Self.instruction(0.5, 1), Self.instruction(1, 1)]
    composition.renderScale = 2
    composition.frameDuration = .zero
    composition.renderSize = .zero
    composition.colorPrimaries = AVVideoColorPrimaries_P3_D65
    #expect(
      faults(of: asset) == ["frameDuration", "renderSize", "renderScale", "colorPrimaries", "range", "range"])
    composition.instructions = []
    #expect(faults(of: nil, .invalid).contains("instructions"))
  }

  @Test func faultsAreReportedAsynchronously() async throws {
    let asset = try Self.red()
    let composition = try Self.composition(asset)
    let all = CMTimeRange(start: .zero, duration: .positiveInfinity)
    #expect(try await composition.isValid(for: asset, timeRange: all, validationDelegate: nil))
    let broken = AVURLAsset(url: URL(fileURLWithPath: "/nowhere.mov"))
    await #expect(throws: (any Error).self) {
      try await composition.isValid(for: broken, timeRange: all, validationDelegate: nil)
    }
  }

  // MARK: - Pictures

  @Test func imagesOfACompositionAreThoseOfTheReader() throws {
    let asset = try Self.red()
    let composition = try Self.composition(asset)
    (composition.instructions[0] as? AVMutableVideoCompositionInstruction)?.backgroundColor = CGColor(
      red: 0, green: 0, blue: 1, alpha: 1)
    let generator = AVAssetImageGenerator(asset: asset)
    generator.videoComposition = composition
    #expect(generator.customVideoCompositor == nil)
    let time = CMTime(value: 45, timescale: 100)
    var actual = CMTime.invalid
    let image = try generator.copyCGImage(at: time, actualTime: &actual)
    #expect(image.width == 128 && image.height == 96 && actual == time)
    let wanted = try Self.pictures(asset, composition)[4]
    let bytes = try #require(image.dataProvider?.data as Data?)
    for (x, y) in [(10, 10), (63, 40), (64, 40), (120, 90)] {
      let offset = y * image.bytesPerRow + 4 * x
      #expect(try (0..<3).map { Int(bytes[offset + $0]) } == Self.pixel(wanted, x, y))
    }
    generator.maximumSize = CGSize(width: 64, height: 64)
    let small = try generator.copyCGImage(at: time, actualTime: nil)
    #expect(small.width == 64 && small.height == 48)
    #expect(throws: AVError.self) {
      try generator.copyCGImage(at: CMTime(value: 5, timescale: 1), actualTime: nil)
    }
    composition.renderScale = 3
    generator.videoComposition = composition
    #expect(throws: AVError.self) { try generator.copyCGImage(at: time, actualTime: nil) }
  }
}
