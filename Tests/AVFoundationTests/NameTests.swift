// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Names that typical programs use in addition to the larger interfaces, each by what it does.
@Suite struct NameTests {
  @Test func unitsOfTimeHaveApplesValues() {
    #expect(NSEC_PER_SEC == 1_000_000_000 && NSEC_PER_MSEC == 1_000_000 && NSEC_PER_USEC == 1000)
    #expect(USEC_PER_SEC == 1_000_000)
    let half: UInt64 = NSEC_PER_SEC / 2
    #expect(half == 500_000_000)
    #expect(paramErr == -50 && errSecSuccess == noErr)
  }

  @Test func namesAreStrings() throws {
    #expect(AVMetadataKey.commonKeyTitle as NSString == "title")
    let key = AVMetadataKey.commonKeyTitle as (NSCopying & NSObjectProtocol)?
    #expect(key as? NSString == "title")
    #expect(AVFileType.mov as CFString == "com.apple.quicktime-movie")
    #expect(AVMediaType.video as NSString == "vide" && AVVideoCodecType.hevc as NSString == "hvc1")
    #expect(AVMetadataKeySpace.common as NSString == "comn")
    #expect(AVMetadataIdentifier.commonIdentifierTitle as NSString == "comn/title")
    #expect(AVMetadataFormat.isoUserData as NSString == "org.mp4ra")
    #expect(AVMediaCharacteristic.visual as NSString == "AVMediaCharacteristicVisual")
    #expect(AVFileTypeProfile.mpeg4AppleHLS as NSString == "MPEG4AppleHLS")
    // And back, also out of a dictionary.
    let object: Any = "vide" as NSString
    #expect(object as? AVMediaType == .video)
    let settings: [String: Any] = [AVVideoCodecKey: "avc1" as NSString]
    #expect(settings[AVVideoCodecKey] as? AVVideoCodecType == .h264)
    #expect((AVVideoCodecType.h264 as AnyObject) as? NSString == "avc1")
    let item = AVMutableMetadataItem()
    item.keySpace = .common
    item.key = AVMetadataKey.commonKeyTitle as (NSCopying & NSObjectProtocol)?
    #expect(item.identifier == .commonIdentifierTitle && item.commonKey == .commonKeyTitle)
  }

  @Test func rectanglesKeepTheirShape() {
    let box = CGRect(x: 10, y: 20, width: 400, height: 100)
    #expect(
      AVMakeRect(aspectRatio: CGSize(width: 16, height: 8), insideRect: box)
        == CGRect(x: 110, y: 20, width: 200, height: 100))
    #expect(
      AVMakeRect(aspectRatio: CGSize(width: 800, height: 100), insideRect: box)
        == CGRect(x: 10, y: 45, width: 400, height: 50))
    #expect(AVMakeRect(aspectRatio: .zero, insideRect: box) == CGRect(x: 210, y: 70, width: 0, height: 0))
  }

  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264)))
  func apertureAndAspectAreTakenAmongCompressionProperties() async throws {
    let aspect: [String: Any] = [
      AVVideoPixelAspectRatioHorizontalSpacingKey: 4, AVVideoPixelAspectRatioVerticalSpacingKey: 3,
    ]
    let aperture: [String: Any] = [
      AVVideoCleanApertureWidthKey: 300, AVVideoCleanApertureHeightKey: 200,
      AVVideoCleanApertureHorizontalOffsetKey: 0, AVVideoCleanApertureVerticalOffsetKey: 0,
    ]
    let scratch = Scratch()
    let size: [String: Any] = [
      AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 320, AVVideoHeightKey: 240,
    ]
    let both: [String: Any] = [AVVideoPixelAspectRatioKey: aspect, AVVideoCleanApertureKey: aperture]
    for (name, settings) in [
      ("inside", size.merging([AVVideoCompressionPropertiesKey: both]) { $1 }),
      ("both", size.merging(both) { $1 }),
    ] {
      let writer = try await WriterTests.transcode(
        Fixture.movie(), to: scratch.url(name + ".mov"), type: .mov, video: settings)
      #expect(writer.status == .completed, "\(String(describing: writer.error))")
      let properties = try Probe.properties(scratch.file(name + ".mov"), "stream=sample_aspect_ratio")
      #expect(properties["sample_aspect_ratio"] == "4:3")
    }
  }

  // MARK: - Sizes and levels

  @Test func whatCannotBeEncodedCannotBeApplied() throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    func settings(_ width: Int, _ height: Int, _ more: [String: Any] = [:]) -> [String: Any] {
      [
        AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: width, AVVideoHeightKey: height,
        AVVideoCompressionPropertiesKey: more,
      ]
    }
    #expect(writer.canApply(outputSettings: settings(640, 360), forMediaType: .video))
    for (width, height) in [(375, 667), (641, 361), (640, 361), (1, 1), (16880, 16)] {
      #expect(writer.canApply(outputSettings: settings(width, height), forMediaType: .video))
    }
    for (width, height) in [(65536, 64), (0, 16), (70000, 16)] {
      #expect(!writer.canApply(outputSettings: settings(width, height), forMediaType: .video))
    }
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: settings(16882, 64))
    writer.add(input)
    #expect(!writer.startWriting())
    #expect("\(String(describing: writer.error))".contains("16882x64"), "\(String(describing: writer.error))")
  }

  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264)))
  func aLevelTooLowForTheSizeIsRaised() throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let settings: [String: Any] = [
      AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 3840, AVVideoHeightKey: 2160,
      AVVideoCompressionPropertiesKey: [AVVideoProfileLevelKey: AVVideoProfileLevelH264High40],
    ]
    #expect(writer.canApply(outputSettings: settings, forMediaType: .video))
    writer.add(AVAssetWriterInput(mediaType: .video, outputSettings: settings))
    #expect(writer.startWriting(), "\(String(describing: writer.error))")
    writer.cancelWriting()
  }

  // MARK: - Assets, players, exports

  @Test func groupsAndFreeTrackNumbersAreFound() async throws {
    let path = try Fixture.make(
      "groups.mov",
      Fixture.picture + Fixture.audio + [
        "-map", "0", "-map", "1", "-map", "1", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let free = try await asset.findUnusedTrackID()
    #expect(free == 4 && asset.unusedTrackID() == 4)
    // libavformat puts the audio tracks of a movie into one group.
    #expect(asset.trackGroups.map { $0.trackIDs.map(\.intValue) } == [[2, 3]])
    let none = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    #expect(none.trackGroups.isEmpty)
  }

  @Test func itemsTellTheirTracks() async throws {
    let player = PlayerTests.player(try Fixture.movie())
    let item = try #require(player.currentItem)
    await waitUntil { item.status == .readyToPlay }
    #expect(item.tracks.compactMap { $0.assetTrack?.mediaType } == [.video, .audio])
    #expect(item.tracks.allSatisfy { $0.isEnabled })
    let range = try #require(item.loadedTimeRanges.first?.timeRangeValue)
    #expect(range.start == .zero && range.duration == item.duration)
    #expect(AVPlayerItem(url: URL(fileURLWithPath: "/nowhere")).loadedTimeRanges.isEmpty)
    #expect(
      NSNotification.Name.AVPlayerItemPlaybackStalled.rawValue == "AVPlayerItemPlaybackStalledNotification")
  }

  @Test func exportsEstimateAsynchronously() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    #expect(try await session.estimatedOutputFileLengthInBytes == session.estimatedOutputFileLength)
    #expect(try await session.estimatedMaximumDuration == .positiveInfinity)
    let broken = AVURLAsset(url: URL(fileURLWithPath: "/nowhere.mov"))
    let other = try #require(AVAssetExportSession(asset: broken, presetName: AVAssetExportPresetPassthrough))
    await #expect(throws: (any Error).self) { try await other.estimatedOutputFileLengthInBytes }
  }

  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264)))
  func assistantsProposeWhatWritersTake() async throws {
    #expect(AVOutputSettingsAssistant(preset: .hevc1920x1080WithAlpha) == nil)
    #expect(AVOutputSettingsAssistant(preset: AVOutputSettingsPreset(rawValue: "large")) == nil)
    for preset in AVOutputSettingsAssistant.availableOutputSettingsPresets() {
      let scratch = Scratch()
      let assistant = try #require(AVOutputSettingsAssistant(preset: preset))
      let writer = try AVAssetWriter(url: scratch.url("a"), fileType: assistant.outputFileType)
      #expect(writer.canApply(outputSettings: assistant.videoSettings, forMediaType: .video), "\(preset)")
      #expect(writer.canApply(outputSettings: assistant.audioSettings, forMediaType: .audio), "\(preset)")
    }
    let assistant = try #require(AVOutputSettingsAssistant(preset: .preset1280x720))
    #expect(assistant.videoSettings?[AVVideoWidthKey] as? Int == 1280)
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    func format(_ type: AVMediaType) -> CMFormatDescription? {
      asset.tracks(withMediaType: type).first?.formatDescriptions.first as? CMFormatDescription
    }
    assistant.sourceVideoFormat = format(.video)
    assistant.sourceAudioFormat = format(.audio)
    #expect(assistant.videoSettings?[AVVideoWidthKey] as? Int == 320)
    #expect(assistant.videoSettings?[AVVideoHeightKey] as? Int == 240)
    #expect(assistant.audioSettings?[AVSampleRateKey] as? Double == 44_100)
    #expect(assistant.audioSettings?[AVNumberOfChannelsKey] as? Int == 1)
    func rate() -> Int {
      let properties = assistant.videoSettings?[AVVideoCompressionPropertiesKey] as? [String: any Sendable]
      return properties?[AVVideoAverageBitRateKey] as? Int ?? 0
    }
    let before = rate()
    assistant.sourceVideoMinFrameDuration = CMTime(value: 1, timescale: 60)
    #expect(rate() == 2 * before && before > 0)
    let scratch = Scratch()
    let writer = try await WriterTests.transcode(
      Fixture.movie(), to: scratch.url("a.mov"), type: .mov, video: try #require(assistant.videoSettings),
      audio: assistant.audioSettings)
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(try Tool.decodingErrors(scratch.file("a.mov")) == "")
  }
}
