// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreGraphics
import ElementaryStream
import ImageIO
import UniformTypeIdentifiers
import VideoToolbox

/// The jobs of the cookbook, in its order: each makes `result` from `movie`.
enum Recipes {
  static let all: [(String, @Sendable (AVURLAsset, URL) async throws -> Void)] = [
    ("smaller.mp4", smaller), ("rate.mp4", rate), ("quality.mp4", quality), ("passes.mp4", passes),
    ("hevc.mp4", hevc), ("hevc10.mp4", hevc10), ("size.mp4", size), ("fill.mp4", fill),
    ("cut.mp4", cut), ("cut-encoded.mp4", cutAndEncode), ("limit.mp4", limit), ("sound.m4a", audioAlone),
    ("silent.mp4", silent), ("aac.mp4", audioAsAAC), ("constant.mp4", constantRate),
    ("ceiling.mp4", rateWithCeiling), ("keys.mp4", keyFrames), ("effort.mp4", effort),
    ("baseline.mp4", baseline), ("progressive.mp4", progressive), ("container.mov", container),
    ("stream.264", elementaryStream), ("raw.mp4", rawStream), ("thumbnail.png", thumbnail),
    ("pictures.mp4", pictures),
  ]

  @Sendable static func smaller(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(movie, to: result)
  }

  @Sendable static func rate(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(movie, to: result, properties: [kVTCompressionPropertyKey_AverageBitRate: 1_500_000])
  }

  @Sendable static func quality(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(movie, to: result, properties: [kVTCompressionPropertyKey_Quality: 0.6])
  }

  @Sendable static func passes(_ movie: AVURLAsset, _ result: URL) async throws {
    let export = AVAssetExportSession(asset: movie, presetName: AVAssetExportPresetHighestQuality)!
    export.canPerformMultiplePassesOverSourceMediaData = true
    try await export.export(to: result, as: .mp4)
  }

  @Sendable static func hevc(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(movie, to: result, codec: .hevc)
  }

  @Sendable static func hevc10(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(
      movie, to: result, codec: .hevc,
      properties: [kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_HEVC_Main10_AutoLevel],
      hasTenBits: true)
  }

  @Sendable static func size(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(movie, to: result, size: CGSize(width: 640, height: 360))
  }

  @Sendable static func fill(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(
      movie, to: result, size: CGSize(width: 480, height: 480),
      settings: [AVVideoScalingModeKey: AVVideoScalingModeResizeAspectFill])
  }

  @Sendable static func cut(_ movie: AVURLAsset, _ result: URL) async throws {
    let export = AVAssetExportSession(asset: movie, presetName: AVAssetExportPresetPassthrough)!
    export.timeRange = CMTimeRange(
      start: CMTime(seconds: 2, preferredTimescale: 600),
      duration: CMTime(seconds: 5, preferredTimescale: 600))
    try await export.export(to: result, as: .mp4)
  }

  @Sendable static func cutAndEncode(_ movie: AVURLAsset, _ result: URL) async throws {
    let export = AVAssetExportSession(asset: movie, presetName: AVAssetExportPreset640x480)!
    export.timeRange = CMTimeRange(
      start: CMTime(seconds: 2, preferredTimescale: 600),
      end: CMTime(seconds: 7, preferredTimescale: 600))
    try await export.export(to: result, as: .mp4)
  }

  @Sendable static func limit(_ movie: AVURLAsset, _ result: URL) async throws {
    let export = AVAssetExportSession(asset: movie, presetName: AVAssetExportPresetMediumQuality)!
    export.fileLengthLimit = 500_000
    try await export.export(to: result, as: .mp4)
  }

  @Sendable static func audioAlone(_ movie: AVURLAsset, _ result: URL) async throws {
    let export = AVAssetExportSession(asset: movie, presetName: AVAssetExportPresetAppleM4A)!
    try await export.export(to: result, as: .m4a)
  }

  @Sendable static func silent(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(movie, to: result, keepsAudio: false)
  }

  @Sendable static func audioAsAAC(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(
      movie, to: result,
      audio: [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 48_000, AVNumberOfChannelsKey: 2,
        AVEncoderBitRateKey: 96_000,
      ])
  }

  @Sendable static func constantRate(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(
      movie, to: result, properties: [kVTCompressionPropertyKey_ConstantBitRate: 1_500_000])
  }

  @Sendable static func rateWithCeiling(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(
      movie, to: result,
      properties: [
        kVTCompressionPropertyKey_VariableBitRate: 1_500_000,
        kVTCompressionPropertyKey_VBVMaxBitRate: 2_500_000,
        kVTCompressionPropertyKey_VBVBufferDuration: 2,
      ])
  }

  @Sendable static func keyFrames(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(
      movie, to: result, properties: [kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration: 2])
  }

  @Sendable static func effort(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(movie, to: result, properties: [kOVTCompressionPropertyKey_Effort: 1])
  }

  @Sendable static func baseline(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(
      movie, to: result,
      properties: [kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_H264_Baseline_AutoLevel])
  }

  @Sendable static func progressive(_ movie: AVURLAsset, _ result: URL) async throws {
    try await encode(
      movie, to: result,
      reading: [
        kVTDecompressionPropertyKey_FieldMode: kVTDecompressionProperty_FieldMode_DeinterlaceFields
      ])
  }

  @Sendable static func container(_ movie: AVURLAsset, _ result: URL) async throws {
    let export = AVAssetExportSession(asset: movie, presetName: AVAssetExportPresetPassthrough)!
    try await export.export(to: result, as: .mov)
  }

  @Sendable static func elementaryStream(_ movie: AVURLAsset, _ result: URL) async throws {
    // Out of the movie as they are stored, into start codes and parameter sets before key frames.
    let track = try await movie.loadTracks(withMediaType: .video)[0]
    let reader = try AVAssetReader(asset: movie)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    reader.add(output)
    reader.startReading()
    var stream = Data()
    while let sample = output.copyNextSampleBuffer() { stream += try sample.annexBData() }
    try stream.write(to: result)
  }

  @Sendable static func rawStream(_ movie: AVURLAsset, _ result: URL) async throws {
    let stream = result.deletingLastPathComponent().appendingPathComponent("stream.264")
    let asset = AVURLAsset(url: stream, options: [OVTURLAssetElementaryStreamFrameRateKey: 30])
    try await encode(asset, to: result)
  }

  @Sendable static func pictures(_ movie: AVURLAsset, _ result: URL) async throws {
    let writer = try AVAssetWriter(outputURL: result, fileType: .mp4)
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [
        AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 320, AVVideoHeightKey: 180,
      ])
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input,
      sourcePixelBufferAttributes: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA,
        kCVPixelBufferWidthKey as String: 320, kCVPixelBufferHeightKey as String: 180,
      ])
    writer.add(input)
    guard writer.startWriting() else { throw writer.error! }
    writer.startSession(atSourceTime: .zero)
    // One picture here; a sequence has a file for each number.
    let file = result.deletingLastPathComponent().appendingPathComponent("thumbnail.png")
    for number in 0..<25 {
      guard let source = CGImageSourceCreateWithURL(file as CFURL, nil),
        let image = CGImageSourceCreateImageAtIndex(source, 0, nil)
      else { throw AVError(.fileFormatNotRecognized) }
      var buffer: CVPixelBuffer?
      CVPixelBufferPoolCreatePixelBuffer(nil, adaptor.pixelBufferPool!, &buffer)
      CVPixelBufferLockBaseAddress(buffer!, [])
      let context = CGContext(
        data: CVPixelBufferGetBaseAddress(buffer!), width: 320, height: 180, bitsPerComponent: 8,
        bytesPerRow: CVPixelBufferGetBytesPerRow(buffer!), space: CGColorSpaceCreateDeviceRGB(),
        bitmapInfo: CGImageAlphaInfo.noneSkipFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue)
      context?.draw(image, in: CGRect(x: 0, y: 0, width: 320, height: 180))
      CVPixelBufferUnlockBaseAddress(buffer!, [])
      while !input.isReadyForMoreMediaData { try await Task.sleep(for: .milliseconds(1)) }
      adaptor.append(buffer!, withPresentationTime: CMTime(value: CMTimeValue(number), timescale: 25))
    }
    input.markAsFinished()
    await writer.finishWriting()
    if let error = writer.error { throw error }
  }

  @Sendable static func thumbnail(_ movie: AVURLAsset, _ result: URL) async throws {
    let generator = AVAssetImageGenerator(asset: movie)
    generator.appliesPreferredTrackTransform = true
    generator.maximumSize = CGSize(width: 320, height: 320)
    let (image, _) = try await generator.image(at: CMTime(value: 1, timescale: 1))
    let file = CGImageDestinationCreateWithURL(
      result as CFURL, UTType.png.identifier as CFString, 1, nil)!
    CGImageDestinationAddImage(file, image, nil)
    guard CGImageDestinationFinalize(file) else { throw AVError(.unknown) }
  }
}
