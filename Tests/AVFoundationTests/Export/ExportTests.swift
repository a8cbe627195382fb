// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// Exports against ffprobe.
@Suite struct ExportTests {
  @Test func passthroughKeepsEverySample() async throws {
    let scratch = Scratch()
    let source = try Fixture.movie()
    let session = try #require(
      AVAssetExportSession(
        asset: AVURLAsset(url: URL(fileURLWithPath: source)), presetName: AVAssetExportPresetPassthrough))
    session.outputURL = scratch.url("a.mov")
    session.outputFileType = .mov
    session.shouldOptimizeForNetworkUse = true
    #expect(session.status == .unknown && session.progress == 0)
    await session.export()
    #expect(session.status == .completed, "\(String(describing: session.error))")
    #expect(session.progress == 1)
    #expect(try Probe.samples(scratch.file("a.mov")) == Probe.samples(source))
    #expect(try Probe.samples(scratch.file("a.mov"), stream: "a:0") == Probe.samples(source, stream: "a:0"))
  }

  /// A transport stream of which some packets of a track are lost.
  private func damaged(_ track: Int?, at url: URL) throws -> (asset: AVAsset, lost: Int) {
    let whole = try Fixture.make(
      "export.ts",
      [
        "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=1", "-f", "lavfi", "-i",
        "sine=frequency=440:sample_rate=44100:duration=1", "-c:v", "libx264", "-preset", "veryfast", "-qp",
        "12",
        "-pix_fmt", "yuv420p", "-c:a", "aac",
      ])
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: whole)))
    var (count, lost) = (0, 0)
    for start in stride(from: 0, to: bytes.count, by: 188) {
      guard Int(bytes[start + 1] & 0x1F) << 8 | Int(bytes[start + 2]) == track else { continue }
      count += 1
      // The PID is set to that of null packets (0x1FFF).
      guard count % 40 == 30 else { continue }
      (bytes[start + 1], bytes[start + 2]) = (0x1F, 0xFF)
      lost += 1
    }
    try Data(bytes).write(to: url)
    return (AVURLAsset(url: url), lost)
  }

  @Test func damagedAudioIsOmittedAndReported() async throws {
    let scratch = Scratch()
    for track in [nil, 0x101] {
      let name = track == nil ? "whole" : "damaged"
      let asset = try damaged(track, at: scratch.url(name + ".ts")).asset
      let session = try #require(
        AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
      #expect(session.ovtDamage.isEmpty)
      try await session.export(to: scratch.url(name + ".mp4"), as: .mp4)
      #expect(session.ovtDamage.isEmpty == (track == nil))
      #expect((session.ovtDamage.lostAudioPackets > 0) == (track != nil))
      #expect(try Tool.decodingErrors(scratch.file(name + ".mp4")) == "")
    }
  }

  @Test(
    "A mix continues past damaged audio if that is tolerated, and fails otherwise",
    .enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264)), arguments: [true, false])
  func mixOfDamagedAudio(isTolerated: Bool) async throws {
    let scratch = Scratch()
    let asset = try damaged(0x101, at: scratch.url("a.ts")).asset
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPreset640x480))
    let parameters = AVMutableAudioMixInputParameters(
      track: try await asset.loadTracks(withMediaType: .audio).first)
    parameters.setVolume(0.5, at: .zero)
    let mix = AVMutableAudioMix()
    mix.inputParameters = [parameters]
    session.audioMix = mix
    session.ovtToleratesDamage = isTolerated
    guard isTolerated else {
      await #expect(throws: AVError.self) { try await session.export(to: scratch.url("a.mp4"), as: .mp4) }
      return
    }
    try await session.export(to: scratch.url("a.mp4"), as: .mp4)
    #expect(session.ovtDamage.lostAudioPackets > 0 && session.ovtDamage.failure == nil)
    #expect(try Tool.decodingErrors(scratch.file("a.mp4")) == "")
  }

  /// Concealed pictures are reported once, also if several passes decode the source.
  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264)), arguments: [false, true])
  func concealedPicturesAreReported(inPasses: Bool) async throws {
    let scratch = Scratch()
    let (asset, lost) = try damaged(0x100, at: scratch.url("a.ts"))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPreset640x480))
    session.canPerformMultiplePassesOverSourceMediaData = inPasses
    try await session.export(to: scratch.url("a.mp4"), as: .mp4)
    let found = session.ovtDamage.concealedPictures
    #expect(found > 0 && found <= lost, "\(found) of \(lost)")
  }

  @Test func aPartCanBeExported() async throws {
    let scratch = Scratch()
    let session = try #require(
      AVAssetExportSession(
        asset: AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie())),
        presetName: AVAssetExportPresetPassthrough))
    session.timeRange = CMTimeRange(
      start: CMTime(value: 1, timescale: 2), duration: CMTime(value: 1, timescale: 1))
    try await session.export(to: scratch.url("a.mp4"), as: .mp4)
    let duration =
      try Double(Probe.properties(scratch.file("a.mp4"), stream: nil, "format=duration")["duration"] ?? "")
      ?? 0
    #expect(abs(duration - 1) < 0.03)
    #expect(try Tool.decodingErrors(scratch.file("a.mp4")) == "")
  }

  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264))) func presetsEncodeWithinTheirSizes()
    async throws
  {
    let scratch = Scratch()
    let big = try Fixture.make(
      "big.mkv",
      [
        "-f", "lavfi", "-i", "testsrc2=size=1280x800:rate=25:duration=1", "-f", "lavfi", "-i",
        "sine=duration=1", "-c:v", "libx264",
        "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "flac",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: big))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPreset640x480))
    try await session.export(to: scratch.url("a.mp4"), as: .mp4)
    let properties = try Probe.properties(scratch.file("a.mp4"), "stream=width,height,codec_name,nb_frames")
    #expect(
      properties["width"] == "640" && properties["height"] == "400" && properties["codec_name"] == "h264"
        && properties["nb_frames"] == "25")
    #expect(
      try Probe.properties(scratch.file("a.mp4"), stream: "a:0", "stream=codec_name")["codec_name"] == "aac")
    #expect(try Tool.decodingErrors(scratch.file("a.mp4")) == "")
    let audio = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetAppleM4A))
    #expect(audio.supportedFileTypes == [.m4a])
    try await audio.export(to: scratch.url("a.m4a"), as: .m4a)
    let only = try Probe.properties(scratch.file("a.m4a"), stream: nil, "format=nb_streams")
    #expect(only["nb_streams"] == "1")
    #expect(scratch.contents == ["a.m4a", "a.mp4"])
  }

  @Test func statesFollowTheExport() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    let scratch = Scratch()
    let hasBegun = Mutex(false)
    let states = Task {
      var list: [String] = []
      var last = 0.0
      for await state in session.states(updateInterval: 0.01) {
        switch state {
        case .pending:
          list.append("pending")
          hasBegun.withLock { $0 = true }
        case .waiting: list.append("waiting")
        case .exporting(let progress):
          #expect(progress.fractionCompleted >= last && progress.fractionCompleted <= 1)
          last = progress.fractionCompleted
          list.append("exporting")
        }
      }
      return list
    }
    await waitUntil { hasBegun.withLock { $0 } }
    try await session.export(to: scratch.url("states.mov"), as: .mov)
    // The sequence begins with `pending` before the export, and ends with the export.
    let list = await states.value
    #expect(list.first == "pending" && !list.dropFirst().contains("pending"))
    for await state in session.states() { Issue.record("\(state) after the export") }
  }

  @Test func wrongRequestsFailAndLeaveNothing() async throws {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    #expect(AVAssetExportSession(asset: asset, presetName: "none") == nil)
    func export(
      _ preset: String, _ name: String, _ type: AVFileType,
      _ change: (AVAssetExportSession) -> Void = { _ in }
    ) async -> AVError.Code? {
      guard let session = AVAssetExportSession(asset: asset, presetName: preset) else { return nil }
      change(session)
      do { try await session.export(to: scratch.url(name), as: type) } catch {
        #expect(session.status == .failed)
        return (error as? AVError)?.code
      }
      return nil
    }
    #expect(await export(AVAssetExportPresetPassthrough, "a.m4a", .m4a) == .operationNotSupportedForPreset)
    #expect(await export(AVAssetExportPresetPassthrough, "no/a.mov", .mov) == .contentIsUnavailable)
    #expect(
      await export(AVAssetExportPresetPassthrough, "a.mov", .mov) {
        $0.timeRange = CMTimeRange(
          start: CMTime(value: 50, timescale: 1), duration: CMTime(value: 1, timescale: 1))
      } == .operationNotAllowed)
    let cancelled = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    cancelled.outputURL = scratch.url("c.mov")
    cancelled.outputFileType = .mov
    cancelled.cancelExport()
    await cancelled.export()
    #expect(cancelled.status == .cancelled)
    #expect(scratch.contents.isEmpty)
  }

  @Test func estimatesAndCompatibilityAreReported() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    #expect(
      AVAssetExportSession.exportPresets(compatibleWith: asset).contains(AVAssetExportPresetPassthrough))
    #expect(
      await AVAssetExportSession.compatibility(
        ofExportPreset: AVAssetExportPreset1280x720, with: asset, outputFileType: .mov))
    #expect(
      !(await AVAssetExportSession.compatibility(
        ofExportPreset: AVAssetExportPreset1280x720, with: asset, outputFileType: .m4a)))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    let size = try FileManager.default.attributesOfItem(atPath: Fixture.movie())[.size] as? Int64 ?? 0
    #expect(abs(Double(session.estimatedOutputFileLength) / Double(size) - 1) < 0.1)
    #expect(session.maxDuration == .positiveInfinity)
    session.fileLengthLimit = size / 2
    #expect(abs(session.maxDuration.seconds - 1) < 0.1)
    let scratch = Scratch()
    try await session.export(to: scratch.url("half.mov"), as: .mov)
    let written =
      try FileManager.default.attributesOfItem(atPath: scratch.file("half.mov"))[.size] as? Int64 ?? 0
    #expect(written > 0 && written < size * 6 / 10)
  }
}

/// Still pictures against ffmpeg's.
@Suite struct ImageTests {
  private func bytes(_ image: CGImage) -> Data {
    (image.dataProvider?.data).map { Data(referencing: $0) } ?? Data()
  }

  private func difference(_ a: Data, _ b: Data) -> Double {
    guard a.count == b.count, !a.isEmpty else { return .infinity }
    return Double(zip(a, b).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(a.count)
  }

  @Test func exactTimesGiveExactFrames() async throws {
    let path = try Fixture.movie()
    let generator = AVAssetImageGenerator(asset: AVURLAsset(url: URL(fileURLWithPath: path)))
    generator.requestedTimeToleranceBefore = .zero
    generator.requestedTimeToleranceAfter = .zero
    for frame in [0, 13, 41] {
      let time = CMTime(value: Int64(frame) * 1001, timescale: 30000)
      let made = try await generator.image(at: time)
      #expect(made.actualTime == time)
      #expect(made.image.width == 320 && made.image.height == 240)
      let raw = try Fixture.make(
        "frame\(frame).bgra",
        [
          "-i", path, "-vf", "select=eq(n\\,\(frame))", "-frames:v", "1", "-pix_fmt", "bgra", "-f",
          "rawvideo",
        ])
      // This library interpolates chroma, and ffmpeg repeats it.
      #expect(difference(bytes(made.image), try Data(contentsOf: URL(fileURLWithPath: raw))) < 3)
    }
    #expect(throws: AVError.self) {
      try generator.copyCGImage(at: CMTime(value: 60, timescale: 1), actualTime: nil)
    }
    // With the default tolerance the key frame before will do.
    generator.requestedTimeToleranceBefore = .positiveInfinity
    var actual = CMTime.invalid
    _ = try generator.copyCGImage(at: CMTime(value: 30 * 1001, timescale: 30000), actualTime: &actual)
    #expect(actual == CMTime(value: 20 * 1001, timescale: 30000))
  }

  @Test func picturesAreTurnedAndFitted() async throws {
    let turned = try Fixture.make(
      "turned.mov", ["-i", try Fixture.movie(), "-c", "copy", "-metadata:s:v", "rotate=90"])
    let generator = AVAssetImageGenerator(asset: AVURLAsset(url: URL(fileURLWithPath: turned)))
    generator.appliesPreferredTrackTransform = true
    let image = try generator.copyCGImage(at: .zero, actualTime: nil)
    #expect(image.width == 240 && image.height == 320)
    // ffmpeg applies the rotation of the file by default.
    let raw = try Fixture.make(
      "turned.bgra", ["-i", turned, "-frames:v", "1", "-pix_fmt", "bgra", "-f", "rawvideo"])
    #expect(difference(bytes(image), try Data(contentsOf: URL(fileURLWithPath: raw))) < 3)
    generator.maximumSize = CGSize(width: 100, height: 80)
    let small = try generator.copyCGImage(at: .zero, actualTime: nil)
    #expect(small.width == 60 && small.height == 80)
  }

  @Test func generateCGImagesAsynchronouslyReturnsOneResultPerTime() async throws {
    let generator = AVAssetImageGenerator(asset: AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie())))
    generator.requestedTimeToleranceBefore = .zero
    generator.requestedTimeToleranceAfter = .zero
    let times = [0, 1, 100].map { NSValue(time: CMTime(value: $0, timescale: 1)) }
    let results = await withCheckedContinuation {
      (done: CheckedContinuation<[AVAssetImageGenerator.Result], Never>) in
      let lock = NSLock()
      nonisolated(unsafe) var results: [AVAssetImageGenerator.Result] = []
      generator.generateCGImagesAsynchronously(forTimes: times) { _, image, _, result, error in
        lock.withLock {
          #expect((image != nil) == (result == .succeeded) && (error != nil) == (result != .succeeded))
          results.append(result)
          if results.count == 3 { done.resume(returning: results) }
        }
      }
    }
    #expect(results == [.succeeded, .succeeded, .failed])
  }

  @Test func picturesComeInASequence() async throws {
    let generator = AVAssetImageGenerator(asset: AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie())))
    generator.requestedTimeToleranceBefore = .zero
    generator.requestedTimeToleranceAfter = .zero
    let times = [1, 100, 0].map { CMTime(value: $0 * 1001, timescale: 1001) }
    var actual: [CMTime?] = []
    for await picture in generator.images(for: times) {
      #expect(picture.requestedTime == times[actual.count])
      switch picture {
      case .success(_, let image, let time):
        #expect(image.width == 320 && (try? picture.image) === image)
        actual.append(time)
      case .failure(_, let error):
        #expect((error as? AVError)?.code == .noImageAtTime)
        #expect(throws: AVError.self) { try picture.actualTime }
        actual.append(nil)
      }
    }
    #expect(actual.count == 3 && actual[1] == nil && actual[2] == .zero)
    // The picture that is shown at one second began a little before.
    #expect(
      try #require(actual[0]) <= times[0] && times[0] - actual[0]! < CMTime(value: 1001, timescale: 30000))
    // Images after a cancellation fail with operationCancelled.
    var iterator = generator.images(for: [.zero, .zero]).makeAsyncIterator()
    _ = await iterator.next()
    generator.cancelAllCGImageGeneration()
    let cancelled = try #require(await iterator.next())
    #expect(throws: AVError(.operationCancelled)) { try cancelled.image }
    #expect(await iterator.next() == nil)
    let width = await withCheckedContinuation { done in
      generator.generateCGImageAsynchronously(for: .zero) { image, _, _ in
        done.resume(returning: image?.width)
      }
    }
    #expect(width == 320)
  }

  /// An update interval of NaN is treated as infinite.
  @Test func statesWithNaNIntervalReportOnlyChanges() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    let scratch = Scratch()
    let hasBegun = Mutex(false)
    let states = Task {
      var count = 0
      for await _ in session.states(updateInterval: .nan) {
        count += 1
        hasBegun.withLock { $0 = true }
      }
      return count
    }
    await waitUntil { hasBegun.withLock { $0 } }
    try await session.export(to: scratch.url("states.mov"), as: .mov)
    #expect((1...3).contains(await states.value))
  }

  private static func copying() throws -> AVAssetExportSession {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    return try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
  }

  private static func export(_ session: AVAssetExportSession, to url: URL) -> Task<AVError.Code?, Never> {
    Task {
      do {
        try await session.export(to: url, as: .mov)
        return nil
      } catch { return (error as? AVError)?.code ?? .unknown }
    }
  }

  /// The export that runs writes to the URL of its own call; the other one fails and writes no
  /// file.
  @Test func onlyOneOfTwoExportsOfASessionRuns() async throws {
    let scratch = Scratch()
    for round in 0..<20 {
      let session = try Self.copying()
      let urls = ["a", "b"].map { scratch.url("\($0)\(round).mov") }
      let tasks = urls.map { Self.export(session, to: $0) }
      var ends: [AVError.Code?] = []
      for task in tasks { ends.append(await task.value) }
      #expect(ends.filter { $0 == nil }.count == 1 && ends.contains(.operationNotAllowed), "\(ends)")
      for (url, end) in zip(urls, ends) {
        #expect(FileManager.default.fileExists(atPath: url.path) == (end == nil), "\(round)")
      }
      #expect(session.status == .completed)
    }
  }

  @Test func cancellingACallThatDidNotBeginLeavesTheOther() async throws {
    let scratch = Scratch()
    for round in 0..<10 {
      let session = try Self.copying()
      let first = Self.export(session, to: scratch.url("a\(round).mov"))
      await waitUntil { session.status != .unknown }
      let second = Self.export(session, to: scratch.url("b\(round).mov"))
      second.cancel()
      #expect(await second.value == .operationNotAllowed)
      #expect(await first.value == nil && session.status == .completed)
      #expect(scratch.contents.contains("a\(round).mov") && !scratch.contents.contains("b\(round).mov"))
    }
  }
}
