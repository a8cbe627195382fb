// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Odd sizes in movies: the stream shows a sample more, and the sample description's clean aperture
/// leaves it out.
@Suite(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264))) struct OddSizeTests {
  private let scratch = Scratch()

  /// Eight numbers of a `clap` box, and width and height of the first track header, in a file.
  private func boxes(_ url: URL) throws -> (aperture: [Int32]?, track: (width: Double, height: Double)) {
    let file = try Data(contentsOf: url)
    func numbers(_ at: Int, _ count: Int) -> [Int32] {
      (0..<count).map { n in
        Int32(
          bitPattern: file[(at + 4 * n)..<(at + 4 * n + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      }
    }
    // After version, flags, times, layer, volume and matrix.
    let header = try #require(file.range(of: Data("tkhd".utf8)))
    let size = numbers(header.upperBound + 76, 2).map { Double($0) / 65536 }
    return (
      file.range(of: Data("clap".utf8)).map { numbers($0.upperBound, 8) }, (width: size[0], height: size[1])
    )
  }

  @Test(arguments: [AVFileType.mov, .mp4], [false, true])
  func aWriterTakesOddSizes(_ type: AVFileType, isFragmented: Bool) async throws {
    let url = scratch.url("odd.\(type == .mov ? "mov" : "mp4")")
    let writer = try AVAssetWriter(url: url, fileType: type)
    if isFragmented { writer.movieFragmentInterval = CMTime(value: 1, timescale: 2) }
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [
        AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 193, AVVideoHeightKey: 143,
        AVVideoCompressionPropertiesKey: [AVVideoMaxKeyFrameIntervalKey: 5],
      ])
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input,
      sourcePixelBufferAttributes: [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA])
    writer.add(input)
    try #require(writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: .zero)
    for frame in 0..<24 {
      let pool = try #require(adaptor.pixelBufferPool)
      var buffer: CVPixelBuffer?
      CVPixelBufferPoolCreatePixelBuffer(nil, pool, &buffer)
      let picture = try #require(buffer)
      #expect(CVPixelBufferGetWidth(picture) == 193 && CVPixelBufferGetHeight(picture) == 143)
      CVPixelBufferLockBaseAddress(picture, [])
      memset(
        try #require(CVPixelBufferGetBaseAddress(picture)), Int32(frame * 9),
        CVPixelBufferGetDataSize(picture))
      CVPixelBufferUnlockBaseAddress(picture, [])
      try #require(adaptor.append(picture, withPresentationTime: CMTime(value: Int64(frame), timescale: 24)))
    }
    input.markAsFinished()
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
    let found = try boxes(url)
    #expect(found.aperture == [193, 1, 143, 1, -1, 2, -1, 2])
    #expect(found.track == (193, 143))
    let properties = try Probe.properties(url.path, "stream=width,height,nb_read_frames")
    #expect(properties["width"] == "194" && properties["height"] == "144", "\(properties)")
    #expect(try Tool.decodingErrors(url.path).isEmpty)
  }

  @Test func anExportKeepsAnOddSize() async throws {
    let source = try Fixture.make(
      "odd-source.mov",
      Fixture.picture + [
        "-t", "0.5", "-vf", "format=yuv444p,crop=193:143:0:0:exact=1", "-c:v", "libx264", "-preset",
        "veryfast", "-qp", "1",
      ])
    let session = try #require(
      AVAssetExportSession(
        asset: AVURLAsset(url: URL(fileURLWithPath: source)), presetName: AVAssetExportPresetHighestQuality))
    let url = scratch.url("export.mov")
    try await session.export(to: url, as: .mov)
    let found = try boxes(url)
    #expect(found.aperture == [193, 1, 143, 1, -1, 2, -1, 2])
    let properties = try Probe.properties(url.path, "stream=width,height")
    #expect(properties["width"] == "194" && properties["height"] == "144", "\(properties)")
    #expect(try Tool.decodingErrors(url.path).isEmpty)
  }

  /// As a program does it that makes an encoder of what a track says of its size.
  @Test func theNaturalSizeOfAMovieWithWidePixelsIsASessionsSize() async throws {
    let source = try Fixture.make(
      "wide-pixels.mp4",
      ["-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25:duration=0.2"] + [
        "-vf", "setsar=193/176", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: source))
    let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let size = try await track.load(.naturalSize)
    #expect(size == CGSize(width: 193, height: 144))
    for codec in [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC] where WriterTests.hasEncoder(codec) {
      var session: VTCompressionSession?
      let status = VTCompressionSessionCreate(
        allocator: nil, width: Int32(size.width), height: Int32(size.height), codecType: codec,
        encoderSpecification: nil, imageBufferAttributes: nil, compressedDataAllocator: nil,
        outputCallback: nil, refcon: nil, compressionSessionOut: &session)
      #expect(status == noErr)
      #expect(VTCompressionSessionPrepareToEncodeFrames(try #require(session)) == noErr)
    }
  }
}
