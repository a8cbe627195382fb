// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// The start of fragments, and whether those of several writers can be concatenated.
@Suite(.serialized) struct FragmentIntervalTests {
  private func source() throws -> String {
    try Fixture.make(
      "intervals.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=4", "-c:v", "libx264", "-preset", "ultrafast", "-g",
        "5",
        "-bf", "0", "-x264-params", "scenecut=0",
      ])
  }

  /// Copies a part of the movie.
  private func write(
    to url: URL, _ part: CMTimeRange, _ configure: (AVAssetWriter) -> Void
  ) async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try source()))
    let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: video, outputSettings: nil)
    reader.timeRange = part
    reader.add(output)
    #expect(reader.startReading())
    let writer = try AVAssetWriter(outputURL: url, fileType: .mp4)
    configure(writer)
    let input = AVAssetWriterInput(
      mediaType: .video, outputSettings: nil,
      sourceFormatHint: try await video.load(.formatDescriptions).first)
    input.mediaTimeScale = 25_000
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: part.start)
    while let sample = output.copyNextSampleBuffer() { #expect(input.append(sample)) }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
  }

  private struct Fragment { var number: Int; var samples: Int; var time: Int }

  /// The contents of the boxes of the fragments.
  private func fragments(_ data: Data) -> [Fragment] {
    let bytes = [UInt8](data)
    func number(_ at: Int, _ count: Int = 4) -> Int { bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) } }
    func boxes(_ range: Range<Int>) -> [(type: String, content: Range<Int>)] {
      var found: [(String, Range<Int>)] = []
      var at = range.lowerBound
      while at + 8 <= range.upperBound {
        let size = number(at)
        guard size >= 8, at + size <= range.upperBound else { break }
        found.append((String(decoding: bytes[at + 4..<at + 8], as: UTF8.self), at + 8..<at + size))
        at += size
      }
      return found
    }
    return boxes(0..<bytes.count).filter { $0.type == "moof" }.map { moof in
      let parts = boxes(moof.content)
      var fragment = Fragment(number: -1, samples: 0, time: -1)
      if let header = parts.first(where: { $0.type == "mfhd" }) {
        fragment.number = number(header.content.lowerBound + 4)
      }
      if let track = parts.first(where: { $0.type == "traf" }) {
        for box in boxes(track.content) {
          let start = box.content.lowerBound
          if box.type == "trun" { fragment.samples += number(start + 4) }
          if box.type == "tfdt" { fragment.time = number(start + 4, bytes[start] == 1 ? 8 : 4) }
        }
      }
      return fragment
    }
  }

  private func seconds(_ value: Double) -> CMTime { CMTime(seconds: value, preferredTimescale: 1000) }

  @Test("The first fragment has a length of its own; without one it is as long as the others")
  func theFirstFragmentHasALengthOfItsOwn() async throws {
    let scratch = Scratch()
    let whole = CMTimeRange(start: .zero, duration: seconds(4))
    try await write(to: scratch.url("own.mp4"), whole) { writer in
      #expect(!writer.initialMovieFragmentInterval.isValid)
      writer.movieFragmentInterval = seconds(1)
      writer.initialMovieFragmentInterval = seconds(0.2)
      #expect(writer.initialMovieFragmentInterval == seconds(0.2))
    }
    #expect(fragments(try Data(contentsOf: scratch.url("own.mp4"))).map(\.samples) == [5, 25, 25, 25, 20])
    try await write(to: scratch.url("same.mp4"), whole) { $0.movieFragmentInterval = seconds(1) }
    #expect(fragments(try Data(contentsOf: scratch.url("same.mp4"))).map(\.samples) == [25, 25, 25, 25])
    // Alone it makes no fragments.
    try await write(to: scratch.url("none.mp4"), whole) { $0.initialMovieFragmentInterval = seconds(1) }
    #expect(fragments(try Data(contentsOf: scratch.url("none.mp4"))).isEmpty)
    for name in ["own.mp4", "same.mp4", "none.mp4"] {
      #expect(try Tool.decodingErrors(scratch.file(name)) == "")
    }
  }

  @Test("Fragments of two writers make one movie after the first one's header")
  func fragmentsOfTwoWritersCanBeCombined() async throws {
    let scratch = Scratch()
    for (index, start) in [0.0, 2.0].enumerated() {
      try await write(
        to: scratch.url("\(index).mp4"), CMTimeRange(start: seconds(start), duration: seconds(2))
      ) { writer in
        #expect(!writer.producesCombinableFragments)
        writer.producesCombinableFragments = true
        writer.movieFragmentInterval = seconds(1)
        writer.initialMovieFragmentSequenceNumber = 1 + 2 * index
      }
    }
    let first = try Data(contentsOf: scratch.url("0.mp4"))
    let second = try Data(contentsOf: scratch.url("1.mp4"))
    #expect(fragments(first).map(\.number) + fragments(second).map(\.number) == [1, 2, 3, 4])
    #expect(fragments(second).map(\.time) == [50_000, 75_000])
    // The box that ends with the name begins four bytes before it.
    let cut = try #require(second.range(of: Data("moof".utf8))).lowerBound - 4
    try (first + second[cut...]).write(to: scratch.url("both.mp4"))
    let both = try Probe.samples(scratch.file("both.mp4"))
    let source = try Probe.samples(try source())
    #expect(both.map(\.hash) == source.map(\.hash))
    #expect(both.map(\.pts) == source.map(\.pts))
    #expect(try Tool.decodingErrors(scratch.file("both.mp4")) == "")
  }
}
