// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Assets and tracks against ffprobe.
@Suite struct AssetTests {
  @Test func propertiesAreLoadedOnRequest() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    if case .notYetLoaded = asset.status(of: .duration) {} else { Issue.record("loaded too early") }
    let (tracks, duration) = try await asset.load(.tracks, .duration)
    #expect(tracks.count == 2)
    let reported =
      try Double(Probe.properties(try Fixture.movie(), stream: nil, "format=duration")["duration"] ?? "") ?? 0
    #expect(abs(duration.seconds - reported) < 0.001)
    if case .loaded(let value) = asset.status(of: .duration) {
      #expect(value == duration)
    } else {
      Issue.record("not loaded")
    }
    let (readable, playable, metadata) = try await asset.load(.isReadable, .isPlayable, .commonMetadata)
    #expect(readable && playable && metadata.contains { $0.commonKey == .commonKeySoftware })

    let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
    #expect(video === tracks[0])
    #expect(video.asset === asset)
    let (size, rate, scale) = try await video.load(.naturalSize, .nominalFrameRate, .naturalTimeScale)
    #expect(size == CGSize(width: 320, height: 240))
    #expect(abs(rate - 29.97) < 0.001)
    #expect(scale == 30000)
    let (range, minimum, reorders, formats) = try await video.load(
      .timeRange, .minFrameDuration, .requiresFrameReordering, .formatDescriptions)
    #expect(range == CMTimeRange(start: .zero, duration: CMTime(value: 60 * 1001, timescale: 30000)))
    #expect(minimum == CMTime(value: 1001, timescale: 30000))
    #expect(reorders)
    let format = try #require(formats.first)
    #expect(CMFormatDescriptionGetMediaSubType(format) == kCMVideoCodecType_H264)
    #expect(CMVideoFormatDescriptionGetDimensions(format).width == 320)
    let samples = try Probe.samples(try Fixture.movie())
    #expect(try await video.load(.totalSampleDataLength) == Int64(samples.map(\.size).reduce(0, +)))
    #expect(try await video.load(.preferredTransform) == .identity)
    #expect(try await video.load(.mediaCharacteristics).contains(.visual))

    let audio = try #require(try await asset.loadTracks(withMediaType: .audio).first)
    #expect(try await audio.load(.naturalTimeScale) == 44100)
    let basic = try #require(try await audio.load(.formatDescriptions).first?.audioStreamBasicDescription)
    #expect(basic.mFormatID == kAudioFormatMPEG4AAC)
    #expect(basic.mSampleRate == 44100)
    #expect(basic.mChannelsPerFrame == 1)
    #expect(basic.mFramesPerPacket == 1024)
    // The synchronous properties are equal.
    #expect(asset.tracks(withMediaType: .video).first === video)
    #expect(video.nominalFrameRate == rate)
    #expect(asset.track(withTrackID: audio.trackID) === audio)
  }

  @Test func rotationAndShapeAreReported() async throws {
    let turned = try Fixture.make(
      "turned.mov", ["-i", try Fixture.movie(), "-c", "copy", "-metadata:s:v", "rotate=90"])
    let track = try #require(
      AVURLAsset(url: URL(fileURLWithPath: turned)).tracks(withMediaType: .video).first)
    let transform = track.preferredTransform
    // ffprobe counts degrees against the clock.
    let properties = try Probe.properties(turned, "stream_side_data=rotation")
    let degrees = try #require(Double(properties["rotation"] ?? ""))
    #expect(abs(degrees) == 90)
    let expected = CGAffineTransform(rotationAngle: -degrees * .pi / 180)
    #expect(abs(transform.a - expected.a) < 1e-6 && abs(transform.b - expected.b) < 1e-6)
    #expect(abs(transform.c - expected.c) < 1e-6 && abs(transform.d - expected.d) < 1e-6)
    let wide = try Fixture.make(
      "wide.mp4", Fixture.picture + ["-vf", "setsar=4/3", "-c:v", "libx264", "-pix_fmt", "yuv420p"])
    let shaped = try #require(AVURLAsset(url: URL(fileURLWithPath: wide)).tracks(withMediaType: .video).first)
    #expect(shaped.naturalSize == CGSize(width: 427, height: 240))
  }

  @Test func timesOfSamplesAreFound() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    for frame in [0, 1, 7, 23, 59] {
      let inside = CMTime(value: Int64(frame) * 1001 + 500, timescale: 30000)
      #expect(
        track.samplePresentationTime(forTrackTime: inside)
          == CMTime(value: Int64(frame) * 1001, timescale: 30000))
    }
    #expect(!track.samplePresentationTime(forTrackTime: CMTime(value: 100, timescale: 1)).isValid)
    #expect(track.segments.count == 1)
    #expect(track.segment(forTrackTime: CMTime(value: 1, timescale: 1))?.isEmpty == false)
  }

  @Test func badFilesThrow() async throws {
    let scratch = Scratch()
    func code(_ name: String, _ data: Data?) async throws -> AVError.Code? {
      if let data { try data.write(to: scratch.url(name)) }
      let asset = AVURLAsset(url: scratch.url(name))
      do {
        _ = try await asset.load(.tracks)
        return nil
      } catch let error as AVError {
        #expect(!error.localizedDescription.isEmpty)
        #expect((error as NSError).domain == AVFoundationErrorDomain)
        if case .failed = asset.status(of: .tracks) {} else { Issue.record("status is not failed") }
        #expect(asset.tracks.isEmpty && !asset.isPlayable)
        return error.code
      }
    }
    #expect(try await code("absent.mov", nil) == .contentIsUnavailable)
    #expect(try await code("text.mp4", Data("hello".utf8)) == .fileFormatNotRecognized)
    let movie = try Data(contentsOf: URL(fileURLWithPath: Fixture.movie()))
    #expect(try await code("half.mp4", movie.prefix(movie.count / 2)) != nil)
    #expect(throws: AVError.self) { try AVAssetReader(asset: AVAsset(url: scratch.url("absent.mov"))) }
  }

  @Test func errorsAreBridgedToNSError() {
    let error = AVError(.diskFull)
    #expect((error as NSError).code == -11807)
    #expect(AVError.errorDomain == "AVFoundationErrorDomain")
    do { throw error } catch AVError.diskFull {} catch { Issue.record("not matched") }
    let timed = AVError(
      .decodeFailed,
      userInfo: [AVErrorPresentationTimeStampKey: NSValue(time: CMTime(value: 5, timescale: 3))])
    #expect(timed.presentationTimeStamp == CMTime(value: 5, timescale: 3))
  }

  @Test func timesGoIntoValues() throws {
    let range = CMTimeRange(start: CMTime(value: 1, timescale: 3), duration: CMTime(value: 7, timescale: 600))
    #expect(NSValue(time: range.start).timeValue == range.start)
    #expect(NSValue(timeRange: range).timeRangeValue == range)
    let mapping = CMTimeMapping(source: range, target: CMTimeRange(start: .zero, duration: range.duration))
    #expect(NSValue(timeMapping: mapping).timeMappingValue.target == mapping.target)
    #expect(!NSNumber(value: 3).timeValue.isValid)
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.encode(mapping, forKey: "mapping")
    archiver.encode(CMTime.positiveInfinity, forKey: "forever")
    archiver.finishEncoding()
    let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    reader.requiresSecureCoding = false
    #expect(reader.decodeTimeMapping(forKey: "mapping").source == range)
    #expect(reader.decodeTime(forKey: "forever") == .positiveInfinity)
    #expect(!reader.decodeTime(forKey: "nothing").isValid)
  }
}
