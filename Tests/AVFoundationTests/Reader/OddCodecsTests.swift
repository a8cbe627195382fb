// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Rare codecs and pixel formats: each picture is decoded, close to ffmpeg's result.
@Suite struct OddCodecsTests {
  static let cases: [(String, [String])] = [
    ("wmv2.avi", ["-c:v", "wmv2"]), ("wmv2.asf", ["-c:v", "wmv2"]), ("huffyuv.avi", ["-c:v", "huffyuv"]),
    ("ffvhuff.avi", ["-c:v", "ffvhuff"]), ("utvideo.avi", ["-c:v", "utvideo"]),
    ("animation.mov", ["-c:v", "qtrle"]), ("a.apng", ["-c:v", "apng"]), ("ffv1.mkv", ["-c:v", "ffv1"]),
    ("ffv1-10.avi", ["-c:v", "ffv1", "-pix_fmt", "yuv422p10"]),
    ("rgb.avi", ["-c:v", "rawvideo", "-pix_fmt", "bgr24"]),
    ("rgb.mov", ["-c:v", "rawvideo", "-pix_fmt", "rgb24"]),
    ("rgb.nut", ["-c:v", "rawvideo", "-pix_fmt", "rgb24"]),
    ("gbrp.nut", ["-c:v", "rawvideo", "-pix_fmt", "gbrp"]),
    ("i420.avi", ["-c:v", "rawvideo", "-pix_fmt", "yuv420p"]),
    ("i420.mkv", ["-c:v", "rawvideo", "-pix_fmt", "yuv420p"]),
    ("i420.nut", ["-c:v", "rawvideo", "-pix_fmt", "yuv420p"]),
    ("deep444.nut", ["-c:v", "rawvideo", "-pix_fmt", "yuv444p12"]),
    ("gray.nut", ["-c:v", "rawvideo", "-pix_fmt", "gray"]),
    ("pal8.avi", ["-c:v", "rawvideo", "-pix_fmt", "pal8"]),
    ("pal8.mov", ["-c:v", "qtrle", "-pix_fmt", "gray"]),
    ("a.gif", []), ("png.mov", ["-c:v", "png"]), ("flv1.flv", ["-c:v", "flv"]),
    ("wmv1.avi", ["-c:v", "wmv1"]), ("xvid.avi", ["-c:v", "mpeg4", "-bf", "2"]),
    ("a.ogv", ["-c:v", "libtheora"]),
  ]

  @Test(arguments: cases) func picturesAreFFmpegs(_ name: String, _ arguments: [String]) throws {
    let path = try Fixture.make(
      name, ["-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=0.6"] + arguments)
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let settings = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
    let samples = try ReaderTests.read(asset, settings: settings)
    let raw = try Fixture.make(
      name + ".bgra", ["-i", path, "-fps_mode", "passthrough", "-pix_fmt", "bgra", "-f", "rawvideo"])
    let theirs = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
    let size = 160 * 120 * 4
    #expect(samples.count == theirs.count / size)
    for (index, sample) in samples.enumerated() where (index + 1) * size <= theirs.count {
      let ours = [UInt8](ReaderTests.packed(try #require(sample.imageBuffer)))
      var sum = 0
      for place in 0..<size where place % 4 != 3 {
        sum += abs(Int(ours[place]) - Int(theirs[index * size + place]))
      }
      #expect(Double(sum) / Double(size) < 4, "picture \(index)")
    }
  }
}
