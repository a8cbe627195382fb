// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Timed metadata written through the adaptor, looked at byte by byte and read back.
@Suite(.serialized) struct TimedMetadataTests {
  private func item(
    _ identifier: String, _ value: any NSCopying & NSObjectProtocol, _ type: CFString, language: String? = nil
  ) -> AVMetadataItem {
    let item = AVMutableMetadataItem()
    item.identifier = AVMetadataIdentifier(rawValue: identifier)
    item.value = value
    item.dataType = type as String
    item.extendedLanguageTag = language
    return item
  }

  private func range(_ start: Double, _ duration: Double?) -> CMTimeRange {
    CMTimeRange(
      start: CMTime(seconds: start, preferredTimescale: 1000),
      duration: duration.map { CMTime(seconds: $0, preferredTimescale: 1000) } ?? .invalid)
  }

  private var groups: [AVTimedMetadataGroup] {
    [
      AVTimedMetadataGroup(
        items: [
          item("mdta/com.example.place", NSString("Straße 1"), kCMMetadataBaseDataType_UTF8, language: "de"),
          item("mdta/com.example.count", NSNumber(value: -7), kCMMetadataBaseDataType_SInt32),
        ], timeRange: range(0, 0.4)),
      AVTimedMetadataGroup(
        items: [item("mdta/com.example.speed", NSNumber(value: 12.5), kCMMetadataBaseDataType_Float64)],
        timeRange: range(0.4, 0.3)),
      // A gap of 0.3 s lies before this one.
      AVTimedMetadataGroup(
        items: [
          item("mdta/com.example.bytes", NSData(data: Data([1, 2, 3])), kCMMetadataBaseDataType_RawData),
          item("mdta/com.example.count", NSNumber(value: 8), kCMMetadataBaseDataType_SInt32),
        ], timeRange: range(1, 0.5)),
    ]
  }

  private var description: CMFormatDescription {
    get throws {
      try #require(
        AVTimedMetadataGroup(items: groups.flatMap(\.items), timeRange: .zero).copyFormatDescription())
    }
  }

  /// Writes the pictures of a movie, and metadata with them.
  private func write(
    _ groups: [AVTimedMetadataGroup], to url: URL, _ type: AVFileType, hint: CMFormatDescription?,
    fragments: CMTime = .invalid
  ) async throws -> AVAssetWriter {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let video = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: video, outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    let writer = try AVAssetWriter(outputURL: url, fileType: type)
    writer.movieFragmentInterval = fragments
    let pictures = AVAssetWriterInput(
      mediaType: .video, outputSettings: nil,
      sourceFormatHint: try await video.load(.formatDescriptions).first)
    let metadata = AVAssetWriterInput(mediaType: .metadata, outputSettings: nil, sourceFormatHint: hint)
    let adaptor = AVAssetWriterInputMetadataAdaptor(assetWriterInput: metadata)
    #expect(adaptor.assetWriterInput === metadata)
    for input in [pictures, metadata] {
      #expect(writer.canAdd(input))
      writer.add(input)
    }
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    let appended = groups.allSatisfy { adaptor.append($0) }
    metadata.markAsFinished()
    while appended, let sample = output.copyNextSampleBuffer() {
      guard pictures.append(sample) else { break }
    }
    pictures.markAsFinished()
    await writer.finishWriting()
    return writer
  }

  private func read(_ url: URL) async throws -> [AVTimedMetadataGroup] {
    let asset = AVURLAsset(url: url)
    let track = try #require(try await asset.loadTracks(withMediaType: .metadata).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    let adaptor = AVAssetReaderOutputMetadataAdaptor(assetReaderTrackOutput: output)
    reader.add(output)
    #expect(reader.startReading())
    var found: [AVTimedMetadataGroup] = []
    while let group = adaptor.nextTimedMetadataGroup() { found.append(group) }
    #expect(reader.status == .completed)
    return found
  }

  private func described(_ group: AVTimedMetadataGroup) -> String {
    let items = group.items.map { item in
      let value = item.dataValue.map { "\(Array($0))" } ?? item.stringValue ?? "-"
      return
        "\(item.identifier?.rawValue ?? "-")=\(value) \(item.dataType ?? "-") \(item.extendedLanguageTag ?? "-")"
    }
    return "\(group.timeRange.start.seconds)+\(group.timeRange.duration.seconds) \(items)"
  }

  @Test(
    "Groups come back with their times, values, types and languages, and gaps as groups without items",
    arguments: [(AVFileType.mov, false), (.mp4, false), (.m4v, false), (.mov, true), (.mp4, true)])
  func groupsComeBackWithTheirTimes(_ type: AVFileType, inFragments: Bool) async throws {
    let scratch = Scratch()
    let url = scratch.url("metadata.mov")
    let writer = try await write(
      groups, to: url, type, hint: try description,
      fragments: inFragments ? CMTime(value: 1, timescale: 2) : .invalid)
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let gap = AVTimedMetadataGroup(items: [], timeRange: range(0.7, 0.3))
    // libavformat does not tell how long the last sample of a fragment lasts.
    let last = AVTimedMetadataGroup(items: groups[2].items, timeRange: range(1, inFragments ? nil : 0.5))
    let expected = [groups[0], groups[1], gap, last]
    let found = try await read(url).map(described)
    #expect(found == expected.map(described))
    // Another reader's view: times and sizes of the samples, and a movie that is whole.
    let packets = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "d:0", "-show_entries", "packet=pts_time,size", "-of",
      "csv=p=0", url.path,
    ]).split(separator: "\n").map { $0.split(separator: ",").prefix(2).joined(separator: ",") }
    #expect(packets == ["0.000000,29", "0.400000,16", "0.700000,8", "1.000000,23"])
    let properties = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "d:0", "-show_entries", "stream=codec_tag_string", "-of",
      "csv=p=0", url.path,
    ])
    #expect(properties.hasPrefix("mebx"))
    #expect(try Tool.decodingErrors(url.path) == "")
    let bytes = try Data(contentsOf: url)
    #expect(bytes.range(of: Data("gpmd".utf8)) == nil)
    #expect(bytes.range(of: Data("com.example.speed".utf8)) != nil)
  }

  @Test(
    "Without a hint the track has the items of its first group; others fail the writer with the item's name")
  func withoutAHintTheTrackHasTheItemsOfItsFirstGroup() async throws {
    let scratch = Scratch()
    let first = try await write([groups[0]], to: scratch.url("first.mov"), .mov, hint: nil)
    #expect(first.status == .completed)
    #expect(try await read(scratch.url("first.mov")).map(described) == [described(groups[0])])
    let second = try await write(Array(groups.prefix(2)), to: scratch.url("second.mov"), .mov, hint: nil)
    #expect(second.status == .failed)
    let error = try #require(second.error as? AVError)
    #expect(error.code == .invalidSourceMedia)
    #expect(error.localizedDescription.contains("com.example.speed"))
    #expect(!FileManager.default.fileExists(atPath: scratch.file("second.mov")))
  }

  @Test("Values that do not fit their type, groups that go back in time, and other media are refused")
  func valuesThatDoNotFitAreRefused() async throws {
    let scratch = Scratch()
    func code(_ groups: [AVTimedMetadataGroup], _ name: String) async throws -> AVError.Code? {
      let writer = try await write(groups, to: scratch.url(name), .mov, hint: try description)
      return (writer.error as? AVError)?.code
    }
    let large = item("mdta/com.example.count", NSNumber(value: Int64.max), kCMMetadataBaseDataType_SInt32)
    #expect(
      try await code([AVTimedMetadataGroup(items: [large], timeRange: range(0, 1))], "a.mov")
        == .invalidSourceMedia)
    #expect(try await code([groups[2], groups[0]], "b.mov") == .invalidSourceMedia)
    #expect(
      try await code([AVTimedMetadataGroup(items: [], timeRange: .invalid)], "c.mov") == .invalidSourceMedia)
    // A file of audio, and one for phones, have no such tracks.
    for type in [AVFileType.m4a, .mobile3GPP] {
      let writer = try AVAssetWriter(outputURL: scratch.url("d"), fileType: type)
      #expect(!writer.availableMediaTypes.contains(.metadata))
      #expect(!writer.canAdd(AVAssetWriterInput(mediaType: .metadata, outputSettings: nil)))
    }
    let writer = try AVAssetWriter(outputURL: scratch.url("e.mov"), fileType: .mov)
    #expect(!writer.canAdd(AVAssetWriterInput(mediaType: .metadata, outputSettings: ["a": 1])))
    let video = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 64])
    writer.add(video)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    #expect(!AVAssetWriterInputMetadataAdaptor(assetWriterInput: video).append(groups[0]))
    #expect((writer.error as? AVError)?.code == .operationNotAllowed)
    #expect(scratch.contents.isEmpty)
  }

  @Test("Sample buffers of other media, and boxes that are cut off, make no group")
  func damagedBuffersMakeNoGroup() throws {
    let format = try description
    func buffer(_ bytes: [UInt8], _ format: CMFormatDescription) throws -> CMSampleBuffer {
      let block = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
      try bytes.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
      return try CMSampleBuffer(
        dataBuffer: block, formatDescription: format, numSamples: 1,
        sampleTimings: [
          CMSampleTimingInfo(
            duration: CMTime(value: 1, timescale: 1), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
        ], sampleSizes: [bytes.count])
    }
    // Key 2 is an integer of four bytes.
    let whole: [UInt8] = [0, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 5]
    let group = try #require(AVTimedMetadataGroup(sampleBuffer: try buffer(whole, format)))
    #expect(group.items.map(\.numberValue) == [5])
    #expect(group.items.first?.identifier?.rawValue == "mdta/com.example.count")
    for count in 1..<whole.count {
      #expect(AVTimedMetadataGroup(sampleBuffer: try buffer(Array(whole.prefix(count)), format)) == nil)
    }
    for size in [UInt8(0), 7, 13, 255] {
      var bytes = whole
      bytes[3] = size
      #expect(AVTimedMetadataGroup(sampleBuffer: try buffer(bytes, format)) == nil)
    }
    // A number that the description does not know is passed over.
    var unknown = whole
    unknown[7] = 99
    #expect(AVTimedMetadataGroup(sampleBuffer: try buffer(unknown, format))?.items.isEmpty == true)
    let text = try CMFormatDescription(mediaType: .text, mediaSubType: .mobile3GPP)
    #expect(AVTimedMetadataGroup(sampleBuffer: try buffer(whole, text)) == nil)
  }

  @Test("Receivers and providers carry groups as the adaptors do")
  func receiversAndProvidersCarryGroupsAsTheAdaptorsDo() async throws {
    let scratch = Scratch()
    let url = scratch.url("a.mov")
    let writer = try AVAssetWriter(outputURL: url, fileType: .mov)
    let metadata = writer.inputMetadataReceiver(
      for: AVAssetWriterInput(mediaType: .metadata, outputSettings: nil, sourceFormatHint: try description))
    let video = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 64])
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(assetWriterInput: video)
    writer.add(video)
    try writer.start()
    writer.startSession(atSourceTime: .zero)
    var picture: CVPixelBuffer?
    CVPixelBufferCreate(nil, 64, 64, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &picture)
    #expect(adaptor.append(try #require(picture), withPresentationTime: .zero))
    for group in groups { try await metadata.append(group) }
    metadata.finish()
    await writer.finishWriting()
    let asset = AVURLAsset(url: url)
    let track = try #require(try await asset.loadTracks(withMediaType: .metadata).first)
    let reader = try AVAssetReader(asset: asset)
    let provider = reader.outputMetadataProvider(
      for: AVAssetReaderTrackOutput(track: track, outputSettings: nil))
    try reader.start()
    var found: [String] = []
    while let group = try await provider.next() { if !group.items.isEmpty { found.append(described(group)) } }
    #expect(found == groups.map(described))
  }

  @Test("Groups are copied, and groups of dates hold theirs")
  func groupsAreCopied() throws {
    let group = AVTimedMetadataGroup(items: groups[0].items, timeRange: range(1, 2))
    let mutable = try #require(group.mutableCopy() as? AVMutableTimedMetadataGroup)
    mutable.timeRange = range(3, 4)
    mutable.items = []
    #expect(group.timeRange == range(1, 2))
    #expect(group.items.count == 2)
    let copy = try #require(mutable.copy() as? AVTimedMetadataGroup)
    #expect(copy.timeRange == range(3, 4))
    #expect(copy.copyFormatDescription() == nil)

    let (start, end) = (Date(timeIntervalSince1970: 100), Date(timeIntervalSince1970: 200))
    let dates = AVDateRangeMetadataGroup(items: groups[0].items, start: start, end: nil)
    #expect(dates.startDate == start)
    #expect(dates.endDate == nil)
    let changed = try #require(dates.mutableCopy() as? AVMutableDateRangeMetadataGroup)
    (changed.startDate, changed.endDate, changed.items) = (end, end, [])
    #expect(dates.startDate == start)
    #expect(dates.items.count == 2)
    let frozen = try #require(changed.copy() as? AVDateRangeMetadataGroup)
    #expect(frozen.endDate == end)
    #expect(frozen.items.isEmpty)
  }
}
