// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing

@testable import vtencode

/// Whatever an encoding is written to gets its tracks, its times and its end as it says that it
/// wants them.
@Suite struct OutputTests {
  /// An output of the test's own, which keeps what it gets.
  private final class Kept: SampleOutput {
    struct State {
      var isOpen = false
      var tracks: [OutputTrack] = []
      var samples: [[CMSampleBuffer]] = []
      var ends: [String] = []
    }
    struct Full: Error {}

    let name = "a test"
    let tracks: Set<OutputTrack.Kind>
    let isLive = false
    let beginsAtZero: Bool
    let backPressure = BackPressure.waits
    let outcomeOfInterruptedRun = "nothing was kept"
    let state = Mutex(State())
    private let playsAudio: Bool
    /// Samples of a track that it takes.
    private let maximum: [OutputTrack.Kind: Int]

    init(
      _ tracks: Set<OutputTrack.Kind>, beginsAtZero: Bool = false, playsAudio: Bool = true,
      maximum: [OutputTrack.Kind: Int] = [:]
    ) {
      (self.tracks, self.beginsAtZero) = (tracks, beginsAtZero)
      (self.playsAudio, self.maximum) = (playsAudio, maximum)
    }

    func plays(_ audio: CMFormatDescription) -> Bool { playsAudio }
    func open() { state.withLock { $0.isOpen = true } }
    func add(_ track: OutputTrack) -> OutputTrack.ID? {
      state.withLock {
        $0.tracks.append(track)
        $0.samples.append([])
        return $0.tracks.count - 1
      }
    }
    func start() {}
    func append(_ sample: CMSampleBuffer, to track: OutputTrack.ID) throws {
      try state.withLock {
        guard $0.samples[track].count < maximum[$0.tracks[track].kind] ?? .max else { throw Full() }
        $0.samples[track].append(sample)
      }
    }
    func finish() { state.withLock { $0.ends.append("finished") } }
    func publish(isPart: Bool) -> OutputResult {
      state.withLock { $0.ends.append(isPart ? "a part" : "whole") }
      return OutputResult(fileBytes: 7)
    }
    func abandon() { state.withLock { $0.ends.append("abandoned") } }

    func samples(of kind: OutputTrack.Kind) -> [CMSampleBuffer] {
      state.withLock { state in
        let found = zip(state.tracks, state.samples).filter { $0.0.kind == kind }
          .flatMap(\.1)
        return found
      }
    }
    var kinds: [OutputTrack.Kind] { state.withLock { $0.tracks.map(\.kind) } }
    var ends: [String] { state.withLock { $0.ends } }
  }

  /// A movie of two seconds with reordered pictures, AAC, a subtitle and two chapters.
  private func makeMovie(in folder: Folder) throws -> String {
    try "1\n00:00:00,200 --> 00:00:01,500\nHello\n".write(
      toFile: folder.path("text.srt"), atomically: true, encoding: .utf8)
    let chapter = "[CHAPTER]\nTIMEBASE=1/1000\n"
    try (";FFMETADATA1\n\(chapter)START=0\nEND=1000\ntitle=One\n\(chapter)START=1000\nEND=2000\ntitle=Two\n")
      .write(toFile: folder.path("chapters.txt"), atomically: true, encoding: .utf8)
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=160x120:rate=25:duration=2 "
        + "-f lavfi -i sine=duration=2 -i text.srt -i chapters.txt -map 0 -map 1 -map 2 -map_metadata 3 "
        + "-c:v libx264 -bf 2 -g 10 -c:a aac -c:s mov_text movie.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    return folder.path("movie.mp4")
  }

  /// The movie's pictures as they are stored.
  private func pictures(of source: MovieSource) throws -> [CMSampleBuffer] {
    let reader = try AVAssetReader(asset: source.asset)
    let output = AVAssetReaderTrackOutput(track: try #require(source.video), outputSettings: nil)
    reader.add(output)
    try #require(reader.startReading())
    var samples: [CMSampleBuffer] = []
    while let sample = output.copyNextSampleBuffer() {
      if CMSampleBufferGetNumSamples(sample) > 0 { samples.append(sample) }
    }
    return samples
  }

  private struct Run {
    var source: MovieSource
    var pictures: [CMSampleBuffer]
    var result: Result<OutputReport, any Error>
    var isCancelled: Bool
  }

  /// Feeds an output with the movie's own pictures in place of encoded ones.
  private func feed(_ output: Kept, _ movie: String, _ arguments: [String] = []) async throws -> Run {
    let source = try await MovieSource.open(movie, streamFrameRate: nil)
    let options = try EncodingOptions.parse([movie] + arguments)
    let plan = try EncodingPlan(options, source: source, purpose: .transcoding, isPaced: false)
    let synchronizer = AudioSynchronizer()
    let samples = OutputQueue(capacity: 8)
    let pictures = try pictures(of: source)
    let feed = OutputFeed(
      output: output, source: source, plan: plan, synchronizer: synchronizer, damage: DamageCollector())
    async let pushing: Void = onThread("pictures") {
      for sample in pictures {
        synchronizer.advance(to: sample.presentationTimeStamp + sample.duration)
        guard samples.push(sample) else { break }
      }
      synchronizer.setEndOfMovie()
      synchronizer.finish(isCut: false)
      samples.end()
    }
    let result: Result<OutputReport, any Error>
    do { result = .success(try await feed.write(samples)) } catch { result = .failure(error) }
    let isCancelled = samples.isCancelled
    try await pushing
    return Run(source: source, pictures: pictures, result: result, isCancelled: isCancelled)
  }

  @Test("An output gets the kinds of tracks that it has, with all their samples, and then its end")
  func anOutputGetsTheKindsOfTracksThatItHas() async throws {
    let folder = try Folder()
    let movie = try makeMovie(in: folder)
    let all = Kept(Set(OutputTrack.Kind.allCases))
    let run = try await feed(all, movie)
    let report = try run.result.get()
    #expect(all.kinds == [.video, .audio, .subtitles, .chapters])
    #expect(all.ends == ["finished", "whole"])
    #expect(report.fileBytes == 7 && report.audio.copied == 1 && report.audio.total == 1)
    #expect(report.text.subtitles == 1 && report.text.chapters == 2)
    // As ffprobe counts them.
    let probe = try CommandLine.shell(
      "for s in v a; do ffprobe -v error -select_streams $s -show_entries packet=size -of csv=p=0 movie.mp4; "
        + "echo end; done", in: folder)
    let sizes = probe.text.split(separator: "end\n", omittingEmptySubsequences: false).prefix(2).map {
      $0.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
    }
    #expect(all.samples(of: .video).map { CMSampleBufferGetTotalSampleSize($0) } == sizes.first)
    let audio = all.samples(of: .audio).reduce(0) { $0 + CMSampleBufferGetTotalSampleSize($1) }
    #expect(audio == sizes.last?.reduce(0, +))

    let pictures = Kept([.video])
    let silent = try (await feed(pictures, movie)).result.get()
    #expect(pictures.kinds == [.video])
    #expect(silent.audio.total == 0 && silent.audio.summary == nil && silent.text.summary == nil)
  }

  @Test("Audio that an output's readers do not know comes decoded, to be encoded as AAC")
  func audioThatAnOutputsReadersDoNotKnowComesDecoded() async throws {
    let folder = try Folder()
    let movie = try makeMovie(in: folder)
    for playsAudio in [true, false] {
      let output = Kept([.video, .audio], playsAudio: playsAudio)
      let report = try (await feed(output, movie)).result.get()
      let track = try #require(output.state.withLock { $0.tracks.last })
      #expect((track.encoding == nil) == playsAudio)
      #expect(report.audio.copied == (playsAudio ? 1 : 0) && report.audio.encoded == (playsAudio ? 0 : 1))
      let formats = Set(
        output.samples(of: .audio).compactMap { $0.formatDescription.map(CMFormatDescriptionGetMediaSubType) }
      )
      #expect(formats == [playsAudio ? kAudioFormatMPEG4AAC : kAudioFormatLinearPCM])
    }
  }

  @Test(
    "Times begin at zero where an output wants it, in step with each other, and are the source's elsewhere")
  func timesBeginAtZeroWhereAnOutputWantsIt() async throws {
    let folder = try Folder()
    let movie = try makeMovie(in: folder)
    for beginsAtZero in [true, false] {
      let output = Kept([.video, .audio], beginsAtZero: beginsAtZero)
      let run = try await feed(output, movie)
      _ = try run.result.get()
      let first = try #require(run.pictures.first)
      let decoded = first.decodeTimeStamp.isNumeric ? first.decodeTimeStamp : first.presentationTimeStamp
      #expect(decoded != .zero, "the movie tells nothing")
      let origin = beginsAtZero ? decoded : CMTime.zero
      let kept = output.samples(of: .video)
      #expect(kept.map(\.decodeTimeStamp) == run.pictures.map { $0.decodeTimeStamp - origin })
      #expect(kept.map(\.presentationTimeStamp) == run.pictures.map { $0.presentationTimeStamp - origin })
      let audioTracks = output.samples(of: .audio)
      let reference = Kept([.video, .audio])
      _ = try (await feed(reference, movie)).result.get()
      let wanted = reference.samples(of: .audio).map { $0.presentationTimeStamp - origin }
      #expect(audioTracks.map(\.presentationTimeStamp) == wanted.filter { !beginsAtZero || $0 >= .zero })
    }
  }

  @Test(
    "An output that fails on any of its tracks is abandoned, and the encoding stops",
    arguments: [
      OutputTrack.Kind.video, .audio,
    ])
  func anOutputThatFailsOnAnyOfItsTracksIsAbandoned(_ kind: OutputTrack.Kind) async throws {
    let folder = try Folder()
    let movie = try makeMovie(in: folder)
    let output = Kept([.video, .audio, .subtitles], maximum: [kind: 5])
    let run = try await feed(output, movie)
    #expect(throws: Kept.Full.self) { try run.result.get() }
    #expect(run.isCancelled)
    #expect(output.ends.allSatisfy { $0 == "abandoned" } && !output.ends.isEmpty)
    #expect(output.samples(of: kind).count == 5)
  }

  @Test("An output that cannot hold the video is abandoned, and reported by its name")
  func anOutputThatCannotHoldTheVideoIsAbandoned() async throws {
    let folder = try Folder()
    let movie = try makeMovie(in: folder)
    let source = try await MovieSource.open(movie, streamFrameRate: nil)
    let plan = try EncodingPlan(
      EncodingOptions.parse([movie]), source: source, purpose: .transcoding, isPaced: false)
    // No sample: nothing is made at all.
    let empty = Kept([.video])
    let samples = OutputQueue(capacity: 8)
    samples.end()
    let feed = OutputFeed(
      output: empty, source: source, plan: plan, synchronizer: AudioSynchronizer(), damage: DamageCollector())
    #expect(try await feed.write(samples).fileBytes == 0)
    #expect(!empty.state.withLock { $0.isOpen } && empty.ends.isEmpty)
    // An elementary stream has one track, of pictures.
    let stream = ElementaryStreamOutput(path: folder.path("out.264"), replaces: false)
    #expect(stream.add(OutputTrack(.audio, format: nil)) == nil)
    #expect(stream.name == "a .264 file")
  }

  @Test("A live output without room loses pictures up to the next key frame that has some, and no others")
  func aLiveOutputWithoutRoomLosesPicturesUpToAKeyFrame() async throws {
    let folder = try Folder()
    let movie = try makeMovie(in: folder)
    let source = try await MovieSource.open(movie, streamFrameRate: nil)
    let pictures = try pictures(of: source)
    let isKey = pictures.map { SampleAttributes($0).isKeyFrame }
    #expect(pictures.count == 50 && isKey.count { $0 } == 5)
    let queue = OutputQueue(capacity: 4, backPressure: .dropsToKeyFrame)
    // Whoever reads takes one of three.
    var (waiting, got, expected) = (0, [CMTime](), [CMTime]())
    var isDropping = false
    for (index, picture) in pictures.enumerated() {
      #expect(queue.push(picture))
      if isKey[index], waiting < 4 { isDropping = false }
      if waiting == 4 || isDropping {
        isDropping = true
      } else {
        expected.append(picture.presentationTimeStamp)
        waiting += 1
      }
      if index % 3 == 0 {
        got.append(try #require(try queue.pop()).presentationTimeStamp)
        waiting -= 1
      }
    }
    queue.end()
    while let left = try queue.pop() { got.append(left.presentationTimeStamp) }
    #expect(got == expected && got.count < 40)
    #expect(queue.droppedCount == 50 - got.count)
    queue.cancel()
    #expect(!queue.push(pictures[0]))
  }
}
