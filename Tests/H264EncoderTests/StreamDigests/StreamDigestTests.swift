// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import H264Encoder

/// The encoder's streams are, bit for bit, those whose digests `Tests/StreamDigests/engine.txt`
/// lists.
///
/// A change of the encoder that is not meant to change streams leaves the file as it is; one that
/// is meant to writes it again with `scripts/stream-digests --write`, which sets
/// `OVT_STREAM_DIGESTS` to `write`. `OVT_STREAM_DIGESTS_MATCH` compares the streams alone whose
/// names contain it.
@Suite struct StreamDigestTests {
  private static let file = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "StreamDigests/engine.txt")

  private static let streams = DigestedStream.lowLatency + DigestedStream.lookAhead

  @Test("Streams are those of the checked-in digests")
  func streamsAreThoseOfTheCheckedInDigests() async throws {
    let environment = ProcessInfo.processInfo.environment
    let match = environment["OVT_STREAM_DIGESTS_MATCH"]
    let streams = Self.streams.filter { match == nil || $0.name.contains(match ?? "") }
    #expect(Set(streams.map(\.name)).count == streams.count, "Two streams have one name.")
    let found = await Self.digests(of: streams)
    if environment["OVT_STREAM_DIGESTS"] == "write" {
      let lines = streams.map { "\($0.name) \(found[$0.name] ?? "")\n" }.joined()
      try Data(lines.utf8).write(to: Self.file)
      return
    }
    let expected = try Self.expected()
    if match == nil {
      #expect(Set(expected.keys) == Set(streams.map(\.name)), "The file lists other streams.")
    }
    for stream in streams {
      #expect(found[stream.name] == expected[stream.name], "\(stream.name)")
    }
  }

  private static func digests(of streams: [DigestedStream]) async -> [String: String] {
    let workers = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
    return await withTaskGroup(of: [String: String].self) { group in
      for worker in 0..<workers {
        group.addTask {
          var found: [String: String] = [:]
          for i in stride(from: worker, to: streams.count, by: workers) {
            do {
              found[streams[i].name] = try streams[i].digest().description
            } catch {
              Issue.record("\(streams[i].name): \(error)")
            }
          }
          return found
        }
      }
      return await group.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
    }
  }

  private static func expected() throws -> [String: String] {
    let text = try String(contentsOf: file, encoding: .utf8)
    var digests: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1)
      if words.count == 2 { digests[String(words[0])] = String(words[1]) }
    }
    return digests
  }
}
