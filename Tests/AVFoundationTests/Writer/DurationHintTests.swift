// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// The declared length of a movie reaches the encoder: short movies keep their
/// rate.
@Suite(.serialized, .enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264))) struct DurationHintTests {
  private let scratch = Scratch()
  private static let rate = 200_000.0

  /// Noise, which needs more bits than the rate has.
  private static func picture(_ index: Int) throws -> CVPixelBuffer {
    let buffer = try WriterBehaviourTests.picture(index)
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    let luma = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, 0))
    var state = UInt32(index + 1)
    for place in 0..<CVPixelBufferGetBytesPerRowOfPlane(buffer, 0) * CVPixelBufferGetHeight(buffer) {
      state = state &* 1_664_525 &+ 1_013_904_223
      luma.storeBytes(of: UInt8(64 + state >> 25), toByteOffset: place, as: UInt8.self)
    }
    return buffer
  }

  /// Bytes of each picture of a movie of two seconds.
  private func sizes(
    _ name: String, properties: [String: Any] = [:], _ configure: (AVAssetWriter) -> Void = { _ in }
  ) async throws -> [Int] {
    let writer = try AVAssetWriter(url: scratch.url(name), fileType: .mp4)
    var compression: [String: Any] = [AVVideoAverageBitRateKey: Self.rate]
    for (key, value) in properties { compression[key] = value }
    var settings = WriterBehaviourTests.video()
    settings[AVVideoCompressionPropertiesKey] = compression
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input, sourcePixelBufferAttributes: nil)
    writer.add(input)
    configure(writer)
    try #require(writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: .zero)
    for index in 0..<60 {
      await waitUntil { input.isReadyForMoreMediaData }
      try #require(
        adaptor.append(
          try Self.picture(index),
          withPresentationTime: CMTime(value: Int64(index), timescale: 30)))
    }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed)
    return try Probe.samples(scratch.file(name), data: false).map(\.size)
  }

  @Test func theHintReachesTheEncoder() async throws {
    let key = kVTCompressionPropertyKey_ExpectedDuration as String
    let plain = try await sizes("plain.mp4")
    let said = try await sizes("said.mp4", properties: [key: 2.0])
    let hinted = try await sizes("hinted.mp4") {
      $0.overallDurationHint = CMTime(value: 2, timescale: 1)
    }
    #expect(hinted == said && hinted != plain)
    // Explicit settings have precedence, and an invalid duration is ignored.
    let both = try await sizes("both.mp4", properties: [key: 2.0]) {
      $0.overallDurationHint = CMTime(value: 500, timescale: 1)
    }
    #expect(both == said)
    for (index, time) in [
      CMTime.invalid, .indefinite, .positiveInfinity, .zero, CMTime(value: -5, timescale: 1),
    ]
    .enumerated() {
      #expect(try await sizes("none\(index).mp4") { $0.overallDurationHint = time } == plain)
    }
  }
}
