// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing

/// Tests passes over parts of a movie. An encoder that knows which groups of pictures would bring
/// the bit rate closer to the requested one asks for only these again.
@Suite struct PartialPassTests {
  private let scratch = Scratch()

  /// Returns a movie of six seconds, whose three parts need different bit rates.
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

  /// The bit rates that a test tries in turn. Two passes miss some of them by more than half a
  /// percent, and a third pass comes closer.
  private static let rates = [
    60_000, 75_000, 90_000, 40_000, 50_000, 110_000, 65_000, 85_000, 130_000, 55_000, 100_000, 70_000,
  ]

  /// The passes of an encoding and its result.
  private struct Run {
    /// The time ranges that were requested for each pass.
    var passes: [[CMTimeRange]] = []
    /// The frames of the movie, in decode order.
    var frames: [ProbedSample] = []

    /// The size of all frames.
    var bytes: Int { frames.reduce(0) { $0 + $1.size } }
  }

  /// Returns a time in seconds.
  /// - Parameter text: A rational number, such as `1/25`.
  private func seconds(_ text: String) -> Double {
    let parts = text.split(separator: "/").compactMap { Double($0) }
    return parts.count == 2 ? parts[0] / parts[1] : parts.first ?? .nan
  }

  /// The pictures that a program appends in a pass over parts.
  private enum Appended {
    /// All pictures of the movie.
    case everything
    /// The pictures of the requested parts.
    case requested
    /// Only one picture.
    case onePicture
    /// None: the program finishes the movie instead.
    case nothing
  }

  /// Encodes the movie in as many passes as the writer requests.
  /// - Parameters:
  ///   - rate: The bit rate.
  ///   - partial: The pictures that are appended in passes over parts.
  ///   - start: The source time at which the movie begins.
  ///   - lookAhead: The number of frames that the encoder looks ahead; nil for its default.
  ///   - fullDisk: Whether the disk is full during passes over parts.
  private func encode(
    rate: Int, partial: Appended, start: CMTime = .zero, lookAhead: Int? = nil, fullDisk: Bool = false
  ) async throws -> Run {
    let (reader, output) = try await makeRandomAccessReader(try Self.source())
    let url = scratch.url("\(rate)-\(partial)\(fullDisk ? "-full" : "").mp4")
    let writer = try AVAssetWriter(url: url, fileType: .mp4)
    // In this directory, the frames of the passes are stored in a file that has a name, and thus a
    // journal. Writing the journal fails at once if the disk is full.
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
        // The pass has ended: there is space on the disk for the movie itself.
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
            forReadingTimeRanges: number > 2 && partial == .requested ? pass.sourceTimeRanges : whole)
        }
        input.requestMediaDataWhenReady(on: queue) {
          while input.isReadyForMoreMediaData {
            guard let sample = output.copyNextSampleBuffer(), input.append(sample) else {
              return input.markCurrentPassAsFinished()
            }
            guard number > 2, partial == .onePicture else { continue }
            // Parts that are not complete keep the frames of the previous passes.
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

  /// Limits the size of files (RLIMIT_FSIZE), to simulate a full disk.
  /// - Parameter bytes: The limit; nil for none.
  private static func limitFiles(to bytes: UInt?) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(1), &limit)
    limit.rlim_cur = bytes ?? limit.rlim_max
    setrlimit(__rlimit_resource_t(1), &limit)
  }

  @Test("A disk that is full in a pass over parts leaves the movie that the previous passes made")
  func aFullDiskInAPartialPassLeavesTheMovieOfThePreviousPasses() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let tests = PartialPassTests()
      var hadParts = false
      for rate in Self.rates where !hadParts {
        let asked = try await tests.encode(rate: rate, partial: .requested, lookAhead: 4)
        guard asked.passes.count > 2 else { continue }
        let two = try await tests.encode(rate: rate, partial: .nothing, lookAhead: 4)
        guard two.frames != asked.frames else { continue }
        hadParts = true
        let full = try await tests.encode(rate: rate, partial: .requested, lookAhead: 4, fullDisk: true)
        try #require(full.passes.count > 2 && full.frames == two.frames)
      }
      try #require(hadParts)
    }
  }

  @Test("Only the requested parts are encoded again, whatever is appended, and the rate comes closer")
  func onlyRequestedPartsAreEncodedAgain() async throws {
    var hadParts = false
    for rate in Self.rates where !hadParts {
      let asked = try await encode(rate: rate, partial: .requested)
      #expect(asked.frames.count == 150)
      guard asked.passes.count > 2 else { continue }
      #expect(asked.passes[1].count == 1)
      let parts = asked.passes[2...].flatMap { $0 }
      let isWhole = parts.contains { $0.start <= .zero && $0.end >= CMTime(value: 6, timescale: 1) }
      #expect(!parts.isEmpty && !isWhole, "\(parts)")

      // A program that stops after two passes gets their result.
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
      // If the third pass came no closer, its result was not used, and another rate is tried.
      guard two.frames != asked.frames else { continue }
      hadParts = true
      // Pictures outside the requested parts change nothing.
      let everything = try await encode(rate: rate, partial: .everything)
      #expect(everything.frames == asked.frames)
      let one = try await encode(rate: rate, partial: .onePicture)
      #expect(one.passes.count == 3 && one.frames == two.frames, "those of the first two passes are used")
    }
    #expect(hadParts)
  }

  @Test func partsOfAMovieThatBeginsLaterAreEncodedAgain() async throws {
    let start = CMTime(value: 1, timescale: 1)
    var hadParts = false
    for rate in Self.rates where !hadParts {
      let run = try await encode(rate: rate, partial: .requested, start: start)
      #expect(run.frames.count == 125)
      guard run.passes.count > 2 else { continue }
      // The ranges are in the source's time.
      let end = CMTime(value: 6, timescale: 1)
      #expect(run.passes[2...].joined().allSatisfy { $0.start >= start && $0.end <= end })
      let two = try await encode(rate: rate, partial: .nothing, start: start)
      #expect(two.frames.map(\.pts) == run.frames.map(\.pts))
      hadParts = two.frames != run.frames
    }
    #expect(hadParts)
  }
}
