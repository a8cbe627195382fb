// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Filters of metadata, and values that a program provides on request.
@Suite(.serialized) struct MetadataFilterTests {
  private func tagged() throws -> String {
    try Fixture.make(
      "tagged-for-filters.mov",
      Fixture.picture + [
        "-c:v", "libx264", "-preset", "ultrafast", "-movflags", "use_metadata_tags", "-metadata",
        "com.apple.quicktime.title=A Title", "-metadata", "com.apple.quicktime.artist=Somebody", "-metadata",
        "com.apple.quicktime.location.ISO6709=+52.5200+013.4050/", "-metadata",
        "com.apple.quicktime.make=Maker", "-metadata", "com.example.secret=42", "-metadata",
        "com.apple.quicktime.comment=To my friend",
      ])
  }

  @Test(
    "An export with the filter for sharing keeps what is about the work, and nothing that tells of a person")
  func anExportWithTheFilterForSharingKeepsWhatIsAboutTheWork() async throws {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try tagged()))
    #expect(try await asset.load(.metadata).contains { $0.commonKey == .commonKeyLocation })
    for (name, filter) in [("all.mov", nil), ("shared.mov", AVMetadataItemFilter.forSharing())] {
      let session = try #require(
        AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
      #expect(session.metadataItemFilter == nil)
      session.metadataItemFilter = filter
      try await session.export(to: scratch.url(name), as: .mov)
      let bytes = try Data(contentsOf: scratch.url(name))
      func holds(_ text: String) -> Bool { bytes.range(of: Data(text.utf8)) != nil }
      #expect(holds("A Title") && holds("Somebody"))
      for text in ["+52.5200", "Maker", "com.example.secret", "To my friend"] {
        #expect(holds(text) == (filter == nil), "\(text) in \(name)")
      }
    }
    // Items that the program sets are not filtered.
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    session.metadataItemFilter = .forSharing()
    let place = AVMutableMetadataItem()
    place.identifier = .quickTimeMetadataLocationISO6709
    place.value = NSString("+10.0000+020.0000/")
    session.metadata = [place]
    try await session.export(to: scratch.url("own.mov"), as: .mov)
    let bytes = try Data(contentsOf: scratch.url("own.mov"))
    #expect(bytes.range(of: Data("+10.0000".utf8)) != nil)
  }

  private final class Box<Value>: @unchecked Sendable {
    // Sendable: `lock` guards the value.
    private let lock = NSLock()
    private var stored: Value
    init(_ value: Value) { stored = value }
    var value: Value {
      get { lock.withLock { stored } }
      set { lock.withLock { stored = newValue } }
    }
  }

  @Test("A value is requested once, when it is needed, and may be provided later")
  func aValueIsAskedForOnce() async throws {
    let like = AVMutableMetadataItem()
    like.identifier = .commonIdentifierTitle
    like.extendedLanguageTag = "en"
    let calls = Box(0)
    let item = AVMetadataItem(propertiesOf: like) { request in
      calls.value += 1
      #expect(request.metadataItem?.identifier == .commonIdentifierTitle)
      DispatchQueue.global().async { request.respond(value: NSString("Late")) }
    }
    #expect(item.identifier == .commonIdentifierTitle)
    #expect(item.extendedLanguageTag == "en")
    #expect(item.statusOfValue(forKey: "value", error: nil) == .unknown)
    #expect(item.statusOfValue(forKey: "identifier", error: nil) == .loaded)
    #expect(calls.value == 0)
    #expect(try await item.load(.stringValue) == "Late")
    #expect(item.stringValue == "Late")
    #expect(item.statusOfValue(forKey: "value", error: nil) == .loaded)
    #expect(calls.value == 1)
  }

  @Test("A program that answers with an error, or not at all, fails the loading")
  func aProgramThatFailsToAnswerFailsTheLoading() async throws {
    struct Reason: Error {}
    let like = AVMutableMetadataItem()
    let failing = AVMetadataItem(propertiesOf: like) { $0.respond(error: Reason()) }
    await #expect(throws: Reason.self) { try await failing.load(.value) }
    #expect(failing.value == nil)
    var error: NSError?
    #expect(failing.statusOfValue(forKey: "value", error: &error) == .failed)
    #expect(error != nil)
    let silent = AVMetadataItem(propertiesOf: like) { _ in }
    await #expect {
      try await silent.load(.stringValue)
    } throws: { ($0 as? AVError)?.code == .failedToLoadMediaData }
    // The first answer counts.
    let twice = AVMetadataItem(propertiesOf: like) { request in
      request.respond(value: NSNumber(value: 1))
      request.respond(value: NSNumber(value: 2))
      request.respond(error: Reason())
    }
    #expect(try await twice.load(.numberValue) == 1)
  }
}
