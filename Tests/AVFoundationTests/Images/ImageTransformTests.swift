// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Pictures of movies whose track header asks for more than a quarter turn.
@Suite struct ImageTransformTests {
  private static let scratch = Scratch()

  /// A movie of 64 by 48 whose left half is red and right half blue, with these numbers in its
  /// track header.
  private func movie(_ name: String, a: Double, b: Double, c: Double, d: Double) throws -> AVURLAsset {
    let plain = try Fixture.make(
      "two-colours.mov",
      [
        "-f", "lavfi", "-i", "color=red:size=32x48:rate=10:duration=0.3", "-f", "lavfi", "-i",
        "color=blue:size=32x48:rate=10:duration=0.3", "-filter_complex", "hstack", "-c:v", "libx264", "-qp",
        "4",
        "-pix_fmt", "yuv420p",
      ])
    var data = try Data(contentsOf: URL(fileURLWithPath: plain))
    let header = try #require(data.range(of: Data("tkhd".utf8)))
    // Version 0: 4 bytes of flags, 20 of times and numbers, 8 reserved, 8 of layer, group and
    // volume.
    let at = header.upperBound + 40
    for (index, value) in [a, b, 0, c, d].enumerated() {
      let fixed = UInt32(bitPattern: Int32(clamping: Int64((value * 65536).rounded())))
      for byte in 0..<4 {
        data[at + 4 * index + byte] = UInt8(truncatingIfNeeded: fixed >> (24 - 8 * UInt32(byte)))
      }
    }
    let url = Self.scratch.url(name)
    try data.write(to: url, options: .atomic)
    return AVURLAsset(url: url)
  }

  private func image(_ asset: AVAsset, largest: CGSize = .zero) throws -> CGImage {
    let generator = AVAssetImageGenerator(asset: asset)
    generator.appliesPreferredTrackTransform = true
    generator.maximumSize = largest
    return try generator.copyCGImage(at: .zero, actualTime: nil)
  }

  private func pixel(_ image: CGImage, _ x: Int, _ y: Int) throws -> (b: UInt8, g: UInt8, r: UInt8, a: UInt8)
  {
    let data = try #require(image.dataProvider?.data) as Data
    let at = data.startIndex + y * image.bytesPerRow + 4 * x
    return (data[at], data[at + 1], data[at + 2], data[at + 3])
  }

  /// A header that asks for a picture of a million rows, for none at all, or for a line.
  @Test(arguments: [
    (3.0, 0.0, 0.0, 32767.0), (0, 0, 0, 0), (1, 1, 1, 1), (-32768, 32767, 32767, -32768), (0, 32767, 2, 0),
    (0.0001, 0, 0, 1), (2, 0, 0, 0),
  ])
  func leavesOutWhatCannotBeDone(a: Double, b: Double, c: Double, d: Double) throws {
    let made = try image(movie("odd-\(a)-\(b)-\(c)-\(d).mov", a: a, b: b, c: c, d: d))
    #expect((made.width, made.height) == (64, 48))
    #expect(try pixel(made, 8, 24).r > 200)
    #expect(try pixel(made, 56, 24).b > 200)
  }

  /// Wider and higher, in any direction: colours and corners lie where the matrix sends them.
  /// Pixels that are a thousand times as wide as they are high: 268 million of them, were they made
  /// square.
  @Test func pixelsOfAnAbsurdShapeAreTakenAsSquare() throws {
    let path = try Fixture.make(
      "giant.mp4",
      [
        "-f", "lavfi", "-i", "color=red:size=16x16384:rate=2:duration=0.5", "-vf",
        "setsar=1024:max=100000", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
      ])
    #expect(try Probe.properties(path, "stream=sample_aspect_ratio")["sample_aspect_ratio"] == "1024:1")
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    #expect(asset.tracks.first?.naturalSize == CGSize(width: 16, height: 16384))
    let made = try image(asset)
    #expect(made.width == 16 && made.height == 16384)
    let generator = AVAssetImageGenerator(asset: asset)
    generator.videoComposition = AVVideoComposition(propertiesOf: asset)
    let composed = try generator.copyCGImage(at: .zero, actualTime: nil)
    #expect(composed.width == 16 && composed.height == 16384)
    // The generated image of a wide screen is not too large.
    let wide = try Fixture.make(
      "sixteen-wide.mp4",
      [
        "-f", "lavfi", "-i", "color=red:size=64x64:rate=2:duration=0.5", "-vf", "setsar=16:max=1000", "-c:v",
        "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
      ])
    #expect(
      AVURLAsset(url: URL(fileURLWithPath: wide)).tracks.first?.naturalSize == CGSize(width: 1024, height: 64)
    )
  }

  @Test func scalesAndMirrors() throws {
    let made = try image(movie("wide.mov", a: -3, b: 0, c: 0, d: 0.5))
    #expect((made.width, made.height) == (192, 24))
    #expect(try pixel(made, 20, 12).b > 200)
    #expect(try pixel(made, 170, 12).r > 200)
    #expect(try pixel(made, 0, 0).a == 255)
  }

  /// An eighth of a turn: the corners of the box stay empty, the middle line divides the colours.
  @Test func turnsByAnyAngle() throws {
    let root = 0.5.squareRoot()
    let made = try image(movie("turned.mov", a: root, b: root, c: -root, d: root))
    let side = Int((112 * root).rounded())
    #expect((made.width, made.height) == (side, side))
    for (x, y) in [(0, 0), (side - 1, 0), (0, side - 1), (side - 1, side - 1)] {
      #expect(try pixel(made, x, y).a == 0)
    }
    // Half of the left half's way from the middle, turned: to the upper left; the right half's to
    // the lower right.
    let step = Int(16 * root)
    #expect(try pixel(made, side / 2 - step, side / 2 - step).r > 200)
    #expect(try pixel(made, side / 2 + step, side / 2 + step).b > 200)
    let small = try image(
      movie("turned.mov", a: root, b: root, c: -root, d: root), largest: CGSize(width: 40, height: 0))
    #expect((39...41).contains(small.width))
  }

  @Test(arguments: [(0.0, 1.0, -1.0, 0.0), (0, -1, 1, 0), (-1, 0, 0, -1), (-1, 0, 0, 1)])
  func quarterTurnsMovePixels(a: Double, b: Double, c: Double, d: Double) throws {
    let plain = try image(movie("plain.mov", a: 1, b: 0, c: 0, d: 1))
    let turned = try image(movie("quarter-\(a)-\(b)-\(c)-\(d).mov", a: a, b: b, c: c, d: d))
    let (width, height) = b == 0 ? (64, 48) : (48, 64)
    #expect((turned.width, turned.height) == (width, height))
    for (x, y) in [(0, 0), (5, 40), (63, 47), (31, 20), (32, 20)] {
      // About the middle, in half pixels.
      let (u, v) = (Double(2 * x - 63), Double(2 * y - 47))
      let toX = (Int(a * u + c * v) + width - 1) / 2
      let toY = (Int(b * u + d * v) + height - 1) / 2
      #expect(try pixel(plain, x, y) == pixel(turned, toX, toY))
    }
  }
}
