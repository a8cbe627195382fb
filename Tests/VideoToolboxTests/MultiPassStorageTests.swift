import CoreMedia
import Foundation
import Testing
import VideoToolbox

@Suite struct MultiPassStorageTests {
  /// Closing removes what the storage made, and nothing whose name happens to begin like it.
  @Test func deletesItsOwnFilesOnly() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("storage-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let others = ["movie.mp4", "movie.mov", "movie.", "movie.stats", "movie 2", "movie.mbtree"]
    for name in others { try Data(name.utf8).write(to: folder.appendingPathComponent(name)) }
    var made: VTMultiPassStorage?
    #expect(
      VTMultiPassStorageCreate(
        allocator: nil, fileURL: folder.appendingPathComponent("movie") as NSURL, timeRange: .invalid,
        options: nil,
        multiPassStorageOut: &made) == noErr)
    // An encoder leaves these.
    for name in ["movie.cutree", "movie.mbtree.temp"] {
      try Data(name.utf8).write(to: folder.appendingPathComponent(name))
    }
    #expect(VTMultiPassStorageClose(try #require(made)) == noErr)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(left == others.sorted())
  }
}
