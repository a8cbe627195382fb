// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// `AVVideoColorPropertiesKey` in a reader's output settings.
@Suite struct ReaderColorTests {
  private let rec601: [String: Any] = [
    AVVideoColorPrimariesKey: AVVideoColorPrimaries_ITU_R_709_2,
    AVVideoTransferFunctionKey: AVVideoTransferFunction_ITU_R_709_2,
    AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_601_4,
  ]

  private func output(_ path: String, _ color: [String: Any]) throws -> (
    AVAssetReader, AVAssetReaderTrackOutput
  ) {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar,
        AVVideoColorPropertiesKey: color,
      ])
    return (try AVAssetReader(asset: asset), output)
  }

  @Test func coloursAreConverted() throws {
    let path = try Fixture.make(
      "bt709.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=0.2", "-pix_fmt", "yuv420p", "-c:v",
        "libx264", "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709",
      ])
    let (reader, output) = try output(path, rec601)
    #expect(reader.canAdd(output))
    reader.add(output)
    #expect(reader.startReading())
    let image = try #require(output.copyNextSampleBuffer()?.imageBuffer)
    #expect(
      CVBufferCopyAttachment(image, kCVImageBufferYCbCrMatrixKey, nil) as? NSString
        == kCVImageBufferYCbCrMatrix_ITU_R_601_4)
    let raw = try Fixture.make(
      "bt601.yuv",
      [
        "-i", path, "-frames:v", "1", "-vf", "scale=in_color_matrix=bt709:out_color_matrix=bt601", "-pix_fmt",
        "yuv420p", "-f", "rawvideo",
      ])
    let theirs = try Data(contentsOf: URL(fileURLWithPath: raw))
    let ours = ReaderTests.packed(image)
    #expect(ours.count == theirs.count)
    let difference = zip(ours, theirs).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    #expect(Double(difference) / Double(ours.count) < 2)
  }

  @Test func whatCannotBeDoneIsRefused() throws {
    var incomplete = rec601
    incomplete[AVVideoYCbCrMatrixKey] = nil
    let (reader, partial) = try output(Fixture.movie(), incomplete)
    #expect(!reader.canAdd(partial))
    // A high dynamic range can be mapped to an ordinary one, and not the other way round.
    let high: [String: Any] = [
      AVVideoColorPrimariesKey: AVVideoColorPrimaries_ITU_R_2020,
      AVVideoTransferFunctionKey: AVVideoTransferFunction_SMPTE_ST_2084_PQ,
      AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_2020,
    ]
    let (other, toned) = try output(Fixture.movie(), high)
    other.add(toned)
    #expect(!other.startReading())
    #expect((other.error as? AVError)?.code == .unsupportedOutputSettings)
  }
}
