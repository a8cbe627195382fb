// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreVideo
import Foundation
import Testing

@testable import FFmpegMedia

/// HEVC parameter sets that come after a slice of their packet.
@Suite struct LateParameterSetsTests {
  private static let (vps, sps, pps): ([UInt8], [UInt8], [UInt8]) = ([64, 1, 7], [66, 1, 8], [68, 1, 9])
  private static let (slice, second, suffix): ([UInt8], [UInt8], [UInt8]) = (
    [2, 1, 0x80], [2, 1, 0x40], [80, 1, 5]
  )
  private static let prefix: [UInt8] = [78, 1, 5]

  private static func framed(_ units: [[UInt8]], _ lengthSize: Int?) -> [UInt8] {
    units.flatMap { unit in
      (lengthSize.map { Array(repeating: 0, count: $0 - 1) + [UInt8(unit.count)] } ?? [0, 0, 0, 1]) + unit
    }
  }

  private static func record(lengthSize: Int?) -> [UInt8] {
    lengthSize.map { [1] + Array(repeating: 0, count: 20) + [UInt8($0 - 1), 0] } ?? []
  }

  private func reordered(
    _ sets: inout LateParameterSets, _ units: [[UInt8]], _ lengthSize: Int?, _ tail: [UInt8] = []
  )
    -> [UInt8]?
  {
    (Self.framed(units, lengthSize) + tail).withUnsafeBytes { sets.reorder($0) }
  }

  @Test(arguments: [nil, 1, 2, 3, 4] as [Int?]) func lateParameterSetsGoToTheNextPacket(lengthSize: Int?) {
    var sets = LateParameterSets(record: Self.record(lengthSize: lengthSize))
    let (vps, sps, pps, slice) = (Self.vps, Self.sps, Self.pps, Self.slice)
    #expect(
      reordered(&sets, [vps, sps, pps, Self.prefix, slice, Self.second, Self.suffix], lengthSize) == nil)
    #expect(
      reordered(&sets, [sps, slice, pps, Self.second, Self.prefix, vps, Self.suffix], lengthSize)
        == Self.framed([sps, slice, Self.second, Self.suffix], lengthSize))
    #expect(
      reordered(&sets, [slice, sps], lengthSize) == Self.framed([pps, Self.prefix, vps, slice], lengthSize))
    #expect(reordered(&sets, [slice], lengthSize) == Self.framed([sps, slice], lengthSize))
    #expect(reordered(&sets, [slice], lengthSize) == nil)
    // Sets of another description replace those that wait.
    #expect(reordered(&sets, [slice, sps], lengthSize) == Self.framed([slice], lengthSize))
    sets.change(to: Self.record(lengthSize: lengthSize))
    #expect(reordered(&sets, [slice], lengthSize) == nil)
  }

  /// A truncated set stays truncated: libavcodec refuses it.
  @Test func cutPacketsStayAsTheyAre() {
    var sets = LateParameterSets(record: Self.record(lengthSize: 4))
    let tail: [UInt8] = [0, 0, 1, 0, 3]
    #expect(reordered(&sets, [Self.slice], 4, tail) == nil)
    #expect(reordered(&sets, [Self.slice, Self.pps], 4, tail) == Self.framed([Self.slice], 4) + tail)
    #expect(reordered(&sets, [], 4, tail) == Self.framed([Self.pps], 4) + tail)
    #expect(reordered(&sets, [], 4, [0, 0]) == nil)
  }

  /// Parameter sets that change after the slices: libavcodec's threads read them while they were
  /// freed.
  @Test(.enabled(if: FFmpegTool.isAvailable), arguments: [true, false])
  func threadsDoNotMeetLateParameterSets(hasLengths: Bool) throws {
    let stream = TestStream(
      name: "HEVC", arguments: ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"],
      codec: .hevc)
    let url = try stream.make()
    defer { try? FileManager.default.removeItem(at: url) }
    var movie = try TestMovie(url)
    func decode(threads: Int) throws -> [Int64: [UInt8]] {
      var configuration = VideoDecoderConfiguration(codec: .hevc, configurationRecord: movie.record)
      configuration.threads = threads
      var pictures: [Int64: [UInt8]] = [:]
      movie.decode(try FFmpegVideoDecoder(configuration)) { _, frame in
        if case .picture(let picture) = frame.outcome {
          pictures[frame.token] = try? planarSamples(picture.pixelBuffer, "yuv420p")
        }
      }
      return pictures
    }
    let wanted = try decode(threads: 1)
    #expect(wanted.count == movie.packets.count)

    let units = Self.units(of: movie.record)
    try #require(units.count >= 3)
    var other = units
    try #require(other[0].count > 21 && units.allSatisfy { $0.count < 256 })
    // The level.
    other[0][21] ^= 3
    let late = (0..<20).flatMap { $0 % 2 == 0 ? other : units }
    for index in movie.packets.indices {
      movie.packets[index].bytes += Self.framed(late, 4)
      guard !hasLengths else { continue }
      var stream = index == 0 ? Self.framed(units, nil) : []
      var rest = movie.packets[index].bytes[...]
      while rest.count > 4 {
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        stream += [0, 0, 0, 1] + rest.dropFirst(4).prefix(length)
        rest = rest.dropFirst(4 + length)
      }
      movie.packets[index].bytes = stream
    }
    if !hasLengths { movie.record = [] }
    for _ in 0..<10 {
      let isSame = try decode(threads: 4) == wanted
      #expect(isSame)
    }
  }

  /// The units of an `hvcC` (ISO/IEC 14496-15, 8.3.3.1.2): parameter sets alone.
  private static func units(of record: [UInt8]) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var rest = record.dropFirst(23)
    for _ in 0..<(record.count > 22 ? record[22] : 0) {
      let (type, count) = ((rest.first ?? 0) & 63, rest.dropFirst().prefix(2).reduce(0) { $0 << 8 | Int($1) })
      rest = rest.dropFirst(3)
      for _ in 0..<count {
        let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        if 32...34 ~= type { units.append([UInt8](rest.dropFirst(2).prefix(length))) }
        rest = rest.dropFirst(2 + length)
      }
    }
    return units
  }
}
