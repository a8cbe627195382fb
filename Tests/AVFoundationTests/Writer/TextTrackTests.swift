// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// The content of a text track as ffmpeg reads it.
private enum MovieHeaderFacts {
  static func texts(_ path: String) -> [String] {
    let read =
      (try? Tool.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:s:0", "-f", "srt", "-"])) ?? ""
    return read.replacing("\r", with: "").components(separatedBy: "\n\n").compactMap { cue in
      let lines = cue.split(separator: "\n")
      guard lines.count >= 3 else { return nil }
      let times = lines[1].split(separator: " ").filter { $0 != "-->" }.map { time in
        time.suffix(6).replacing(",", with: ".")
      }
      let words = lines[2].replacing(#/<[^>]*>/#, with: "")
      return "\(words) \(times.map { "\(Double($0) ?? -1)" }.joined(separator: "-"))"
    }
  }
}

/// Text tracks and chapters through the API as programs use it.
@Suite(.serialized) struct TextTrackTests {
  /// 3GPP timed text: a length of two bytes, and UTF-8.
  private func sample(
    _ text: String, at seconds: Double, for duration: Double, _ type: CMFormatDescription.MediaType
  )
    throws -> CMSampleBuffer
  {
    let bytes = [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xFF)] + Array(text.utf8)
    let block = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
    try bytes.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
    return try CMSampleBuffer(
      dataBuffer: block, formatDescription: CMFormatDescription(mediaType: type, mediaSubType: .mobile3GPP),
      numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: CMTime(seconds: duration, preferredTimescale: 1000),
          presentationTimeStamp: CMTime(seconds: seconds, preferredTimescale: 1000), decodeTimeStamp: .invalid
        )
      ], sampleSizes: [bytes.count])
  }

  private func copy(_ source: URL, to url: URL, _ type: AVFileType) async throws {
    let asset = AVURLAsset(url: source)
    let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: video, outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    let writer = try AVAssetWriter(outputURL: url, fileType: type)
    let formats = try await video.load(.formatDescriptions)
    let pictures = AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: formats.first)
    let titles = AVAssetWriterInput(
      mediaType: .text, outputSettings: nil,
      sourceFormatHint: try CMFormatDescription(mediaType: .text, mediaSubType: .mobile3GPP))
    titles.marksOutputTrackAsEnabled = false
    titles.languageCode = "deu"
    let words = AVAssetWriterInput(mediaType: .subtitle, outputSettings: nil)
    for input in [pictures, titles, words] {
      #expect(writer.canAdd(input))
      writer.add(input)
    }
    #expect(
      !pictures.canAddTrackAssociation(
        withTrackOf: words, type: AVAssetTrack.AssociationType.chapterList.rawValue))
    #expect(
      pictures.canAddTrackAssociation(
        withTrackOf: titles, type: AVAssetTrack.AssociationType.chapterList.rawValue))
    pictures.addTrackAssociation(withTrackOf: titles, type: AVAssetTrack.AssociationType.chapterList.rawValue)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    #expect(titles.append(try sample("One", at: 0, for: 0.4, .text)))
    #expect(titles.append(try sample("Two", at: 0.4, for: 0.6, .text)))
    titles.markAsFinished()
    #expect(words.append(try sample("Good day", at: 0.1, for: 0.2, .subtitle)))
    #expect(words.append(try sample("Good night", at: 0.5, for: 0.2, .subtitle)))
    words.markAsFinished()
    while let next = output.copyNextSampleBuffer() {
      await waitUntil { pictures.isReadyForMoreMediaData }
      #expect(pictures.append(next))
    }
    pictures.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
  }

  @Test(arguments: [AVFileType.mov, .mp4, .m4v])
  func chaptersAndSubtitlesComeBack(type: AVFileType) async throws {
    let scratch = Scratch()
    let source = URL(
      fileURLWithPath: try Fixture.make(
        "text.mp4", ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1", "-pix_fmt", "yuv420p"]))
    let url = scratch.url("out.\(type == .mov ? "mov" : "mp4")")
    try await copy(source, to: url, type)
    let asset = AVURLAsset(url: url)
    let groups = try await asset.loadChapterMetadataGroups(bestMatchingPreferredLanguages: ["en"])
    #expect(groups.map { $0.items.first?.stringValue } == ["One", "Two"])
    #expect(groups.map(\.timeRange.start.seconds) == [0, 0.4])
    #expect(groups.map(\.timeRange.end.seconds) == [0.4, 1])
    let locales = try await asset.load(.availableChapterLocales)
    #expect(locales.map { $0.language.languageCode?.identifier } == ["de"])
    #expect(asset.chapterMetadataGroups(withTitleLocale: Locale(identifier: "de_AT")).count == 2)
    #expect(asset.chapterMetadataGroups(withTitleLocale: Locale(identifier: "fr")).isEmpty)
    let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
    #expect(video.availableTrackAssociationTypes == ["chap"])
    #expect(video.associatedTracks(ofType: .chapterList).map(\.mediaType) == [.text])
    let words = try #require(try await asset.loadTracks(withMediaType: .subtitle).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: words, outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    var found: [String: Double] = [:]
    while let sample = output.copyNextSampleBuffer() {
      #expect(sample.formatDescription?.mediaType == .subtitle)
      #expect(sample.formatDescription?.mediaSubType == .mobile3GPP)
      let text = String(
        decoding: try #require(try sample.dataBuffer?.dataBytes()).dropFirst(2), as: UTF8.self)
      if !text.isEmpty { found[text] = sample.presentationTimeStamp.seconds }
    }
    #expect(found == ["Good day": 0.1, "Good night": 0.5])
  }

  @Test func whatIsNotTimedTextIsRefused() async throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(outputURL: scratch.url("out.mp4"), fileType: .mp4)
    let settings = AVAssetWriterInput(mediaType: .subtitle, outputSettings: ["x": 1])
    #expect(!writer.canAdd(settings))
    let other = AVAssetWriterInput(
      mediaType: .subtitle, outputSettings: nil,
      sourceFormatHint: try CMFormatDescription(mediaType: .text, mediaSubType: .mobile3GPP))
    #expect(!writer.canAdd(other))
    let audio = try AVAssetWriter(outputURL: scratch.url("out.m4a"), fileType: .m4a)
    #expect(!audio.canAdd(AVAssetWriterInput(mediaType: .subtitle, outputSettings: nil)))
  }

  @Test func fragmentsHoldNoText() async throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(outputURL: scratch.url("out.mp4"), fileType: .mp4)
    writer.movieFragmentInterval = CMTime(value: 1, timescale: 1)
    writer.add(AVAssetWriterInput(mediaType: .subtitle, outputSettings: nil))
    #expect(!writer.startWriting())
    #expect((writer.error as? AVError)?.code == .incorrectlyConfigured)
    #expect(scratch.contents.isEmpty)
  }

  /// Texts that overlap, begin before the movie or have no end.
  @Test func oddTimesOfTextsAreMadeToFit() async throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(outputURL: scratch.url("out.mp4"), fileType: .mp4)
    let words = AVAssetWriterInput(mediaType: .subtitle, outputSettings: nil)
    writer.add(words)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: CMTime(value: 10, timescale: 1))
    for (text, start, duration) in [
      ("gone", 1.0, 5.0), ("begun", 8, 3), ("long", 12, 9), ("next", 13, 1), ("last", 16, 2),
    ] {
      #expect(words.append(try sample(text, at: start, for: duration, .subtitle)))
    }
    words.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let tracks = MovieHeaderFacts.texts(scratch.file("out.mp4"))
    // White, in the middle below: nothing is said of its place.
    #expect(tracks == ["begun 0.0-1.0", "long 2.0-3.0", "next 3.0-4.0", "last 6.0-8.0"])
  }

  @Test func groupsHoldWhatTheyAreGiven() {
    let item = AVMutableMetadataItem()
    item.identifier = .commonIdentifierTitle
    item.value = "T" as NSString
    let range = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 2))
    let group = AVMutableTimedMetadataGroup(items: [item], timeRange: range)
    #expect(group.items.count == 1 && group.timeRange == range)
    group.timeRange = .zero
    group.items = []
    #expect(group.items.isEmpty && group.timeRange == .zero)
  }
}
