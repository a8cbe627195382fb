// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import FFmpegMedia

/// Linear PCM in all its layouts: the same values from each.
@Suite struct PCMLayoutTests {
  struct Layout: Sendable, CustomTestStringConvertible {
    var bits: Int
    var width: Int
    var flags: AudioFormatFlags
    var testDescription: String { "\(bits) bits in \(width) bytes, flags \(flags)" }
  }

  private static let signed = kAudioFormatFlagIsSignedInteger
  private static let layouts: [Layout] = [
    Layout(bits: 8, width: 1, flags: signed | kAudioFormatFlagIsPacked),
    Layout(bits: 8, width: 1, flags: kAudioFormatFlagIsPacked),
    Layout(bits: 16, width: 2, flags: signed),
    Layout(bits: 16, width: 2, flags: signed | kAudioFormatFlagIsBigEndian),
    Layout(bits: 16, width: 2, flags: kAudioFormatFlagIsPacked), Layout(bits: 16, width: 4, flags: signed),
    Layout(bits: 24, width: 3, flags: signed | kAudioFormatFlagIsPacked),
    Layout(bits: 24, width: 3, flags: signed | kAudioFormatFlagIsPacked | kAudioFormatFlagIsBigEndian),
    Layout(bits: 24, width: 4, flags: signed),
    Layout(bits: 24, width: 4, flags: signed | kAudioFormatFlagIsAlignedHigh),
    Layout(bits: 24, width: 4, flags: signed | kAudioFormatFlagIsAlignedHigh | kAudioFormatFlagIsBigEndian),
    Layout(bits: 32, width: 4, flags: signed),
    Layout(bits: 32, width: 4, flags: signed | kAudioFormatFlagIsBigEndian),
    Layout(bits: 32, width: 4, flags: kAudioFormatFlagIsFloat),
    Layout(bits: 32, width: 4, flags: kAudioFormatFlagIsFloat | kAudioFormatFlagIsBigEndian),
    Layout(bits: 64, width: 8, flags: kAudioFormatFlagIsFloat),
  ]
  private static let values: [Double] = [-1, -0.5, -0.25, 0, 0.25, 0.5, 0.75]

  private static func describe(_ layout: Layout, channels: Int = 1) -> AudioStreamBasicDescription {
    let frame = UInt32(layout.width * channels)
    return AudioStreamBasicDescription(
      mSampleRate: 48_000, mFormatID: kAudioFormatLinearPCM, mFormatFlags: layout.flags,
      mBytesPerPacket: frame,
      mFramesPerPacket: 1, mBytesPerFrame: frame, mChannelsPerFrame: UInt32(channels),
      mBitsPerChannel: UInt32(layout.bits), mReserved: 0)
  }

  private static func bytes(_ value: Double, _ layout: Layout) -> [UInt8] {
    var word: UInt64
    if layout.flags & kAudioFormatFlagIsFloat != 0 {
      word = layout.bits == 32 ? UInt64(Float(value).bitPattern) : value.bitPattern
    } else {
      let half = Double(UInt64(1) << UInt64(layout.bits - 1))
      let number = Int64(value * half) + (layout.flags & signed == 0 ? Int64(half) : 0)
      word = UInt64(bitPattern: number) & (UInt64.max >> UInt64(64 - layout.bits))
      if layout.flags & kAudioFormatFlagIsAlignedHigh != 0 { word <<= UInt64(8 * layout.width - layout.bits) }
    }
    let little = (0..<layout.width).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    return layout.flags & kAudioFormatFlagIsBigEndian == 0 ? little : little.reversed()
  }

  @Test(arguments: layouts) func valuesAreTheSame(layout: Layout) throws {
    let pcm = try #require(PCMLayout(Self.describe(layout)))
    let bytes = Self.values.flatMap { Self.bytes($0, layout) }
    #expect(bytes.withUnsafeBytes { pcm.floats($0) } == Self.values.map { Float($0) })
  }

  /// Through the encoder, as a writer's audio goes.
  @Test(arguments: layouts) func audioIsEncoded(layout: Layout) throws {
    var request = AudioEncoder.Request()
    request.pcm = (16, false, false)
    let source = Self.describe(layout, channels: 2)
    let encoder = try AudioEncoder(request, source: source)
    let frames = Self.values.flatMap { Self.bytes($0, layout) + Self.bytes($0, layout) }
    var samples = try encoder.encode(frames, source: source, time: .zero)
    samples += try encoder.finish()
    let made = try samples.flatMap { try #require(CMSampleBufferGetDataBuffer($0)).dataBytes() }
    let numbers = stride(from: 0, to: made.count, by: 2).map {
      Int16(bitPattern: UInt16(made[$0]) | UInt16(made[$0 + 1]) << 8)
    }
    #expect(numbers.count == 2 * Self.values.count)
    for (index, number) in numbers.enumerated() {
      #expect(abs(Double(number) - Self.values[index / 2] * 32_768) <= 1, "\(number)")
    }
  }

  @Test func whatIsNotALayoutIsRefused() {
    for layout in [
      Layout(bits: 20, width: 4, flags: Self.signed), Layout(bits: 24, width: 2, flags: Self.signed),
      Layout(bits: 16, width: 9, flags: Self.signed),
      Layout(bits: 32, width: 8, flags: kAudioFormatFlagIsFloat),
    ] {
      #expect(PCMLayout(Self.describe(layout)) == nil, "\(layout)")
    }
  }
}
