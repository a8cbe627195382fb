// SPDX-License-Identifier: Apache-2.0
import AVFoundation
@testable import FFmpegMedia
import Foundation
import Testing

/// The state of a movie between the last sample and its name.
@Suite struct DurabilityTests {
  private func begin(_ url: URL) throws -> (AVAssetWriter, AVAssetWriterInput) {
    let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())))
    let writer = try AVAssetWriter(url: url, fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil)
    writer.add(input)
    try #require(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for sample in samples { #expect(input.append(sample)) }
    input.markAsFinished()
    return (writer, input)
  }

  /// Somebody takes the name while the movie is written: neither file is lost.
  @Test func aTakenNameDoesNotCostTheMovie() async throws {
    let scratch = Scratch()
    let (writer, _) = try begin(scratch.url("a.mov"))
    try Data("theirs".utf8).write(to: scratch.url("a.mov"))
    try Data("also theirs".utf8).write(to: scratch.url("a 2.mov"))
    await writer.finishWriting()
    #expect(writer.status == .failed)
    let error = try #require(writer.error as? AVError)
    #expect(error.code == .fileAlreadyExists)
    #expect("\(error.userInfo)".contains("a 3.mov"))
    #expect(scratch.contents == ["a 2.mov", "a 3.mov", "a.mov"])
    #expect(try Data(contentsOf: scratch.url("a.mov")) == Data("theirs".utf8))
    #expect(try Tool.decodingErrors(scratch.file("a 3.mov")).isEmpty)
  }

  /// The hidden file of a file system without nameless ones: its name is new each time, links are
  /// not followed, what a killed process left is removed and what a living one holds is not.
  @Test func hiddenFilesAreNewAndRemovedWhenOld() throws {
    let scratch = Scratch()
    let hidden = HiddenFile(for: "movie.mov", in: scratch.path)
    let one = hidden.create()
    let two = hidden.create()
    defer { for descriptor in [one.descriptor, two.descriptor] { close(descriptor) } }
    #expect(one.descriptor >= 0 && two.descriptor >= 0 && one.path != two.path)
    let kept = [
      "movie.mov.partial", ".movie.mov.partial", ".movie.mov.0123456789abcde.partial",
      ".other.mov.0123456789abcdef.partial",
    ]
    for name in kept { try Data().write(to: scratch.url(name)) }
    try Data("left".utf8).write(to: scratch.url(".movie.mov.0123456789abcdef.partial"))
    // A link of that name leads to a file that must stay.
    try Data("precious".utf8).write(to: scratch.url("precious"))
    symlink(scratch.file("precious"), scratch.file(".movie.mov.00000000000000ff.partial"))
    hidden.removeLeftovers()
    let left = Set(scratch.contents)
    #expect(!left.contains(".movie.mov.0123456789abcdef.partial"))
    #expect(left.isSuperset(of: kept + ["precious"]))
    #expect(left.contains((try #require(one.path) as NSString).lastPathComponent))
    #expect(try Data(contentsOf: scratch.url("precious")) == Data("precious".utf8))
    #expect(
      HiddenFile(for: String(repeating: "é", count: 120) + ".mov", in: scratch.path).create().descriptor >= 0)
  }

  /// A link under the final name is a file that exists.
  @Test func linksAreNotWrittenThrough() throws {
    let scratch = Scratch()
    symlink(scratch.file("elsewhere.mov"), scratch.file("a.mov"))
    for visible in [true, false] {
      #expect(throws: MediaFileError.self) {
        _ = try MuxerFile(finalPath: scratch.file("a.mov"), visible: visible)
      }
    }
    #expect(scratch.contents == ["a.mov"])
  }
}
