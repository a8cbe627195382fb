// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import ElementaryStream

/// Streams that would fill the memory: `SECURITY.md` has the limits.
@Suite struct StreamLimitTests {
  /// Units that are not slices, short or long, before a slice and after one: the parser does not
  /// keep them forever.
  @Test(arguments: [ElementaryStreamCodec.h264, .hevc], [2, 100_000])
  func anAccessUnitWithoutEnd(_ codec: ElementaryStreamCodec, size: Int) throws {
    // Supplemental information; and a slice before it, which cannot be decoded.
    let header: [UInt8] = codec == .h264 ? [6, 0xff] : [39 << 1, 1]
    let slice: [UInt8] = codec == .h264 ? [0, 0, 1, 0x65, 0xff] : [0, 0, 1, 19 << 1, 1, 0xff]
    let unit = [0, 0, 1] + header + [UInt8](repeating: 0xff, count: size - header.count)
    let limit = 1 << 19
    // Each of these is an error of its own: what is too long does not stay.
    let units = limit / (size + ElementaryStreamParser.unitCost) + 5
    let tooMany = Data([UInt8]((0..<units).flatMap { _ in unit }))
    for before in [[], slice] {
      var parser = try ElementaryStreamParser(codec: codec)
      parser.maxAccessUnitSize = limit
      for _ in 0..<3 {
        #expect(try parser.append(Data(before)).isEmpty)
        // Nearly too many, with the slice, and a unit that has waited for a start code since the
        // last error.
        #expect(try parser.append(tooMany.prefix(unit.count * (units - 8))).isEmpty)
        let error = #expect(throws: ElementaryStreamError.self) { try parser.append(tooMany) }
        guard case .accessUnitTooLong(let reached) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(reached > limit && reached <= limit + size + ElementaryStreamParser.unitCost)
      }
    }
  }

  /// A unit that never ends is dropped.
  @Test func aUnitWithoutEnd() throws {
    var parser = try ElementaryStreamParser(codec: .h264)
    parser.maxUnitSize = 1 << 16
    let bytes = Data([0, 0, 1, 0x65]) + Data(repeating: 0xff, count: 40_000)
    for _ in 0..<3 {
      #expect(try parser.append(bytes).isEmpty)
      #expect(throws: ElementaryStreamError.unitTooLong(80_001)) { try parser.append(bytes.dropFirst(4)) }
      // The bytes that follow are no longer a unit.
      #expect(try parser.append(bytes.dropFirst(4)).isEmpty)
    }
  }

  /// The limits in SECURITY.md.
  @Test func limitsOfAStream() throws {
    let parser = try ElementaryStreamParser(codec: .hevc)
    #expect(parser.maxUnitSize == 256 << 20 && parser.maxAccessUnitSize == 256 << 20)
  }

  /// After an access unit that was too long the stream continues.
  @Test(.enabled(if: hasFFmpeg), arguments: [ElementaryStreamCodec.h264, .hevc])
  func picturesAfterAnAccessUnitWithoutEnd(_ codec: ElementaryStreamCodec) throws {
    let options =
      codec == .h264
      ? ["-bf", "0", "-x264-params", "repeat-headers=1:keyint=5"]
      : ["-x265-params", "log-level=none:bframes=0:repeat-headers=1:keyint=5"]
    let stream = try #require(makeStream(codec, options: options))
    let unit = Data([0, 0, 1] + (codec == .h264 ? [6, 0xff] : [39 << 1, 1, 0xff]))
    var parser = try ElementaryStreamParser(codec: codec)
    parser.maxAccessUnitSize = 1 << 19
    var samples = try parser.append(stream)
    let tooMany = Data([UInt8]((0..<6000).flatMap { _ in unit }))
    #expect(throws: ElementaryStreamError.self) { try parser.append(tooMany) }
    samples += try parser.append(stream)
    samples += try parser.finish()
    // The picture that the units were counted with is lost, and those that the error came instead
    // of.
    #expect(samples.count >= 78 && samples.count < 80)
  }

  /// Many short pictures in one stream are no access unit without end, nor are bytes that are not
  /// a unit.
  @Test func whatIsCompleteDoesNotCount() throws {
    var parser = try ElementaryStreamParser(codec: .hevc)
    parser.maxAccessUnitSize = 1 << 16
    let slices = Data([UInt8]((0..<1000).flatMap { _ in [0, 0, 1, 19 << 1, 1, 0xff, 0, 0, 1, 0x26] }))
    for _ in 0..<10 { #expect(try parser.append(slices).isEmpty) }
  }
}
