// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import TestSupport

@testable import VideoToolbox

@Suite struct MultiPassStorageTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("passes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func remove() { try? FileManager.default.removeItem(at: folder) }
  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  private func make(_ name: String?, options: [CFString: Any]? = nil) throws -> (
    OSStatus, VTMultiPassStorage?
  ) {
    var storage: VTMultiPassStorage?
    let status = VTMultiPassStorageCreate(
      allocator: nil, fileURL: name.map { folder.appendingPathComponent($0) as CFURL }, timeRange: .invalid,
      options: options as CFDictionary?, multiPassStorageOut: &storage)
    return (status, storage)
  }

  @Test(
    "Closing removes the file and what encoders put next to it, and nothing else; closing twice is an error")
  func closingRemovesTheFileAndWhatEncodersPutBesideIt() throws {
    defer { remove() }
    let (status, made) = try make("a.stats")
    let storage = try #require(made)
    #expect(status == noErr && CFGetTypeID(storage) == VTMultiPassStorageGetTypeID())
    #expect(names == ["a.stats"])
    for name in ["a.stats.mbtree", "a.stats.temp", "a.statsbook", "b.stats"] {
      try Data([1]).write(to: folder.appendingPathComponent(name))
    }
    #expect(VTMultiPassStorageClose(storage) == noErr)
    #expect(names == ["a.statsbook", "b.stats"])
    #expect(VTMultiPassStorageClose(storage) == kVTMultiPassStorageInvalidErr)
  }

  @Test("What happens to begin like the storage's name is not its own")
  func aStorageDeletesItsOwnFilesOnly() throws {
    defer { remove() }
    let others = ["movie.mp4", "movie.mov", "movie.", "movie.stats", "movie 2", "movie.mbtree"]
    for name in others { try Data(name.utf8).write(to: folder.appendingPathComponent(name)) }
    let storage = try #require(try make("movie").1)
    // An encoder leaves these.
    for name in ["movie.cutree", "movie.mbtree.temp"] {
      try Data(name.utf8).write(to: folder.appendingPathComponent(name))
    }
    #expect(VTMultiPassStorageClose(storage) == noErr)
    #expect(names == others.sorted())
  }

  @Test("An unreferenced storage is closed; a permanent one leaves its file")
  func aStorageThatNobodyHoldsAnyMoreIsClosed() throws {
    defer { remove() }
    do { _ = try make("gone.stats") }
    #expect(names.isEmpty)
    do { _ = try make("kept.stats", options: [kVTMultiPassStorageCreationOption_DoNotDelete: true]) }
    #expect(names == ["kept.stats"])
    let (_, kept) = try make("closed.stats", options: [kVTMultiPassStorageCreationOption_DoNotDelete: true])
    #expect(VTMultiPassStorageClose(try #require(kept)) == noErr)
    #expect(names == ["closed.stats", "kept.stats"])
  }

  @Test("Where there can be no file there is no storage, and options have their type")
  func whereThereCanBeNoFileThereIsNoStorage() throws {
    defer { remove() }
    let (status, none) = try make("no such folder/a.stats")
    #expect(status == kVTMultiPassStorageInvalidErr && none == nil)
    let (wrong, nothing) = try make("a", options: [kVTMultiPassStorageCreationOption_DoNotDelete: "yes"])
    #expect(wrong == kVTParameterErr && nothing == nil)
    let (anywhere, temporary) = try make(nil)
    let storage = try #require(temporary)
    #expect(anywhere == noErr && FileManager.default.fileExists(atPath: storage.path))
    #expect(VTMultiPassStorageClose(storage) == noErr)
    #expect(!FileManager.default.fileExists(atPath: storage.path))
  }

  @Test(
    "A pipe, a device or a folder is not storage, and opening one does not block",
    .timeLimit(.minutes(HangLimit.minutes)))
  func whatIsNotAFileIsNeitherTakenNorRemoved() throws {
    defer { remove() }
    #expect(mkfifo(folder.appendingPathComponent("pipe").path, 0o600) == 0)
    #expect(symlink("/dev/null", folder.appendingPathComponent("null").path) == 0)
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("folder"), withIntermediateDirectories: false)
    for name in ["pipe", "null", "folder"] {
      let (status, none) = try make(name)
      #expect(status == kVTMultiPassStorageInvalidErr && none == nil, "\(name)")
    }
    #expect(names == ["folder", "null", "pipe"])
    // Whoever took the name since has it.
    let storage = try #require(try make("a.stats").1)
    #expect(unlink(storage.path) == 0 && mkfifo(storage.path, 0o600) == 0)
    #expect(VTMultiPassStorageClose(storage) == noErr)
    #expect(names == ["a.stats", "folder", "null", "pipe"])
  }

  @Test("The first encoder that claims it owns it")
  func theFirstEncoderThatClaimsItOwnsIt() throws {
    defer { remove() }
    let storage = try #require(try make("a.stats").1)
    #expect(storage.claim(for: "one") && !storage.claim(for: "two") && storage.claim(for: "one"))
  }

  @Test("Without a storage, or with a closed one, there are no passes")
  func withoutAnOpenStorageThereAreNoPasses() throws {
    defer { remove() }
    let session = try makeSession(width: 64, height: 48)
    defer { VTCompressionSessionInvalidate(session) }
    #expect(VTCompressionSessionBeginPass(session, flags: [], nil) == kVTParameterErr)
    #expect(
      VTCompressionSessionEndPass(session, furtherPassesRequestedOut: nil, nil) == kVTParameterErr)
    let storage = try #require(try make("a.stats").1)
    let status = VTSessionSetProperty(
      session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage)
    // Only an encoder with several passes has the property.
    guard status == noErr else {
      #expect(status == kVTPropertyNotSupportedErr)
      return
    }
    #expect(VTMultiPassStorageClose(storage) == noErr)
    #expect(VTCompressionSessionBeginPass(session, flags: [], nil) == kVTMultiPassStorageInvalidErr)
  }
}
