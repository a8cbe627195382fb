// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// The metadata of movies: written, read back, and as ffprobe sees it.
@Suite struct MetadataTests {
  static func item(
    _ identifier: AVMetadataIdentifier, _ value: any NSCopying & NSObjectProtocol, type: CFString? = nil,
    language: String? = nil
  ) -> AVMutableMetadataItem {
    let item = AVMutableMetadataItem()
    item.identifier = identifier
    item.value = value
    if let type { item.dataType = type as String }
    item.extendedLanguageTag = language
    return item
  }

  private static let picture = Data([0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3, 4])

  static var all: [AVMetadataItem] {
    [
      item(.quickTimeMetadataMake, "Camera & Söhne" as NSString),
      item(.quickTimeMetadataModel, "M1" as NSString),
      item(.quickTimeMetadataSoftware, "17.4" as NSString),
      item(.quickTimeMetadataCreationDate, "2024-05-06T07:08:09+0200" as NSString),
      item(.quickTimeMetadataLocationISO6709, "+47.3769+008.5417+408.000/" as NSString),
      item(.quickTimeMetadataTitle, "Ein Titel" as NSString, language: "de-CH"),
      item(.quickTimeMetadataTitle, "A title" as NSString, language: "en"),
      item(.quickTimeMetadataRatingUser, NSNumber(value: Float(4.5)), type: kCMMetadataBaseDataType_Float32),
      item(AVMetadataIdentifier("mdta/org.example.count"), NSNumber(value: -70_000)),
      item(AVMetadataIdentifier("mdta/org.example.large"), NSNumber(value: Int64(1) << 40)),
      item(
        AVMetadataIdentifier("mdta/org.example.small"), NSNumber(value: 7),
        type: kCMMetadataBaseDataType_SInt8),
      item(
        AVMetadataIdentifier("mdta/org.example.unsigned"), NSNumber(value: 60_000),
        type: kCMMetadataBaseDataType_UInt16),
      item(AVMetadataIdentifier("mdta/org.example.double"), NSNumber(value: 0.1)),
      item(
        AVMetadataIdentifier("mdta/org.example.wide"), "é𝄞" as NSString, type: kCMMetadataBaseDataType_UTF16),
      item(.quickTimeMetadataArtwork, NSData(data: picture)),
      item(AVMetadataIdentifier("mdta/org.example.raw"), NSData(data: Data([1, 2, 3]))),
      item(.quickTimeUserDataFullName, "Name" as NSString),
      item(.quickTimeUserDataLocationISO6709, "+47.3769+008.5417/" as NSString),
      item(.quickTimeUserDataInformation, "auf Deutsch" as NSString, language: "de"),
      item(.iTunesMetadataSongName, "Song" as NSString),
      item(.iTunesMetadataBeatsPerMin, NSNumber(value: 120)),
      item(.iTunesMetadataDiscCompilation, NSNumber(value: 1)),
      item(.iTunesMetadataCoverArt, NSData(data: picture)),
      item(AVMetadataIdentifier("itlk/com.apple.iTunes.MOOD"), "calm" as NSString),
      item(.isoUserDataCopyright, "nobody" as NSString, language: "en"),
      item(.identifier3GPUserDataTitle, "Title of 3GPP" as NSString),
    ]
  }

  /// A movie with some metadata, its audio stored.
  static func write(
    _ metadata: [AVMetadataItem], to url: URL, type: AVFileType = .mov, track: [AVMetadataItem] = [],
    configure: (AVAssetWriter) -> Void = { _ in }
  ) async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let source = try #require(asset.tracks(withMediaType: .video).first)
    let samples = try ReaderTests.read(asset)
    let writer = try AVAssetWriter(url: url, fileType: type)
    let format = try #require(source.formatDescriptions.first as? CMFormatDescription)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: format)
    input.metadata = track
    writer.metadata = metadata
    writer.add(input)
    configure(writer)
    guard writer.startWriting() else { throw try #require(writer.error) }
    writer.startSession(atSourceTime: .zero)
    for sample in samples { #expect(input.append(sample)) }
    input.markAsFinished()
    await writer.finishWriting()
    if let error = writer.error { throw error }
  }

  private static func describe(_ item: AVMetadataItem) -> String {
    let value: String
    switch item.value {
    case let data as NSData: value = Data(referencing: data).map { String($0) }.joined(separator: " ")
    case let number as NSNumber: value = number.stringValue
    default: value = item.stringValue ?? "nil"
    }
    return "\(item.identifier?.rawValue ?? "nil") \(value) \(item.extendedLanguageTag ?? "")"
  }

  /// Fails unless the video decodes; the cover is not a picture.
  private static func decode(_ path: String) throws {
    try Tool.run(["ffmpeg", "-v", "error", "-xerror", "-i", path, "-map", "0:v:0", "-f", "null", "-"])
  }

  private static func probe(_ path: String) throws -> [String: String] {
    let json = try Tool.run(["ffprobe", "-v", "error", "-show_entries", "format_tags", "-of", "json", path])
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    return (object?["format"] as? [String: Any])?["tags"] as? [String: String] ?? [:]
  }

  @Test(arguments: [AVFileType.mov, .mp4, .m4v])
  func allMetadataTravels(_ type: AVFileType) async throws {
    let scratch = Scratch()
    let url = scratch.url("all." + (type == .mov ? "mov" : "mp4"))
    try await Self.write(Self.all, to: url, type: type)
    let asset = AVURLAsset(url: url)
    let read = asset.metadata.map(Self.describe)
    for item in Self.all {
      let text = Self.describe(item)
      #expect(read.filter { $0 == text }.count == 1, "\(text) of \(read)")
    }
    #expect(asset.metadata.filter { $0.keySpace != .common }.count == Self.all.count)
    // As ffprobe sees them.
    let tags = try Self.probe(url.path)
    #expect(tags["com.apple.quicktime.make"] == "Camera & Söhne")
    #expect(tags["com.apple.quicktime.model"] == "M1")
    #expect(tags["com.apple.quicktime.location.ISO6709"] == "+47.3769+008.5417+408.000/")
    #expect(tags["com.apple.quicktime.creationdate"] == "2024-05-06T07:08:09+0200")
    #expect(tags["org.example.count"] == "-70000")
    #expect(tags["com.apple.quicktime.rating.user"].flatMap(Double.init) == 4.5)
    #expect(tags["location"] == "+47.3769+008.5417/")
    #expect(tags["MOOD"] == "calm")
    try Self.decode(url.path)
  }

  @Test func dataTypesAreWritten() async throws {
    let scratch = Scratch()
    try await Self.write(Self.all, to: scratch.url("types.mov"))
    let asset = AVURLAsset(url: scratch.url("types.mov"))
    func type(_ identifier: AVMetadataIdentifier) -> String? {
      asset.metadata.first { $0.identifier == identifier }?.dataType
    }
    let expected: [(AVMetadataIdentifier, CFString)] = [
      (.quickTimeMetadataMake, kCMMetadataBaseDataType_UTF8),
      (.quickTimeMetadataRatingUser, kCMMetadataBaseDataType_Float32),
      (AVMetadataIdentifier("mdta/org.example.count"), kCMMetadataBaseDataType_SInt32),
      (AVMetadataIdentifier("mdta/org.example.large"), kCMMetadataBaseDataType_SInt64),
      (AVMetadataIdentifier("mdta/org.example.small"), kCMMetadataBaseDataType_SInt8),
      (AVMetadataIdentifier("mdta/org.example.unsigned"), kCMMetadataBaseDataType_UInt16),
      (AVMetadataIdentifier("mdta/org.example.double"), kCMMetadataBaseDataType_Float64),
      (AVMetadataIdentifier("mdta/org.example.wide"), kCMMetadataBaseDataType_UTF16),
      (.quickTimeMetadataArtwork, kCMMetadataBaseDataType_JPEG),
      (AVMetadataIdentifier("mdta/org.example.raw"), kCMMetadataBaseDataType_RawData),
      (.quickTimeUserDataFullName, kCMMetadataBaseDataType_UTF8),
      (.iTunesMetadataBeatsPerMin, kCMMetadataBaseDataType_SInt16),
      (.iTunesMetadataDiscCompilation, kCMMetadataBaseDataType_SInt8),
      (.iTunesMetadataCoverArt, kCMMetadataBaseDataType_JPEG),
    ]
    for (identifier, wanted) in expected { #expect(type(identifier) == wanted as String, "\(identifier)") }
    // And in the common key space.
    let titles = AVMetadataItem.metadataItems(
      from: asset.metadata, filteredByIdentifier: .commonIdentifierTitle)
    #expect(titles.compactMap(\.stringValue).contains("Ein Titel") && titles.count == 5)
    let german = AVMetadataItem.metadataItems(
      from: asset.commonMetadata.filter { $0.commonKey == .commonKeyTitle },
      filteredAndSortedAccordingToPreferredLanguages: ["de", "en"])
    #expect(german.first?.stringValue == "Ein Titel" && german[1].stringValue == "A title")
    #expect(asset.commonMetadata.contains { $0.identifier == AVMetadataIdentifier("comn/make") })
    #expect(
      Set(asset.availableMetadataFormats) == [
        .quickTimeMetadata, .quickTimeUserData, .iTunesMetadata, .isoUserData,
      ])
    #expect(try await asset.loadMetadata(for: .quickTimeMetadata).count == 16)
  }

  /// The same in movies whose header is written first, and in the header of segments.
  @Test func fragmentsHoldTheMetadata() async throws {
    let scratch = Scratch()
    for type in [AVFileType.mov, .mp4] {
      let url = scratch.url(type == .mov ? "f.mov" : "f.mp4")
      try await Self.write(
        Self.all, to: url, type: type, track: [Self.item(.quickTimeUserDataFullName, "Spur" as NSString)]
      ) {
        $0.movieFragmentInterval = CMTime(value: 1, timescale: 2)
        $0.overallDurationHint = CMTime(value: 2, timescale: 1)
      }
      let asset = AVURLAsset(url: url)
      let read = asset.metadata.map(Self.describe)
      for item in Self.all { #expect(read.contains(Self.describe(item)), "\(Self.describe(item))") }
      #expect(asset.tracks.first?.metadata.first?.stringValue == "Spur")
      #expect(try Self.probe(url.path)["com.apple.quicktime.model"] == "M1")
      try Self.decode(url.path)
      #expect(try Probe.samples(url.path).count == Probe.samples(Fixture.movie()).count)
      let bytes = try Data(contentsOf: url)
      let mehd = try #require(bytes.range(of: Data("mehd".utf8)))
      #expect(bytes[mehd.upperBound] == 1, "64 bits")
    }
  }

  @Test func metadataOfFFmpegIsRead() throws {
    let path = try Fixture.make(
      "tagged.mov",
      [
        "-i", try Fixture.movie(), "-c", "copy", "-movflags", "use_metadata_tags", "-metadata", "title=T",
        "-metadata", "com.apple.quicktime.make=Maker", "-metadata", "location=+10.0-020.0/",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let make = asset.metadata.first { $0.identifier == .quickTimeMetadataMake }
    #expect(make?.stringValue == "Maker" && make?.commonKey == .commonKeyMake)
    let tagged = try Fixture.make(
      "tagged.m4a",
      [
        "-i", try Fixture.movie(), "-vn", "-c", "copy", "-metadata", "title=Söng", "-metadata", "album=A",
        "-metadata", "track=3/7",
      ])
    let song = AVURLAsset(url: URL(fileURLWithPath: tagged))
    #expect(song.metadata.first { $0.identifier == .iTunesMetadataSongName }?.stringValue == "Söng")
    #expect(song.commonMetadata.first { $0.commonKey == .commonKeyAlbumName }?.stringValue == "A")
    #expect(
      song.metadata.first { $0.identifier == .iTunesMetadataTrackNumber }?.dataValue
        == Data([0, 0, 0, 3, 0, 7, 0, 0]))
  }

  @Test func exportKeepsAll() async throws {
    let scratch = Scratch()
    try await Self.write(Self.all, to: scratch.url("source.mov"))
    let asset = AVURLAsset(url: scratch.url("source.mov"))
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    try await session.export(to: scratch.url("copy.mp4"), as: .mp4)
    let read = AVURLAsset(url: scratch.url("copy.mp4")).metadata.map(Self.describe)
    for item in Self.all { #expect(read.contains(Self.describe(item)), "\(Self.describe(item))") }
  }

  @Test func whatNoMovieHoldsIsRefused() async throws {
    let items = [
      Self.item(AVMetadataIdentifier("org.id3/TIT2"), "title" as NSString),
      Self.item(.commonIdentifierRelation, "to nothing" as NSString),
      Self.item(.quickTimeUserDataFullName, NSData(data: Self.picture)),
      Self.item(.quickTimeUserDataFullName, String(repeating: "x", count: 70_000) as NSString),
      Self.item(.quickTimeMetadataTitle, NSArray(array: [1])),
      Self.item(
        AVMetadataIdentifier("mdta/org.example"), NSNumber(value: 300), type: kCMMetadataBaseDataType_SInt8),
      Self.item(AVMetadataIdentifier("itsk/much too long"), "text" as NSString),
      AVMutableMetadataItem(),
    ]
    for item in items {
      let scratch = Scratch()
      let error = await #expect(throws: AVError.self) {
        try await Self.write([item], to: scratch.url("no.mov"))
      }
      #expect(error?.code == .formatUnsupported, "\(Self.describe(item))")
      #expect(scratch.contents.isEmpty)
    }
  }

  @Test func identifiersAndKeysCorrespond() {
    #expect(AVMetadataIdentifier.iTunesMetadataSongName.rawValue == "itsk/%A9nam")
    let item = AVMutableMetadataItem()
    item.keySpace = .iTunes
    item.key = NSNumber(value: UInt32(0xA96E_616D))
    #expect(item.identifier == .iTunesMetadataSongName && item.commonKey == .commonKeyTitle)
    item.keySpace = .quickTimeMetadata
    item.key = "com.apple.quicktime.make" as NSString
    #expect(item.identifier == .quickTimeMetadataMake)
    #expect(
      AVMetadataItem.identifier(
        forKey: AVMetadataKey.quickTimeMetadataKeyMake.rawValue, keySpace: .quickTimeMetadata)
        == .quickTimeMetadataMake)
    item.locale = Locale(identifier: "de_CH")
    #expect(item.extendedLanguageTag == "de-CH")
    #expect(
      AVMetadataItem.metadataItems(from: [item], withKey: AVMetadataKey.commonKeyMake, keySpace: .common)
        .count == 1)
  }

  /// Each is looked at once.
  @Test func aKeyOfManyPercentSignsCostsLittle() {
    let key = String(repeating: "%", count: 100_000)
    let item = Self.item(AVMetadataIdentifier("mdta/" + key), "text" as NSString)
    let seconds = threadSeconds { #expect(item.key as? NSString == key as NSString) }
    #expect(seconds < 2)
  }

  /// A key of bytes that are not text, which becomes longer than a file holds; one that combines
  /// with the slash.
  @Test func anExportLeavesOutWhatNoMovieHolds() async throws {
    let scratch = Scratch()
    let title = "A title"
    try await Self.write(
      [
        Self.item(AVMetadataIdentifier("mdta/" + String(repeating: "y", count: 900)), "left out" as NSString),
        Self.item(AVMetadataIdentifier("mdta/xxorg.example"), "kept" as NSString),
        Self.item(.quickTimeMetadataTitle, title as NSString),
      ], to: scratch.url("source.mov"))
    var bytes = try Data(contentsOf: scratch.url("source.mov"))
    let text = try #require(bytes.range(of: Data(repeating: 0x79, count: 900)))
    bytes.replaceSubrange(text, with: Data(repeating: 0xFF, count: 900))
    let key = try #require(bytes.range(of: Data("xxorg.example".utf8)))
    bytes.replaceSubrange(key, with: Data("\u{301}org.example".utf8))
    try bytes.write(to: scratch.url("source.mov"))
    let asset = AVURLAsset(url: scratch.url("source.mov"))
    let combining = AVMetadataIdentifier("mdta/\u{301}org.example")
    let found = asset.metadata.first { $0.identifier == combining }
    #expect(found?.keySpace == .quickTimeMetadata && found?.key as? NSString == "\u{301}org.example")
    func isNoText(_ item: AVMetadataItem) -> Bool { (item.key as? NSString)?.contains("\u{FFFD}") ?? false }
    let odd = try #require(asset.metadata.first(where: isNoText))
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    try await session.export(to: scratch.url("copy.mov"), as: .mov)
    let made = AVURLAsset(url: scratch.url("copy.mov")).metadata
    #expect(made.contains { $0.identifier == .quickTimeMetadataTitle && $0.stringValue == title })
    #expect(made.contains { $0.identifier == combining && $0.stringValue == "kept" })
    #expect(!made.contains(where: isNoText))
    // An invalid item that the program sets is an error.
    let other = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    other.metadata = [odd]
    let error = await #expect(throws: AVError.self) {
      try await other.export(to: scratch.url("no.mov"), as: .mov)
    }
    #expect(error?.code == .formatUnsupported)
  }
}
