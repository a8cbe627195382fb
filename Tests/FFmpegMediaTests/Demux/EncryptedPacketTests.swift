// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FFmpegMedia

/// Movies whose header does not say that they are encrypted, only their fragments: of bytes that a
/// program gives, the fragments are not looked at before they are read.
@Suite(.enabled(if: FFmpegTool.isAvailable)) struct EncryptedPacketTests {
  private final class Source: MediaByteSource {
    let bytes: Data
    init(_ bytes: Data) { self.bytes = bytes }
    func makeReader() -> any MediaByteReader { MemoryReader(bytes) }
  }

  private func movie() throws -> Data {
    var data = Data(
      try FFmpegTool.run([
        "-f", "lavfi", "-i", "testsrc2=size=160x128:rate=25:duration=2", "-f", "lavfi", "-i",
        "sine=duration=2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2",
        "-c:a",
        "aac", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "00112233445566778899aabbccddeeff",
        "-encryption_kid", "000102030405060708090a0b0c0d0e0f", "-movflags", "frag_keyframe+empty_moov", "-f",
        "mp4",
      ]))
    // The names of the sample descriptions are those of clear samples.
    for (hidden, clear) in [("encv", "avc1"), ("enca", "mp4a")] {
      let list = try #require(data.range(of: Data(hidden.utf8)))
      data.replaceSubrange(list, with: Data(clear.utf8))
    }
    return data
  }

  @Test func lookingForTimesGoesOnBehindThePacketsOfAnEncryptedStream() throws {
    let data = try movie()
    let demuxer = try Demuxer(url: "memory.mp4", source: Source(data))
    // Both streams: the first packet of one does not end the search.
    #expect(demuxer.streams.map(\.isProtected) == [true, true])
    for index in 0..<2 {
      let again = try Demuxer(again: demuxer)
      again.select([index])
      let error = #expect(throws: MediaFileError.self) { try again.next() }
      #expect(error?.kind == .encrypted)
    }
  }
}
