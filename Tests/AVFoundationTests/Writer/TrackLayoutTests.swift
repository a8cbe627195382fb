// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Groups, associations and places of the tracks that a writer makes.
@Suite struct TrackLayoutTests {
  /// Two tracks of the same audio and one of pictures, as the closure sets them up.
  private static func write(
    to url: URL, _ configure: (AVAssetWriter, [AVAssetWriterInput]) -> Void
  ) async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let writer = try AVAssetWriter(url: url, fileType: .mov)
    var pairs: [(AVAssetWriterInput, [CMSampleBuffer])] = []
    for type in [AVMediaType.video, .audio, .audio] {
      let track = try #require(asset.tracks(withMediaType: type).first)
      let format = try #require(track.formatDescriptions.first as? CMFormatDescription)
      let input = AVAssetWriterInput(mediaType: type, outputSettings: nil, sourceFormatHint: format)
      writer.add(input)
      pairs.append((input, try ReaderTests.read(asset, type)))
    }
    configure(writer, pairs.map(\.0))
    guard writer.startWriting() else { throw try #require(writer.error) }
    writer.startSession(atSourceTime: .zero)
    // The order of files as programs append them: a bit of each.
    var next = [0, 0, 0]
    while zip(next, pairs).contains(where: { $0 < $1.1.count }) {
      for (index, pair) in pairs.enumerated() where next[index] < pair.1.count {
        #expect(pair.0.append(pair.1[next[index]]))
        next[index] += 1
        if next[index] == pair.1.count { pair.0.markAsFinished() }
      }
    }
    await writer.finishWriting()
    if let error = writer.error { throw error }
  }

  @Test func groupsAndAssociationsAreWritten() async throws {
    let scratch = Scratch()
    let url = scratch.url("groups.mov")
    try await Self.write(to: url) { writer, inputs in
      inputs[1].extendedLanguageTag = "de-CH"
      inputs[2].extendedLanguageTag = "en"
      let group = AVAssetWriterInputGroup(inputs: Array(inputs[1...]), defaultInput: inputs[2])
      #expect(writer.canAdd(group))
      writer.add(group)
      #expect(!writer.canAdd(group) && writer.inputGroups.count == 1)
      #expect(!writer.canAdd(AVAssetWriterInputGroup(inputs: inputs, defaultInput: nil)))
      #expect(inputs[1].canAddTrackAssociation(withTrackOf: inputs[2], type: "fall"))
      #expect(!inputs[0].canAddTrackAssociation(withTrackOf: inputs[2], type: "fall"))
      #expect(!inputs[0].canAddTrackAssociation(withTrackOf: inputs[2], type: "tmcd"))
      #expect(!inputs[1].canAddTrackAssociation(withTrackOf: inputs[1], type: "fall"))
      inputs[1].addTrackAssociation(withTrackOf: inputs[2], type: "fall")
    }
    let asset = AVURLAsset(url: url)
    let audioTracks = asset.tracks(withMediaType: .audio)
    let group = try #require(asset.mediaSelectionGroup(forMediaCharacteristic: .audible))
    #expect(group.options.map(\.extendedLanguageTag) == ["de-CH", "en"])
    #expect(group.defaultOption === group.options[1] && !group.allowsEmptySelection)
    #expect(audioTracks.map(\.isEnabled) == [false, true])
    #expect(
      group.mediaSelectionOption(withPropertyList: group.options[0].propertyList()) === group.options[0])
    let chosen = AVMediaSelectionGroup.mediaSelectionOptions(
      from: group.options, filteredAndSortedAccordingToPreferredLanguages: ["en-GB", "de"])
    #expect(chosen.map(\.extendedLanguageTag) == ["en", "de-CH"])
    #expect(
      audioTracks[0].associatedTracks(ofType: .audioFallback).map(\.trackID) == [audioTracks[1].trackID])
    #expect(audioTracks[0].availableTrackAssociationTypes == ["fall"])
    #expect(audioTracks[1].availableTrackAssociationTypes.isEmpty)
    #expect(asset.mediaSelectionGroup(forMediaCharacteristic: .legible) == nil)
    #expect(try Tool.decodingErrors(url.path).isEmpty)
  }

  /// The places of samples as ffprobe gives them.
  private static func places(_ path: String, _ stream: String) throws -> [Int] {
    try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pos", "-of", "csv=p=0",
      path,
    ]).split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
  }

  @Test func mediaDataLiesWhereItIsAskedFor() async throws {
    let scratch = Scratch()
    try await Self.write(to: scratch.url("first.mov")) { _, inputs in
      inputs[1].mediaDataLocation = .beforeMainMediaDataNotInterleaved
    }
    let path = scratch.file("first.mov")
    let (video, first) = (try Self.places(path, "v:0"), try Self.places(path, "a:0"))
    #expect(first.max() ?? .max < video.min() ?? 0)
    #expect(try Tool.decodingErrors(path).isEmpty)

    // A second of pictures lies together: between them there is no audio.
    try await Self.write(to: scratch.url("chunks.mov")) { _, inputs in
      inputs[0].preferredMediaChunkDuration = CMTime(value: 1, timescale: 1)
    }
    func changes(_ path: String) throws -> Int {
      let all = try Self.places(path, "v:0").map { ($0, 0) } + Self.places(path, "a:0").map { ($0, 1) }
      let order = all.sorted { $0.0 < $1.0 }.map(\.1)
      return zip(order, order.dropFirst()).filter { $0 != $1 }.count
    }
    try await Self.write(to: scratch.url("usual.mov")) { _, _ in }
    let (chunks, standard) = (try changes(scratch.file("chunks.mov")), try changes(scratch.file("usual.mov")))
    #expect(chunks < standard / 8, "\(chunks) and \(standard)")
    #expect(try Tool.decodingErrors(scratch.file("chunks.mov")).isEmpty)
  }

  @Test func naturalSizesAreWrittenAndNonsenseRefused() async throws {
    let scratch = Scratch()
    try await Self.write(to: scratch.url("size.mov")) { writer, inputs in
      inputs[0].naturalSize = CGSize(width: 640, height: 480)
      writer.directoryForTemporaryFiles = URL(fileURLWithPath: scratch.path)
    }
    let bytes = try Data(contentsOf: scratch.url("size.mov"))
    let header = try #require(bytes.range(of: Data("tkhd".utf8)))
    let size = bytes[header.upperBound + 76..<header.upperBound + 84]
    #expect(Array(size) == [2, 128, 0, 0, 1, 224, 0, 0])

    let refused: [(AVAssetWriter, [AVAssetWriterInput]) -> Void] = [
      { $1[0].preferredMediaChunkAlignment = 4096 },
      { $1[0].sampleReferenceBaseURL = URL(fileURLWithPath: "/tmp") },
      { $1[1].naturalSize = CGSize(width: 2, height: 2) },
      { $1[0].naturalSize = CGSize(width: Double.nan, height: 2) },
      { writer, _ in writer.directoryForTemporaryFiles = URL(fileURLWithPath: "/nowhere/at/all") },
    ]
    for configure in refused {
      let error = await #expect(throws: AVError.self) {
        try await Self.write(to: scratch.url("refused.mov"), configure)
      }
      #expect(error?.code == .incorrectlyConfigured)
    }
    #expect(scratch.contents == ["size.mov"])
  }

  @Test func loadingThatIsCancelledEnds() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    // Nothing is under way: nothing is cancelled.
    asset.cancelLoading()
    #expect(try await asset.load(.duration) > .zero)
    asset.cancelLoading()
    #expect(asset.statusOfValue(forKey: "duration", error: nil) == .loaded)
    // A pipe without a writer for a while: opening it waits.
    let scratch = Scratch()
    let path = scratch.file("pipe.mov")
    #expect(mkfifo(path, 0o600) == 0)
    let slow = AVURLAsset(url: URL(fileURLWithPath: path))
    let loaded = Task { try await slow.load(.duration) }
    await waitUntil { slow.statusOfValue(forKey: "duration", error: nil) == .loading }
    slow.cancelLoading()
    #expect(slow.statusOfValue(forKey: "duration", error: nil) == .cancelled)
    // The waiting caller continues at once, although the system still waits for the other end.
    let error = await #expect(throws: AVError.self) { try await loaded.value }
    #expect(error?.code == .operationCancelled)
    #expect(slow.tracks.isEmpty && slow.duration == .zero)
    close(open(path, O_WRONLY))
  }

  @Test func networkKeysAreHeeded() async throws {
    let url = try #require(URL(string: "http://127.0.0.1:9/movie.mp4"))
    for key in [
      AVURLAssetAllowsCellularAccessKey, AVURLAssetAllowsExpensiveNetworkAccessKey,
      AVURLAssetAllowsConstrainedNetworkAccessKey,
    ] {
      let error = await #expect(throws: AVError.self) {
        try await AVURLAsset(url: url, options: [key: false]).load(.duration)
      }
      #expect(error?.code == .operationNotAllowed)
      // A file is not on the network.
      let local = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()), options: [key: false])
      #expect(try await local.load(.duration) > .zero && local.assetCache == nil)
    }
  }
}
