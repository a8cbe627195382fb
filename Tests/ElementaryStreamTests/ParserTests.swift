// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import ElementaryStream
import Testing

/// A stream with the options that make it.
struct StreamCase: CustomTestStringConvertible, Sendable {
  var codec: ElementaryStreamCodec
  var options: [String] = []
  var testDescription: String { "\(codec) \(options.joined(separator: " "))" }
}

private let cases: [StreamCase] = [
  StreamCase(codec: .h264),
  StreamCase(codec: .h264, options: ["-bf", "0"]),
  StreamCase(codec: .h264, options: ["-profile:v", "baseline"]),
  StreamCase(codec: .h264, options: ["-bf", "7", "-b_strategy", "2", "-refs", "5", "-g", "15"]),
  StreamCase(codec: .h264, options: ["-x264-params", "slices=4:aud=1:keyint=12:open-gop=1:bframes=3"]),
  StreamCase(codec: .h264, options: ["-tune", "zerolatency", "-x264-params", "intra-refresh=1"]),
  StreamCase(codec: .h264, options: ["-flags", "+ildct+ilme", "-x264-params", "tff=1:bframes=2"]),
  StreamCase(
    codec: .h264,
    options: [
      "-x264-params", "repeat-headers=1:nal-hrd=cbr:vbv-maxrate=300:vbv-bufsize=300:bitrate=300:filler=1",
    ]),
  StreamCase(codec: .hevc),
  StreamCase(codec: .hevc, options: ["-x265-params", "log-level=none:bframes=0"]),
  StreamCase(
    codec: .hevc,
    options: ["-x265-params", "log-level=none:bframes=6:b-adapt=2:keyint=15:min-keyint=15:open-gop=1"]),
  StreamCase(
    codec: .hevc,
    options: ["-x265-params", "log-level=none:slices=2:aud=1:repeat-headers=1:keyint=10:no-open-gop=1"]),
  StreamCase(
    codec: .hevc, options: ["-x265-params", "log-level=none:temporal-layers=1:b-pyramid=1:bframes=4"]),
]

private func parse(
  _ stream: Data, _ codec: ElementaryStreamCodec, pieces: (inout SplitMix) -> Int = { _ in .max },
  options: ElementaryStreamParser.Options = .init()
) throws -> [CMSampleBuffer] {
  var generator = SplitMix(seed: 11)
  var parser = try ElementaryStreamParser(codec: codec, options: options)
  var samples: [CMSampleBuffer] = []
  var rest = stream
  while !rest.isEmpty {
    let piece = rest.prefix(min(rest.count, pieces(&generator)))
    samples += try parser.append(piece)
    rest = rest.dropFirst(piece.count)
  }
  return try samples + parser.finish()
}

@Suite struct ParserTests {
  @Test(.enabled(if: hasFFmpeg), arguments: cases)
  func samplesAreTheFramesOfTheStream(_ stream: StreamCase) throws {
    let data = try #require(makeStream(stream.codec, options: stream.options))
    let samples = try parse(data, stream.codec)
    #expect(samples.count == 40)
    try check(samples, against: data, stream.codec, name: "")
    #expect(samples[0].duration.seconds > 0.033 && samples[0].duration.seconds < 0.0334)
    // In pieces of any size, the same comes out.
    let again = try parse(data, stream.codec) { Int.random(in: 1...300, using: &$0) }
    #expect(again.map(\.presentationTimeStamp) == samples.map(\.presentationTimeStamp))
    for (one, other) in zip(again, samples) {
      #expect(try one.dataBuffer?.dataBytes() == other.dataBuffer?.dataBytes())
    }
  }

  @Test(.enabled(if: conformanceFolder != nil && hasFFmpeg))
  func conformanceStreams() throws {
    let folder = try #require(conformanceFolder)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension != "tsv" }
    let table = try String(contentsOf: folder.appendingPathComponent("md5.tsv"), encoding: .utf8)
    for file in files.sorted(by: { $0.path < $1.path }) {
      let data = try Data(contentsOf: file)
      let samples = try parse(data, .h264)
      let row = table.split(separator: "\n").map { $0.split(separator: "\t") }
        .first { $0.first.map(String.init)?.hasSuffix(file.lastPathComponent) == true }
      // file, profile, width, height, frames, MD5
      let frames = try #require(row.flatMap { $0.count > 4 ? Int($0[4]) : nil })
      #expect(samples.count == frames, "\(file.lastPathComponent)")
      try check(samples, against: data, .h264, name: file.lastPathComponent)
    }
  }

  /// Decoded, the samples give the frames of the stream; their times are in the order of ffmpeg's
  /// output.
  private func check(
    _ samples: [CMSampleBuffer], against stream: Data, _ codec: ElementaryStreamCodec, name: String
  ) throws {
    let format = codec == .h264 ? "h264" : "hevc"
    let (hashes, positions) = withFile(stream, "whole") {
      (frameHashes($0, format: format), outputPositions($0, format: format))
    }
    var rebuilt = Data()
    var starts: [Int] = []
    for (index, sample) in samples.enumerated() {
      starts.append(rebuilt.count)
      rebuilt += try sample.annexBData(parameterSets: index == 0 ? .all : .syncSamples)
    }
    let (again, placed) = withFile(rebuilt, "rebuilt") {
      (frameHashes($0, format: format), outputPositions($0, format: format))
    }
    #expect(again == hashes && hashes?.isEmpty == false, "\(name)")
    #expect(positions?.count == placed?.count)

    // ffprobe says where the packet of each output frame begins: that is the sample of the same
    // place.
    let order = samples.indices.sorted {
      samples[$0].presentationTimeStamp < samples[$1].presentationTimeStamp
    }
    if let placed, placed.count == samples.count {
      let expected = placed.map { position in starts.lastIndex { $0 <= position + 3 } ?? -1 }
      #expect(order == expected, "\(name)")
    }
    // Times: each once, none before it is decoded, decode times rising.
    let times = samples.map(\.presentationTimeStamp)
    #expect(Set(times.map(\.value)).count == times.count, "\(name)")
    for (index, sample) in samples.enumerated() {
      #expect(sample.decodeTimeStamp <= sample.presentationTimeStamp, "\(name)")
      if index > 0 { #expect(sample.decodeTimeStamp >= samples[index - 1].decodeTimeStamp, "\(name)") }
    }
    #expect(times.min() == .zero, "\(name)")
    #expect(samples[0].sampleAttachments[0][.notSync] == nil || codec == .h264, "\(name)")
  }

  @Test(.enabled(if: hasFFmpeg), arguments: [ElementaryStreamCodec.h264, .hevc])
  func attachmentsSayWhatFFprobeSays(_ codec: ElementaryStreamCodec) throws {
    let data = try #require(
      makeStream(
        codec,
        options: codec == .h264
          ? ["-g", "10", "-bf", "2"]
          : ["-x265-params", "log-level=none:keyint=10:min-keyint=10:no-open-gop=1:bframes=3"]))
    let samples = try parse(data, codec)
    let flags = withFile(data, "flags") {
      run(
        "ffprobe",
        [
          "-v", "quiet", "-f", codec == .h264 ? "h264" : "hevc", "-show_entries", "packet=flags", "-of",
          "csv=p=0",
          $0.path,
        ])
    }
    let keys = String(decoding: try #require(flags), as: UTF8.self).split(separator: "\n").map {
      $0.hasPrefix("K")
    }
    #expect(samples.map { $0.sampleAttachments[0][.notSync] as? Bool != true } == keys)
    #expect(samples.map { $0.sampleAttachments[0][.dependsOnOthers] as? Bool == false } == keys)
    #expect(samples.contains { $0.sampleAttachments[0][.isDependedOnByOthers] as? Bool == false })
    #expect(samples.first?.sampleAttachments[0][.isDependedOnByOthers] as? Bool == true)
  }

  @Test(.enabled(if: hasFFmpeg), arguments: [ElementaryStreamCodec.h264, .hevc])
  func optionsAreHonoured(_ codec: ElementaryStreamCodec) throws {
    let repeated =
      codec == .h264
      ? ["-x264-params", "keyint=10:repeat-headers=1"]
      : ["-x265-params", "log-level=none:keyint=10:repeat-headers=1"]
    let data = try #require(makeStream(codec, options: repeated))
    var options = ElementaryStreamParser.Options()
    options.frameDuration = CMTime(value: 1001, timescale: 24000)
    options.startTime = CMTime(value: 10, timescale: 1)
    options.lengthSize = 2
    let samples = try parse(data, codec, options: options)
    #expect(samples.map(\.presentationTimeStamp).min() == CMTime(value: 10, timescale: 1))
    #expect(samples.allSatisfy { $0.duration == CMTime(value: 1001, timescale: 24000) })
    #expect(samples[0].formatDescription?.nalUnitHeaderLength == 2)
    #expect(try !samples.contains { try $0.nalUnits().contains(where: \.isParameterSet) })
    // The format is one object as long as it stays the same.
    #expect(samples.allSatisfy { $0.formatDescription === samples[0].formatDescription })
    options.keepsParameterSets = true
    let kept = try parse(data, codec, options: options)
    #expect(try kept.filter { try $0.nalUnits().contains(where: \.isParameterSet) }.count == 4)
    options.lengthSize = 3
    #expect(throws: ElementaryStreamError.invalidLengthSize(3)) {
      try ElementaryStreamParser(codec: codec, options: options)
    }
    options.lengthSize = 1
    #expect(throws: ElementaryStreamError.self) { try parse(data, codec, options: options) }
  }

  /// A stream whose size changes on the way: another format description from the key frame on.
  @Test(.enabled(if: hasFFmpeg), arguments: [ElementaryStreamCodec.h264, .hevc])
  func formatChanges(_ codec: ElementaryStreamCodec) throws {
    let first = try #require(makeStream(codec, frames: 5))
    let second = try #require(makeStream(codec, frames: 5, size: "256x144"))
    let samples = try parse(first + second, codec)
    #expect(samples.count == 10)
    #expect(
      samples.map { $0.formatDescription?.dimensions.width } == Array(repeating: 192, count: 5)
        + Array(repeating: 256, count: 5))
    #expect(samples[4].formatDescription === samples[0].formatDescription)
  }

  /// With 0 frames of reordering, a sample comes out as soon as the next picture begins.
  @Test(.enabled(if: hasFFmpeg)) func withoutDelay() throws {
    let data = try #require(
      makeStream(.h264, options: ["-tune", "zerolatency", "-x264-params", "sliced-threads=0"]))
    var parser = try ElementaryStreamParser(codec: .h264)
    var counts: [Int] = []
    for unit in AnnexB.units(in: data) {
      counts.append(try parser.append(AnnexB.startCode + unit).count)
    }
    // One unit waits for the start code of the next, and one picture for the first slice of the
    // next.
    #expect(counts.reduce(0, +) >= 38 && counts.max() == 1)
    #expect(try parser.finish().count == 40 - counts.reduce(0, +))
  }

  /// Cut, changed and random bytes: fewer or other samples, never a trap.
  @Test(.enabled(if: hasFFmpeg), arguments: [ElementaryStreamCodec.h264, .hevc])
  func survivesDamage(_ codec: ElementaryStreamCodec) throws {
    let options =
      codec == .h264
      ? ["-x264-params", "keyint=5:bframes=2:slices=2:repeat-headers=1:weightp=2"]
      : ["-x265-params", "log-level=none:keyint=5:bframes=2:repeat-headers=1"]
    let stream = try #require(makeStream(codec, frames: 12, size: "64x64", options: options))
    var generator = SplitMix(seed: 5)
    var total = 0
    for round in 0..<400 {
      var data = stream
      switch round % 4 {
      case 0: data = data.dropFirst(Int.random(in: 0..<data.count, using: &generator))
      case 1:
        for _ in 0..<20 {
          data[Int.random(in: 0..<data.count, using: &generator)] = UInt8.random(
            in: 0...255, using: &generator)
        }
      case 2:
        // The headers, where it hurts most.
        for range in data.withUnsafeBytes({ AnnexB.unitRanges(in: $0) }) where Bool.random(using: &generator)
        {
          let position = min(range.lowerBound + Int.random(in: 0..<12, using: &generator), data.count - 1)
          data[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
      default:
        data = Data(
          (0..<4000).map { _ in
            [
              0, 0, 0, 1, 0x67, 0x68, 0x65, 0x41, 0x42, 0x44, 0x26,
              UInt8.random(in: 0...255, using: &generator),
            ].randomElement(using: &generator)!
          })
      }
      let samples = try parse(data, codec) { Int.random(in: 1...500, using: &$0) }
      total += samples.count
      for sample in samples {
        #expect(sample.presentationTimeStamp.isNumeric && sample.decodeTimeStamp.isNumeric)
        #expect(try sample.annexBData().count > 0)
      }
    }
    #expect(total > 1000)
  }

  @Test func samplesOfOtherKinds() throws {
    let other = try CMSampleBuffer(
      dataBuffer: CMBlockBuffer(length: 4, flags: .assureMemoryNow),
      formatDescription: CMFormatDescription(videoCodecType: .jpeg, width: 1, height: 1), numSamples: 1,
      sampleTimings: [], sampleSizes: [4])
    #expect(throws: ElementaryStreamError.unsupportedSampleBuffer) { try other.annexBData() }
    #expect(throws: ElementaryStreamError.unsupportedSampleBuffer) { try other.nalUnits() }
    let bad = try CMSampleBuffer(
      dataBuffer: CMBlockBuffer(length: 3, flags: .assureMemoryNow),
      formatDescription: CMFormatDescription(videoCodecType: .h264, width: 1, height: 1), numSamples: 1,
      sampleTimings: [], sampleSizes: [3])
    #expect(throws: ElementaryStreamError.truncatedUnit) { try bad.annexBData() }
  }

  /// Input found by a fuzzer: durations and depths at the ends of their ranges.
  @Test(.enabled(if: hasFFmpeg)) func optionsBeyondMeasureDoNotTrap() throws {
    let data = try #require(makeStream(.h264, options: ["-bf", "2"]))
    for value in [Int64.max, Int64.min, Int64.max / 2, -1, 0] {
      for depth in [Int.min, -1, 0, 3, Int.max] {
        var options = ElementaryStreamParser.Options()
        options.frameDuration = CMTime(value: value, timescale: 25)
        options.startTime = CMTime(value: value, timescale: 7)
        options.maxReorderFrames = depth
        let samples = try parse(data, .h264, options: options)
        #expect(samples.count == 40)
      }
    }
  }
}
