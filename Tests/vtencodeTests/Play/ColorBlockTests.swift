// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation
import Testing

@testable import vtencode

/// Pictures as text, for terminals.
struct ColorBlockTests {
  private func picture(_ blue: UInt8, _ green: UInt8, _ red: UInt8) throws -> CVPixelBuffer {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, 64, 64, kCVPixelFormatType_32BGRA, nil, &made)
    let image = try #require(made)
    CVPixelBufferLockBaseAddress(image, [])
    defer { CVPixelBufferUnlockBaseAddress(image, []) }
    let base = try #require(CVPixelBufferGetBaseAddress(image))
    for row in 0..<64 {
      let line = base + row * CVPixelBufferGetBytesPerRow(image)
      for column in 0..<64 {
        for (byte, value) in [blue, green, red, 255].enumerated() {
          line.storeBytes(of: value, toByteOffset: column * 4 + byte, as: UInt8.self)
        }
      }
    }
    return image
  }

  /// The colours that a text sets, cell by cell, as numbers.
  private func colors(in text: String, layer: Int) -> [Int] {
    var result: [Int] = []
    var current = 0
    for part in text.split(separator: "\u{1B}") {
      let words = part.dropFirst().prefix { $0 != "m" }.split(separator: ";").compactMap { Int($0) }
      if words.count == 3, words[0] == layer { current = words[2] }
      result += [Int](repeating: current, count: part.count { $0 == "\u{2580}" })
    }
    return result
  }

  /// 256 colours hold few greens, but many of them together look like the one that is meant.
  @Test(arguments: [[30, 90, 100], [200, 140, 70], [128, 128, 128]] as [[UInt8]])
  func fewColorsLookLikeTheOneThatIsMeant(bytes: [UInt8]) throws {
    var blocks = ColorBlocks(isTrueColor: false)
    let text = blocks.text(
      for: try picture(bytes[0], bytes[1], bytes[2]), displaySize: CGSize(width: 64, height: 64), columns: 40,
      rows: 20)
    let all = [38, 48].flatMap { colors(in: text, layer: $0) }
    #expect(all.count == 2 * 40 * 20)
    let sum = all.reduce(SIMD4<Int>.zero) { $0 &+ ColorBlocks.levels(of: $1) }
    for (channel, byte) in [2, 1, 0].enumerated() {
      #expect(abs(Double(sum[channel]) / Double(all.count) - Double(bytes[byte])) < 4)
    }
  }
}
