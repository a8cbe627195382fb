// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Readers' outputs in packed formats of 4:2:2, compared with ffmpeg's raw pictures of the same
/// samples.
@Suite struct PackedOutputTests {
  private func movie() throws -> String {
    try Fixture.make(
      "packed.mov",
      [
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=0.2", "-pix_fmt", "yuv422p10le", "-c:v",
        "libx264",
        "-preset", "ultrafast", "-qp", "10",
      ])
  }

  private func pictures(_ format: OSType) throws -> [CVPixelBuffer] {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track, outputSettings: [kCVPixelBufferPixelFormatTypeKey as String: format])
    reader.add(output)
    try #require(reader.startReading(), "\(String(describing: reader.error))")
    var pictures: [CVPixelBuffer] = []
    while let sample = output.copyNextSampleBuffer() {
      if let picture = CMSampleBufferGetImageBuffer(sample) { pictures.append(picture) }
    }
    #expect(reader.status == .completed)
    return pictures
  }

  private func rows(_ picture: CVPixelBuffer, _ count: Int) throws -> [UInt8] {
    CVPixelBufferLockBaseAddress(picture, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(picture, .readOnly) }
    let base = try #require(CVPixelBufferGetBaseAddress(picture))
    let stride = CVPixelBufferGetBytesPerRow(picture)
    var bytes: [UInt8] = []
    for row in 0..<CVPixelBufferGetHeight(picture) {
      bytes += UnsafeRawBufferPointer(start: base + row * stride, count: count)
    }
    return bytes
  }

  private func ffmpeg(_ options: [String]) throws -> [UInt8] {
    let scratch = Scratch()
    try Tool.run(["ffmpeg", "-v", "error", "-i", try movie()] + options + [scratch.file("raw")])
    return [UInt8](try Data(contentsOf: scratch.url("raw")))
  }

  @Test("v210 matches ffmpeg's encoder of that name") func v210() throws {
    let pictures = try pictures(kCVPixelFormatType_422YpCbCr10)
    let expected = try ffmpeg(["-c:v", "v210", "-f", "data", "-map", "0:v"])
    #expect(pictures.count == 5)
    let found = try pictures.flatMap { try rows($0, 256) }
    try #require(found.count == expected.count)
    let words = stride(from: 0, to: found.count, by: 4).filter { found[$0..<$0 + 4] != expected[$0..<$0 + 4] }
    #expect(words.isEmpty, "\(words.count) of \(found.count / 4) words differ")
    #expect(pictures.allSatisfy { CVPixelBufferGetPixelFormatType($0) == kCVPixelFormatType_422YpCbCr10 })
  }

  @Test("v216 has the samples of 10 bits in the upper bits of its words") func v216() throws {
    let pictures = try pictures(kCVPixelFormatType_422YpCbCr16)
    let raw = try ffmpeg(["-f", "rawvideo", "-pix_fmt", "yuv422p10le"])
    let samples = stride(from: 0, to: raw.count, by: 2).map { at -> Int in
      Int(raw[at]) | Int(raw[at + 1]) << 8
    }
    try #require(samples.count == 5 * 96 * 64 * 2 && pictures.count == 5)
    for (n, picture) in pictures.enumerated() {
      let bytes = try rows(picture, 96 * 4)
      let first = n * 96 * 64 * 2
      var worst = 0
      for y in 0..<64 {
        for pair in 0..<48 {
          let chroma = first + 96 * 64 + y * 48 + pair
          let expected = [
            samples[chroma], samples[first + y * 96 + 2 * pair], samples[chroma + 48 * 64],
            samples[first + y * 96 + 2 * pair + 1],
          ]
          for (at, value) in expected.enumerated() {
            let place = (y * 48 + pair) * 8 + 2 * at
            let found = Int(bytes[place]) | Int(bytes[place + 1]) << 8
            worst = max(worst, abs(found - value * 64))
          }
        }
      }
      // Less than a step of 10 bits.
      #expect(worst < 64, "picture \(n)")
    }
  }

  @Test("A packed format of unknown layout is rejected when reading starts")
  func unknown() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_4444YpCbCrA8R])
    let reader = try AVAssetReader(asset: asset)
    reader.add(output)
    #expect(!reader.startReading())
    #expect((reader.error as? AVError)?.code == .unsupportedOutputSettings)
  }
}
