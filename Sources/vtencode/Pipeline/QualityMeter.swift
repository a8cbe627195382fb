// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import VideoToolbox

/// Peak signal-to-noise ratio of an encoded movie, in decibels.
struct Quality: Sendable {
  var luma: Double
  var blue: Double
  var red: Double
  /// Over the samples of all three planes.
  var all: Double

  var description: String {
    "\(Self.decibels(all)) (Y \(Self.decibels(luma)), Cb \(Self.decibels(blue)), Cr \(Self.decibels(red)))"
  }

  private static func decibels(_ value: Double) -> String {
    value.isFinite ? "\(TextFormat.fixed(value, 2)) dB" : "identical"
  }
}

/// Decodes the written movie and compares it with the source frame by frame, at the encoded size.
struct QualityMeter: Sendable {
  let source: MovieSource
  let plan: EncodingPlan
  let encodedPath: String

  func measure() async throws -> Quality {
    let encoded = try await MovieSource.open(encodedPath, streamFrameRate: nil)
    return try await onThread("psnr") { try compare(with: encoded) }
  }

  private func compare(with encoded: MovieSource) throws -> Quality {
    let is10Bit = plan.pixelFormat == .video10Bit
    // 4:4:4 is compared in all of its samples.
    let format =
      (is10Bit ? PixelFormatChoice.video10Bit : plan.pixelFormat == .video444v ? .video444v : .video420v).type
    let originals = try FrameReader(source, plan: plan, pixelFormat: format)
    let results = try FrameReader(encoded, pixelFormat: format)
    defer {
      originals.cancel()
      results.cancel()
    }
    var luma = SquaredError()
    var chroma = [SquaredError(), SquaredError()]
    while let result = try results.next() {
      // Both are in presentation order, so frames with the same index belong together.
      guard let original = try originals.next() else {
        throw Failure("the encoded movie has more frames than its source")
      }
      PicturePair.with(original.pixelBuffer, result.pixelBuffer) { pair in
        if let planes = pair.planes(0) { luma.add(planes, is16Bit: is10Bit) }
        guard let planes = pair.planes(1) else { return }
        for index in 0..<2 { chroma[index].add(planes, is16Bit: is10Bit, step: 2, offset: index) }
      }
    }
    // x420 has its 10-bit samples in the upper bits of 16.
    let peak = is10Bit ? Double(1023 << 6) : 255
    let all = luma + chroma[0] + chroma[1]
    return Quality(
      luma: luma.decibels(peak: peak), blue: chroma[0].decibels(peak: peak),
      red: chroma[1].decibels(peak: peak),
      all: all.decibels(peak: peak))
  }
}

/// A sum of squared differences and the number of samples in it.
private struct SquaredError {
  private var sum = 0.0
  private var count = 0

  static func + (one: Self, other: Self) -> Self {
    var both = Self()
    both.sum = one.sum + other.sum
    both.count = one.count + other.count
    return both
  }

  func decibels(peak: Double) -> Double {
    guard count > 0, sum > 0 else { return .infinity }
    return 10 * log10(peak * peak * Double(count) / sum)
  }

  /// Adds the same plane of two pictures, or one of two interleaved planes.
  mutating func add(_ planes: PicturePair.Planes, is16Bit: Bool, step: Int = 1, offset: Int = 0) {
    sum += planes.squaredError(is16Bit: is16Bit, step: step, offset: offset)
    count += planes.width * planes.height
  }
}
