// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing

@testable import AVFoundation

/// Every picture of a stream is output once and in order, whatever reordering the stream declares.
@Suite struct PictureOrderTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let options: String
    let order: OrderedStream.Order
    var testDescription: String { name }
  }

  /// P pictures whose order counts are stored: without B pictures libx264 leaves them out.
  private static let onlyP = "bframes=1:b-adapt=1:b-bias=-100:ref=1"

  static let cases = [
    Case(name: "depth 0", options: onlyP + ":keyint=12:min-keyint=12", order: .encoder),
    Case(name: "depth 1", options: "bframes=1:b-adapt=0:b-pyramid=0:ref=2", order: .encoder),
    Case(name: "depth 1 in steps of 1", options: "bframes=1:b-adapt=0:b-pyramid=0:ref=2", order: .halfSteps),
    Case(name: "depth 2", options: "bframes=3:b-adapt=0:b-pyramid=normal:ref=3", order: .encoder),
    Case(
      name: "depth 2 in steps of 1", options: "bframes=3:b-adapt=0:b-pyramid=normal:ref=3", order: .halfSteps),
    Case(name: "depth 1, negative", options: onlyP + ":keyint=2:min-keyint=2", order: .backwards(2)),
    Case(name: "depth 2, negative", options: onlyP + ":keyint=3:min-keyint=3", order: .backwards(3)),
    Case(name: "depth 3, negative", options: onlyP + ":keyint=4:min-keyint=4", order: .backwards(4)),
    Case(name: "depth 4, negative", options: onlyP + ":keyint=5:min-keyint=5", order: .backwards(5)),
  ]

  private static var planar: [String: Any] {
    [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar
    ]
  }

  @Test(arguments: cases) func allPicturesComeInTheirOrder(_ kind: Case) throws {
    for statement in OrderedStream.Statement.allCases {
      let scratch = Scratch()
      let stream = OrderedStream(options: kind.options, order: kind.order, statement: statement)
      let sums = try stream.write(scratch, "a")
      #expect(Set(sums).count == OrderedStream.count)
      for ending in ["264", "mov", "mkv", "ts"] {
        let note: Comment = "\(kind.name), \(statement), \(ending)"
        let asset = AVURLAsset(url: scratch.url("a." + ending))
        // Only the decoder depends on the number of threads, and it gets the same from all files.
        for threads in ending == "mov" ? [1, 6] : [6] {
          var settings = Self.planar
          settings[kVTDecompressionPropertyKey_ThreadCount as String] = threads
          let samples = try ReaderTests.read(asset, settings: settings)
          let found = try samples.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) }
          #expect(found == sums, note)
          let times = samples.map(\.presentationTimeStamp.seconds)
          // A bare stream without usability information has no rate of its own. The filter that
          // sets the times has another time base in Matroska and transport streams.
          guard ["264", "mov"].contains(ending) else { continue }
          let step = ending == "264" && statement == .nothing ? 1.0 / 30 : 0.04
          #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - step) < 0.002 }, note)
        }
      }
    }
  }

  /// A session gets the samples as they are stored; its client waits for each, or not, or wants
  /// them in order.
  @Test(arguments: cases) func sessionsGiveAllPictures(_ kind: Case) throws {
    let scratch = Scratch()
    let sums = try OrderedStream(options: kind.options, order: kind.order, statement: .nothing)
      .write(scratch, "a")
    let samples = try ReaderTests.read(AVURLAsset(url: scratch.url("a.mov")))
    for flags: VTDecodeFrameFlags in [[], ._EnableAsynchronousDecompression, ._EnableTemporalProcessing] {
      var made: VTDecompressionSession?
      let format = try #require(samples.first?.formatDescription)
      let attributes = Self.planar.mapKeys()
      VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: nil,
        imageBufferAttributes: attributes, outputCallback: nil, decompressionSessionOut: &made)
      let session = try #require(made)
      let found = Mutex<[(time: CMTime, sum: String)]>([])
      for sample in samples where sample.numSamples > 0 && sample.totalSampleSize > 0 {
        VTDecompressionSessionDecodeFrame(session, sampleBuffer: sample, flags: flags, infoFlagsOut: nil) {
          _, _, image, time, _ in
          guard let image else { return }
          let sum = md5(ReaderTests.packed(image))
          found.withLock { $0.append((time, sum)) }
        }
      }
      VTDecompressionSessionFinishDelayedFrames(session)
      VTDecompressionSessionWaitForAsynchronousFrames(session)
      let all = found.withLock { $0 }
      #expect(all.sorted { $0.time < $1.time }.map(\.sum) == sums, "\(kind.name), \(flags)")
      if flags == ._EnableTemporalProcessing { #expect(all.map(\.sum) == sums, "\(kind.name)") }
      VTDecompressionSessionInvalidate(session)
    }
  }

  /// The picture at each time is the one that is shown then, also of a movie whose first stored
  /// picture is not the first one shown, and of one whose key frames are decoded long before they
  /// are shown.
  @Test(arguments: [cases[4], cases[5], cases[8]]) func imageGeneratorsFindEachPicture(_ kind: Case) throws {
    let scratch = Scratch()
    _ = try OrderedStream(options: kind.options, order: kind.order, statement: .nothing).write(scratch, "a")
    for ending in ["mov", "mkv", "ts", "264"] {
      let asset = AVURLAsset(url: scratch.url("a." + ending))
      let wanted = try ReaderTests.read(
        asset, settings: [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA])
      #expect(wanted.count == OrderedStream.count)
      let generator = AVAssetImageGenerator(asset: asset)
      (generator.requestedTimeToleranceBefore, generator.requestedTimeToleranceAfter) = (.zero, .zero)
      for (index, sample) in wanted.enumerated() where index % 5 < 2 {
        var time = CMTime.invalid
        let image = try generator.copyCGImage(at: sample.presentationTimeStamp, actualTime: &time)
        let bytes = try #require(image.dataProvider?.data as Data?)
        let note: Comment = "\(ending) \(index)"
        #expect(time == sample.presentationTimeStamp, note)
        #expect(bytes == ReaderTests.packed(try #require(sample.imageBuffer)), note)
      }
    }
  }

  /// A reader that begins within a movie gives the same pictures as one that reads it whole, and
  /// steps go over all of them.
  @Test(arguments: [cases[4], cases[5], cases[8]]) func readingAndStepsBeginAtAnyPicture(_ kind: Case) throws
  {
    let scratch = Scratch()
    _ = try OrderedStream(options: kind.options, order: kind.order, statement: .nothing).write(scratch, "a")
    for ending in ["mov", "mkv", "ts", "264"] {
      let asset = AVURLAsset(url: scratch.url("a." + ending))
      let track = try #require(asset.tracks(withMediaType: .video).first)
      let all = try ReaderTests.read(asset, settings: Self.planar)
      let sums = try all.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) }
      let times = all.map(\.presentationTimeStamp)
      #expect(track.timeRange.start == times.first, "\(ending)")
      for (index, time) in times.enumerated() where [0, 1, 2, 3, 4, 7, 33, 59].contains(index) {
        // A transport stream does not tell how long its last picture lasts.
        if ending == "ts", !track.timeRange.containsTime(time) { continue }
        let note: Comment = "\(ending) \(index)"
        let reader = try AVAssetReader(asset: asset)
        let output = AVAssetReaderTrackOutput(track: track, outputSettings: Self.planar)
        reader.add(output)
        reader.timeRange = CMTimeRange(start: time, duration: .positiveInfinity)
        #expect(reader.startReading(), note)
        var found: [String] = []
        while let sample = output.copyNextSampleBuffer() {
          found.append(md5(ReaderTests.packed(try #require(sample.imageBuffer))))
        }
        #expect(found == Array(sums[index...]), note)
        #expect(track.samplePresentationTime(forTrackTime: time) == time, note)
        for count in [1, -1, -3, 4, -100] {
          let wanted = times[max(0, min(times.count - 1, index + count))]
          #expect(track.pictureTime(count, from: time) == wanted, "\(ending) \(index) \(count)")
        }
      }
    }
  }
}

extension [String: Any] {
  fileprivate func mapKeys() -> NSDictionary { NSDictionary(dictionary: self) }
}
