// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import RealTimeTransport
@testable import vtencode

/// How pieces of audio are joined, and placed with the pictures.
@Suite struct AudioPieceTests {
  /// Frames of one channel, each with the value of its place.
  private static func ramp(_ range: Range<Int>) -> Data {
    range.map { Float($0) }.withUnsafeBytes { Data($0) }
  }

  private static func values(_ data: Data) -> [Float] {
    data.withUnsafeBytes { bytes in
      (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
    }
  }

  @Test func gapsAreFilledAndOverlapsCut() throws {
    var joiner = AudioJoiner(channels: 1)
    let latePiece = joiner.add(Self.ramp(1000..<2000), at: 1000)
    let late = try #require(latePiece)
    #expect(late.position == 0 && late.frames == 2000)
    var expected = [Float](repeating: 0, count: 1000)
    for place in 1000..<2000 { expected.append(Float(place)) }
    let heard = Self.values(late.data)
    #expect(heard == expected)
    // Jitter below the tolerance changes nothing.
    let jitteredPiece = joiner.add(Self.ramp(2000..<3000), at: 2100)
    let jittered = try #require(jitteredPiece)
    #expect(jittered.position == 2000 && jittered.frames == 1000)
    let overlappingPiece = joiner.add(Self.ramp(2500..<3500), at: 2500)
    let overlapping = try #require(overlappingPiece)
    let rest = Self.values(overlapping.data)
    #expect(overlapping.position == 3000 && rest.count == 500 && rest.first == 3000 && rest.last == 3499)
    let nothing = [joiner.add(Self.ramp(0..<1000), at: 100), joiner.add(Data(), at: 3500)]
    #expect(nothing == [nil, nil] && joiner.next == 3500)
  }

  @Test func timesBeyondAllMeasureDoNoHarm() throws {
    var joiner = AudioJoiner(channels: 2)
    let before = joiner.add(Self.ramp(0..<100), at: .min)
    #expect(before == nil)
    // After a long gap it continues there, without filling the memory.
    let farPiece = joiner.add(Self.ramp(0..<100), at: 1_000_000_000)
    let far = try #require(farPiece)
    #expect(far.position == 1_000_000_000 && far.frames == 50)
    let after = joiner.add(Self.ramp(0..<100), at: -5)
    #expect(after == nil)
  }

  /// Packets of a tone.
  private static func packets(_ count: Int) throws -> [AudioReceiver.Packet] {
    let opus = try OpusEncoding(channels: 2)
    let tone: [Float] = (0..<count * 960 * 2).map { place in
      let angle = Double(place / 2) * 0.1
      return Float(sin(angle)) * 0.5
    }
    return try opus.encode(tone.withUnsafeBytes { Data($0) }, at: 0).prefix(count).map { packet in
      AudioReceiver.Packet(
        payload: packet.bytes, timestamp: UInt32(truncatingIfNeeded: packet.position),
        position: packet.position)
    }
  }

  @Test func reportsPlaceTheAudio() throws {
    let (audio, packets) = (try ReceivedAudio(), try Self.packets(50))
    audio.add(packets, at: 10)
    // Without a picture there is no place, and without reports not yet.
    #expect(audio.take(nil, at: 10) { _ in nil }.isEmpty)
    var anchor = ReceivedAudio.Anchor(time: 0.5, decoded: 10, captured: nil)
    #expect(audio.take(anchor, at: 10.5) { _ in nil }.isEmpty)
    // The picture at 0.5 s was taken at 100 s, the audio from 100.2 s on.
    anchor.captured = 100 << 32
    let pieces = audio.take(anchor, at: 10.5) { stamp in
      let ticks = Double(Int32(bitPattern: stamp)) / 48_000 + 100.2
      return UInt64(ticks * 4_294_967_296)
    }
    let all = pieces.reduce(into: Data()) { $0 += $1.data }
    let values = Self.values(all)
    let first = try #require(values.firstIndex { abs($0) > 0.01 })
    // An encoder's tone begins within a few milliseconds.
    let onset = Double(first / 2) / 48_000
    let length = Double(values.count / 2) / 48_000
    #expect(abs(onset - 0.7) < 0.01)
    #expect(abs(length - 1.7) < 0.02)
  }

  @Test func withoutReportsArrivalsPlaceIt() throws {
    let (audio, packets) = (try ReceivedAudio(), try Self.packets(50))
    let anchor = ReceivedAudio.Anchor(time: 2, decoded: 12, captured: nil)
    for (index, packet) in packets.enumerated() { audio.add([packet], at: 10.3 + Double(index) * 0.02) }
    #expect(audio.take(anchor, at: 12) { _ in nil }.isEmpty)
    let pieces = audio.take(anchor, at: 14) { _ in nil }
    let frames = pieces.reduce(0) { $0 + $1.frames }
    let length = Double(frames) / 48_000
    #expect(pieces.first?.position == 0)
    #expect(abs(length - 1.3) < 0.02, "\(length)")
  }

  @Test func damagedPacketsAreSilence() throws {
    let decoding = try OpusDecoding()
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<500 {
      let bytes = (0..<Int.random(in: 0..<200, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      #expect(decoding.decode(bytes).count <= 48_000 * 8)
    }
    let audio = try #require(try Self.packets(3).last)
    #expect(decoding.decode(audio.payload).count == 960 * 8)
  }
}
