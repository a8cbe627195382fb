// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreVideo
import Foundation
import Testing

/// The meaning of alpha in files, and where there is none though a byte is kept for it.
@Suite struct AlphaTests {
  private static let bgra = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]

  /// Blue pictures, whose alpha is an expression of ffmpeg's.
  private static func asset(_ name: String, alpha: String, _ arguments: [String]) throws -> AVURLAsset {
    let path = try Fixture.make(
      name,
      [
        "-f", "lavfi", "-i", "color=black:size=64x48:rate=10:duration=0.5", "-vf",
        "format=rgba,geq=r=0:g=0:b=255:a='\(alpha)'",
      ] + arguments)
    return AVURLAsset(url: URL(fileURLWithPath: path))
  }

  private static func alpha(of sample: CMSampleBuffer) throws -> [UInt8] {
    let bytes = [UInt8](ReaderTests.packed(try #require(sample.imageBuffer)))
    return stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] }
  }

  /// The first two pictures have zeros in the fourth byte of all pixels; in the other, one pixel
  /// has something there.
  @Test(arguments: [false, true]) func aBitmapHasAlphaFromTheFirstOn(_ hasAny: Bool) throws {
    let asset = try Self.asset(
      "bitmap-alpha-\(hasAny).avi", alpha: hasAny ? "if(gte(N,2)*eq(X,63)*eq(Y,0),7,0)" : "0",
      ["-c:v", "rawvideo", "-pix_fmt", "bgra"])
    let samples = try ReaderTests.read(asset, settings: Self.bgra)
    #expect(samples.count == 5)
    for (index, sample) in samples.enumerated() {
      let alpha = try Self.alpha(of: sample)
      let isOpaque = !hasAny || index < 2
      #expect(alpha.enumerated().allSatisfy { $1 == (isOpaque ? 255 : $0 == 63 ? 7 : 0) }, "\(index)")
      let mode = sample.imageBuffer.flatMap {
        CVBufferCopyAttachment($0, kCVImageBufferAlphaChannelModeKey, nil)
      }
      #expect((mode == nil) == isOpaque, "\(index)")
    }
    // The visible part.
    let image = try AVAssetImageGenerator(asset: asset).copyCGImage(at: .zero, actualTime: nil)
    let bytes = try #require(image.dataProvider?.data as Data?)
    #expect(Array(bytes[(20 * image.bytesPerRow + 4 * 20)...].prefix(4)) == [255, 0, 0, 255])
  }

  /// Other containers say that their pictures have alpha.
  @Test func whatIsTransparentThroughoutStaysSo() throws {
    for (name, codec) in [("transparent.mov", "qtrle"), ("transparent.nut", "rawvideo")] {
      let asset = try Self.asset(
        name, alpha: "0", ["-c:v", codec, "-pix_fmt", codec == "qtrle" ? "argb" : "bgra"])
      let first = try #require(ReaderTests.read(asset, settings: Self.bgra).first)
      #expect(try Self.alpha(of: first).allSatisfy { $0 == 0 }, "\(name)")
    }
  }
}
