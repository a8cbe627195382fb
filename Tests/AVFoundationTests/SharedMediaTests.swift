// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Real clips and the conformance streams, where they are at hand.
@Suite struct SharedMediaTests {
  static let folder: String? = {
    var directory = URL(fileURLWithPath: #filePath)
    for _ in 0..<6 {
      directory.deleteLastPathComponent()
      let candidate = directory.appendingPathComponent("shared/media").path
      if FileManager.default.fileExists(atPath: candidate + "/clips") { return candidate }
    }
    return nil
  }()

  static func clip(_ name: String) -> URL { URL(fileURLWithPath: (folder ?? "") + "/clips/" + name) }

  @Test(
    .enabled(if: folder != nil),
    arguments: [
      ("bunny_720p25.mp4", 132, 25.0), ("flower_720p30.264", 300, 30.0), ("screen_1024x768.264", 50, 30.0),
      ("street_768x576.avi", 795, 10.0), ("carphone_qcif.mp4", 120, 29.97),
    ])
  func clipsAreReadWhole(_ name: String, _ count: Int, _ rate: Double) throws {
    let asset = AVURLAsset(url: Self.clip(name))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    #expect(abs(Double(track.nominalFrameRate) - rate) < 0.01)
    #expect(abs(track.timeRange.duration.seconds - Double(count) / rate) < 0.05)
    let stored = try ReaderTests.read(asset)
    #expect(stored.count == count)
    let times = stored.map { CMSampleBufferGetPresentationTimeStamp($0) }.sorted()
    #expect(times.first == .zero)
    #expect(Set(times.map(\.value)).count == count)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: [:])
    output.alwaysCopiesSampleData = false
    let reader = try AVAssetReader(asset: asset)
    reader.add(output)
    #expect(reader.startReading())
    var shown: [CMTime] = []
    while let sample = output.copyNextSampleBuffer() {
      shown.append(CMSampleBufferGetPresentationTimeStamp(sample))
    }
    #expect(reader.status == .completed, "\(String(describing: reader.error))")
    #expect(shown == times)
  }

  /// ffmpeg's tool rounds the left edge of this stream's cropping; the standard does not
  /// (`ffmpeg -flags unaligned` gives this sum).
  static let exactlyCropped = ["CVFC1_Sony_C.jsv": "9fdb17e17d332b5d9752362c9c7ff9b0"]

  /// Name, frames and sum of a stream.
  static let conformance: [(String, Int, String)] = {
    guard let folder, let text = try? String(contentsOfFile: folder + "/conformance/md5.tsv", encoding: .utf8)
    else { return [] }
    return text.split(separator: "\n").compactMap { line in
      let columns = line.split(separator: "\t").map(String.init)
      guard columns.count >= 6, let frames = Int(columns[4]) else { return nil }
      return (columns[0], frames, exactlyCropped[columns[0]] ?? columns[5])
    }
  }()

  static func sum(_ asset: AVAsset) throws -> (Int, String) {
    let settings = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar]
    let samples = try ReaderTests.read(asset, settings: settings)
    let scratch = Scratch()
    try Data().write(to: scratch.url("frames"))
    let file = try FileHandle(forWritingTo: scratch.url("frames"))
    for sample in samples { try file.write(contentsOf: ReaderTests.packed(try #require(sample.imageBuffer))) }
    try file.close()
    let sum = try Tool.run(["md5sum", scratch.file("frames")]).prefix(32)
    return (samples.count, String(sum))
  }

  @Test(.enabled(if: !conformance.isEmpty), arguments: conformance)
  func conformanceStreamsDecode(_ name: String, _ frames: Int, _ expected: String) async throws {
    let path = (Self.folder ?? "") + "/conformance/" + name
    let (count, found) = try Self.sum(AVURLAsset(url: URL(fileURLWithPath: path)))
    #expect(count == frames, "\(name)")
    #expect(found == expected, "\(name)")
    let scratch = Scratch()
    let writer = try await WriterTests.copy(path, to: scratch.url("a.mov"), type: .mov)
    #expect(writer.status == .completed, "\(name): \(String(describing: writer.error))")
    let (again, movie) = try Self.sum(AVURLAsset(url: scratch.url("a.mov")))
    #expect(again == frames, "\(name) as a movie")
    #expect(movie == expected, "\(name) as a movie")
  }
}
