// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// Generated test pictures with a clock: the time of day (UTC) as text, and in milliseconds modulo
/// 2^32 as a row of 32 black and white fields at the bottom, with the most significant bit first.
final class TestPictures: CallPictures {
  /// The size and frame rate of test pictures, given as `test:`, `test:1280x720` or
  /// `test:640x360@25`.
  struct Format: Equatable {
    static let scheme = "test:"
    var size = Dimensions(width: 1280, height: 720)
    var frameRate = 30.0

    /// The widths and heights in samples on which the clock can be drawn.
    static let sides = 64...8192

    /// Why pictures of this size cannot be generated; nil if they can.
    static func refusal(of size: Dimensions) -> String? {
      guard sides.contains(size.width), sides.contains(size.height) else {
        return "width and height must be from \(sides.lowerBound) to \(sides.upperBound)"
      }
      return size.refusal
    }

    init?(_ text: String) {
      guard text.hasPrefix(Self.scheme) else { return nil }
      let parts = text.dropFirst(Self.scheme.count).split(separator: "@", omittingEmptySubsequences: false)
      if let first = parts.first, !first.isEmpty {
        guard let size = Dimensions(argument: String(first)) else { return nil }
        self.size = size
      }
      if parts.count == 2 {
        guard let rate = Double(parts[1]), (1...240).contains(rate) else { return nil }
        frameRate = rate
      } else if parts.count > 2 {
        return nil
      }
    }
  }

  private let format: Format
  private let pool: CVPixelBufferPool
  private var number = 0

  init(_ format: Format) throws {
    self.format = format
    let attributes: [CFString: Any] = [
      kCVPixelBufferWidthKey: format.size.width, kCVPixelBufferHeightKey: format.size.height,
      kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
    ]
    var pool: CVPixelBufferPool?
    CVPixelBufferPoolCreate(nil, nil, attributes as CFDictionary, &pool)
    guard let pool else { throw Failure("out of memory for test pictures") }
    self.pool = pool
  }

  /// Draws the next picture, without the clock.
  func next() throws -> CallPicture? {
    defer { number += 1 }
    var created: CVPixelBuffer?
    CVPixelBufferPoolCreatePixelBuffer(nil, pool, &created)
    guard let buffer = created else { throw Failure("out of memory for test pictures") }
    draw(on: buffer)
    return CallPicture(buffer: buffer, time: Double(number) / format.frameRate)
  }

  /// Draws the clock. It is separate from `next` because it shows the time of capture.
  func stamp(_ buffer: CVPixelBuffer, milliseconds: UInt64) {
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    guard let luma = LumaCanvas(buffer) else { return }
    let (width, height) = (format.size.width, format.size.height)
    let seconds = milliseconds / 1000 % 86_400
    let text = String(
      format: "%02d:%02d:%02d.%03d", Int(seconds / 3600), Int(seconds / 60 % 60), Int(seconds % 60),
      Int(milliseconds % 1000))
    let scale = max(width / 90, 1)
    luma.text(text, x: (width - text.count * 6 * scale) / 2, y: height / 3, scale: scale)
    luma.text("\(number)", x: scale * 2, y: scale * 2, scale: max(scale / 2, 1))
    let field = width / 34
    let rows = max(height / 12, 8)
    luma.fill(x: 0, y: height - rows - 4, width: width, height: rows + 4, value: 110)
    for bit in 0..<32 {
      let isSet = UInt32(truncatingIfNeeded: milliseconds) >> (31 - UInt32(bit)) & 1 != 0
      luma.fill(
        x: field * (bit + 1), y: height - rows - 2, width: field, height: rows, value: isSet ? 225 : 24)
    }
  }

  private func draw(on buffer: CVPixelBuffer) {
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    guard let luma = LumaCanvas(buffer) else { return }
    let (width, height) = (format.size.width, format.size.height)
    // Bars that move slowly, and a box that crosses them.
    for y in 0..<height {
      let row = luma.row(y)
      let phase = number &+ y / 8
      for x in 0..<width { row[x] = UInt8(truncatingIfNeeded: 48 &+ ((x &+ phase) >> 4 & 7) &* 14) }
    }
    let side = height / 6
    luma.fill(
      x: (number * 5) % max(width - side, 1), y: height / 2 + side / 2, width: side, height: side, value: 190)
    guard let chroma = CVPixelBufferGetBaseAddressOfPlane(buffer, 1) else { return }
    let pitch = CVPixelBufferGetBytesPerRowOfPlane(buffer, 1)
    for y in 0..<CVPixelBufferGetHeightOfPlane(buffer, 1) {
      let row = (chroma + y * pitch).assumingMemoryBound(to: UInt8.self)
      for x in stride(from: 0, to: width & ~1, by: 2) {
        row[x] = UInt8(truncatingIfNeeded: 108 &+ x * 40 / width)
        row[x + 1] = UInt8(truncatingIfNeeded: 148 &- y * 40 / max(height, 1))
      }
    }
  }
}

/// Draws on the luma plane of a picture.
private struct LumaCanvas {
  private let base: UnsafeMutablePointer<UInt8>
  private let stride: Int
  private let width: Int
  private let height: Int

  init?(_ buffer: CVPixelBuffer) {
    guard let address = CVPixelBufferGetBaseAddressOfPlane(buffer, 0) else { return nil }
    base = address.assumingMemoryBound(to: UInt8.self)
    stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, 0)
    width = CVPixelBufferGetWidth(buffer)
    height = CVPixelBufferGetHeight(buffer)
  }

  func row(_ y: Int) -> UnsafeMutablePointer<UInt8> { base + y * stride }

  /// Fills a rectangle, clipped to the picture.
  func fill(x: Int, y: Int, width: Int, height: Int, value: UInt8) {
    let left = max(x, 0)
    let right = min(x + width, self.width)
    guard left < right else { return }
    for line in max(y, 0)..<max(min(y + height, self.height), max(y, 0)) {
      (row(line) + left).update(repeating: value, count: right - left)
    }
  }

  /// Draws a text of digits, colons and full stops in white on black.
  func text(_ text: String, x: Int, y: Int, scale: Int) {
    fill(x: x - scale, y: y - scale, width: text.count * 6 * scale + scale, height: 9 * scale, value: 20)
    for (index, letter) in text.enumerated() {
      guard let glyph = Self.glyphs[letter] else { continue }
      for (line, bits) in glyph.enumerated() {
        for column in 0..<5 where bits >> (4 - column) & 1 != 0 {
          fill(
            x: x + (index * 6 + column) * scale, y: y + line * scale, width: scale, height: scale, value: 230)
        }
      }
    }
  }

  private static let glyphs: [Character: [UInt8]] = [
    "0": [14, 17, 19, 21, 25, 17, 14], "1": [4, 12, 4, 4, 4, 4, 14], "2": [14, 17, 1, 6, 8, 16, 31],
    "3": [30, 1, 1, 14, 1, 1, 30], "4": [2, 6, 10, 18, 31, 2, 2], "5": [31, 16, 30, 1, 1, 17, 14],
    "6": [6, 8, 16, 30, 17, 17, 14], "7": [31, 1, 2, 4, 8, 8, 8], "8": [14, 17, 17, 14, 17, 17, 14],
    "9": [14, 17, 17, 15, 1, 2, 12], ":": [0, 4, 4, 0, 4, 4, 0], ".": [0, 0, 0, 0, 0, 12, 12],
  ]
}
