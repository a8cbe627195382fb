// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing

/// Passes over parts of a movie: an encoder that knows which groups of pictures bring the rate nearer asks for these alone.
@Suite struct PartialPassTests {
  private let scratch = Scratch()

  /// Six seconds of different difficulty.
  private static func source() throws -> AVURLAsset {
    let third = "trim=duration=2,setpts=PTS-STARTPTS"
    return AVURLAsset(
      url: URL(
        fileURLWithPath: try Fixture.make(
          "parts.mkv",
          [
            "-f", "lavfi", "-i", "color=c=navy:size=160x120:rate=25", "-f", "lavfi", "-i",
            "testsrc2=size=160x120:rate=25", "-f", "lavfi", "-i", "mandelbrot=size=160x120:rate=25",
            "-filter_complex",
            "[0:v]\(third)[a];[1:v]\(third),noise=alls=30:allf=t[b];[2:v]\(third)[c];[a][b][c]concat=n=3[v]",
            "-map", "[v]", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "10",
          ])))
  }

  /// Two passes miss one or the other by more than half a percent, and a third brings it nearer.
  private static let rates = [
    60_000, 75_000, 90_000, 40_000, 50_000, 110_000, 65_000, 85_000, 130_000, 55_000, 100_000, 70_000,
  ]

  private struct Run {
    /// What each pass was to be over.
    var passes: [[CMTimeRange]] = []
    /// In decode order.
    var frames: [ProbedSample] = []

    var bytes: Int { frames.reduce(0) { $0 + $1.size } }
  }

  /// - Parameter text: a rational number.
  private func seconds(_ text: String) -> Double {
    let parts = text.split(separator: "/").compactMap { Double($0) }
    return parts.count == 2 ? parts[0] / parts[1] : parts.first ?? .nan
  }

  /// What a program does in a pass.
  private enum Source { case everything, asAsked, some, nothing }

  /// - Parameters:
  ///   - partial: what is appended in passes over parts.
  ///   - start: where the movie begins in the source.
  ///   - lookAhead: frames; nil: as many as by default.
  ///   - fullDisk: whether nothing can be written while a pass over parts is made.
  private func encode(
    rate: Int, partial: Source, start: CMTime = .zero, lookAhead: Int? = nil, fullDisk: Bool = false
  ) async throws -> Run {
    let (reader, output) = try await rereadable(try Self.source())
    let url = scratch.url("\(rate)-\(partial)\(fullDisk ? "-full" : "").mp4")
    let writer = try AVAssetWriter(url: url, fileType: .mp4)
    // With a name the frames of a pass have a journal, which is written at once.
    if fullDisk { writer.directoryForTemporaryFiles = scratch.url("") }
    var compression: [String: Any] = [AVVideoAverageBitRateKey: rate, AVVideoMaxKeyFrameIntervalKey: 25]
    compression[kVTCompressionPropertyKey_SuggestedLookAheadFrameCount as String] = lookAhead
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [
        AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 160, AVVideoHeightKey: 120,
        AVVideoEncoderSpecificationKey: [
          kVTVideoEncoderSpecification_EncoderID as String: "org.openvideotoolbox.videoencoder.h264"
        ],
        AVVideoCompressionPropertiesKey: compression,
      ])
    input.performsMultiPassEncodingIfSupported = true
    writer.add(input)
    #expect(reader.startReading() && writer.startWriting())
    #expect(input.canPerformMultiplePasses)
    writer.startSession(atSourceTime: start)
    let run = Mutex(Run())
    let queue = DispatchQueue(label: "passes")
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      input.respondToEachPassDescription(on: queue) {
        // A pass has come to its end: the movie itself has room.
        if fullDisk { Self.limitFiles(to: nil) }
        guard let pass = input.currentPassDescription else {
          output.markConfigurationAsFinal()
          input.markAsFinished()
          return done.resume()
        }
        let number = run.withLock {
          $0.passes.append(pass.sourceTimeRanges.map(\.timeRangeValue))
          return $0.passes.count
        }
        if number > 2, fullDisk { Self.limitFiles(to: 512) }
        if number > 2, partial == .nothing {
          output.markConfigurationAsFinal()
          input.markAsFinished()
          return done.resume()
        }
        if number > 1 {
          let whole = [NSValue(timeRange: CMTimeRange(start: .zero, duration: .positiveInfinity))]
          output.reset(
            forReadingTimeRanges: number > 2 && partial == .asAsked ? pass.sourceTimeRanges : whole)
        }
        input.requestMediaDataWhenReady(on: queue) {
          while input.isReadyForMoreMediaData {
            guard let sample = output.copyNextSampleBuffer(), input.append(sample) else {
              return input.markCurrentPassAsFinished()
            }
            guard number > 2, partial == .some else { continue }
            // And no more: what a pass over parts lacks is what was there before.
            while output.copyNextSampleBuffer() != nil {}
            return input.markCurrentPassAsFinished()
          }
        }
      }
    }
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(try Tool.decodingErrors(url.path) == "")
    var result = run.withLock { $0 }
    result.frames = try Probe.samples(url.path)
    return result
  }

  /// A limit of the size of files stands in for a full disk.
  /// - Parameter bytes: nil: none.
  private static func limitFiles(to bytes: UInt?) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(1), &limit)
    limit.rlim_cur = bytes ?? limit.rlim_max
    setrlimit(__rlimit_resource_t(1), &limit)
  }

  @Test("A disk that is full in a pass over parts leaves the movie that the passes before made")
  func aFullDiskInAPartialPassLeavesTheMovieOfThePassesBefore() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let tests = PartialPassTests()
      var hadParts = false
      for rate in Self.rates where !hadParts {
        let asked = try await tests.encode(rate: rate, partial: .asAsked, lookAhead: 4)
        guard asked.passes.count > 2 else { continue }
        let two = try await tests.encode(rate: rate, partial: .nothing, lookAhead: 4)
        guard two.frames != asked.frames else { continue }
        hadParts = true
        let full = try await tests.encode(rate: rate, partial: .asAsked, lookAhead: 4, fullDisk: true)
        try #require(full.passes.count > 2 && full.frames == two.frames)
      }
      try #require(hadParts)
    }
  }

  @Test("Parts alone are encoded again, whatever is appended; the rate comes nearer")
  func partsAloneAreEncodedAgain() async throws {
    var hadParts = false
    for rate in Self.rates where !hadParts {
      let asked = try await encode(rate: rate, partial: .asAsked)
      #expect(asked.frames.count == 150)
      guard asked.passes.count > 2 else { continue }
      #expect(asked.passes[1].count == 1)
      let parts = asked.passes[2...].flatMap { $0 }
      let isWhole = parts.contains { $0.start <= .zero && $0.end >= CMTime(value: 6, timescale: 1) }
      #expect(!parts.isEmpty && !isWhole, "\(parts)")

      // A program that has enough after two passes has what they gave.
      let two = try await encode(rate: rate, partial: .nothing)
      #expect(two.frames.count == 150)
      let wanted = Double(rate) / 8 * 6
      #expect(abs(Double(asked.bytes) - wanted) <= abs(Double(two.bytes) - wanted))
      for (before, after) in zip(two.frames, asked.frames) {
        #expect(before.pts == after.pts)
        let time = seconds(after.pts)
        if !parts.contains(where: { $0.start.seconds - 0.001 <= time && time < $0.end.seconds - 0.001 }) {
          #expect(before.hash == after.hash, "at \(time) s")
        }
      }
      // A pass that came out worse has changed nothing.
      guard two.frames != asked.frames else { continue }
      hadParts = true
      // Pictures beyond what was asked for change nothing.
      let everything = try await encode(rate: rate, partial: .everything)
      #expect(everything.frames == asked.frames)
      let some = try await encode(rate: rate, partial: .some)
      #expect(some.passes.count == 3 && some.frames == two.frames, "what was there is there again")
    }
    #expect(hadParts)
  }

  @Test func partsOfAMovieThatBeginsLaterAreEncodedAgain() async throws {
    let start = CMTime(value: 1, timescale: 1)
    var hadParts = false
    for rate in Self.rates where !hadParts {
      let run = try await encode(rate: rate, partial: .asAsked, start: start)
      #expect(run.frames.count == 125)
      guard run.passes.count > 2 else { continue }
      // In the source's time.
      let end = CMTime(value: 6, timescale: 1)
      #expect(run.passes[2...].joined().allSatisfy { $0.start >= start && $0.end <= end })
      let two = try await encode(rate: rate, partial: .nothing, start: start)
      #expect(two.frames.map(\.pts) == run.frames.map(\.pts))
      hadParts = two.frames != run.frames
    }
    #expect(hadParts)
  }
}
