// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Draws pictures in a terminal with coloured half-block characters.
struct ColorBlocks {
  let isTrueColor: Bool
  private var converter: VTPixelTransferSession?
  private var small: CVPixelBuffer?

  init(isTrueColor: Bool) { self.isTrueColor = isTrueColor }

  /// The text with escape sequences that draws a picture, centred in so many character cells.
  /// - Parameters:
  ///   - image: the picture.
  ///   - displaySize: its size with square samples, which gives the aspect ratio.
  ///   - columns: the number of columns.
  ///   - rows: the number of rows.
  /// - Returns: the text; empty if the picture cannot be converted.
  mutating func text(for image: CVPixelBuffer, displaySize: CGSize, columns: Int, rows: Int) -> String {
    let (width, height) = Self.fit(displaySize, columns: columns, rows: rows)
    if small.map({ CVPixelBufferGetWidth($0) != width || CVPixelBufferGetHeight($0) != height }) ?? true {
      small = nil
      CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_32BGRA, nil, &small)
    }
    if converter == nil { VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &converter) }
    guard let converter, let small,
      VTPixelTransferSessionTransferImage(converter, from: image, to: small) == noErr
    else { return "" }
    CVPixelBufferLockBaseAddress(small, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(small, .readOnly) }
    guard let base = CVPixelBufferGetBaseAddress(small) else { return "" }
    let pixels = base.assumingMemoryBound(to: UInt8.self)
    let stride = CVPixelBufferGetBytesPerRow(small)
    let (left, top) = ((columns - width) / 2, (rows - height / 2) / 2)
    let colors = colors(pixels, width: width, height: height, stride: stride)
    var text = ""
    text.reserveCapacity(width * height * 12)
    for row in 0..<height / 2 {
      text += "\u{1B}[\(top + row + 1);\(left + 1)H"
      var last = (upper: -1, lower: -1)
      for column in 0..<width {
        let upper = colors[row * 2 * width + column]
        let lower = colors[(row * 2 + 1) * width + column]
        if upper != last.upper { text += code(38, upper) }
        if lower != last.lower { text += code(48, lower) }
        last = (upper, lower)
        text += "\u{2580}"
      }
      text += "\u{1B}[0m"
    }
    return text
  }

  /// The size in pixels of a picture that fits into so many cells. A cell has two pixels, one above
  /// the other, so the height is even.
  static func fit(_ size: CGSize, columns: Int, rows: Int) -> (width: Int, height: Int) {
    let (columns, lines) = (max(1, columns), max(1, rows) * 2)
    guard size.width > 0, size.height > 0 else { return (columns, lines) }
    let scale = min(Double(columns) / Double(size.width), Double(lines) / Double(size.height))
    let width = min(columns, max(1, Int((Double(size.width) * scale).rounded())))
    let height = min(lines, max(2, Int((Double(size.height) * scale / 2).rounded()) * 2))
    return (width, height)
  }

  /// The colour of each pixel, row by row: 24 bits, or an index of xterm's 256 colours. For the
  /// indices, the error of each pixel is distributed to its neighbours (Floyd-Steinberg dithering),
  /// to avoid large areas of one colour.
  private func colors(_ pixels: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int) -> [Int] {
    var result = [Int](repeating: 0, count: width * height)
    // The distributed errors of this row and the next, in sixteenths, with a margin of one pixel at
    // both ends.
    var here = [SIMD4<Int>](repeating: .zero, count: width + 2)
    var below = here
    for row in 0..<height {
      for column in 0..<width {
        let pixel = pixels + row * stride + column * 4
        let exact = SIMD4(Int(pixel[2]), Int(pixel[1]), Int(pixel[0]), 0)
        guard !isTrueColor else {
          result[row * width + column] = exact[0] << 16 | exact[1] << 8 | exact[2]
          continue
        }
        let wanted = (exact &+ here[column + 1] / 16).clamped(
          lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        let index = Self.indexed(wanted[0], wanted[1], wanted[2])
        result[row * width + column] = index
        let error = wanted &- Self.levels(of: index)
        here[column + 2] &+= error &* 7
        below[column] &+= error &* 3
        below[column + 1] &+= error &* 5
        below[column + 2] &+= error
      }
      swap(&here, &below)
      for column in below.indices { below[column] = .zero }
    }
    return result
  }

  private func code(_ layer: Int, _ color: Int) -> String {
    isTrueColor
      ? "\u{1B}[\(layer);2;\(color >> 16);\(color >> 8 & 255);\(color & 255)m" : "\u{1B}[\(layer);5;\(color)m"
  }

  private static let steps = [0, 95, 135, 175, 215, 255]

  /// Red, green and blue, 0 to 255, of one of xterm's 256 colours. The first sixteen are not used,
  /// because users may redefine them.
  static func levels(of index: Int) -> SIMD4<Int> {
    if index >= 232 {
      let grey = 8 + (index - 232) * 10
      return SIMD4(grey, grey, grey, 0)
    }
    let cube = index - 16
    return SIMD4(steps[cube / 36], steps[cube / 6 % 6], steps[cube % 6], 0)
  }

  /// The index of the nearest of xterm's 256 colours: a cube with six levels of each component, and
  /// 24 greys.
  static func indexed(_ red: Int, _ green: Int, _ blue: Int) -> Int {
    func nearest(_ value: Int) -> Int {
      value < 48 ? 0 : value < 115 ? 1 : min(5, (value - 35) / 40)
    }
    let cube = (nearest(red), nearest(green), nearest(blue))
    let grey = min(23, max(0, ((red + green + blue) / 3 - 3) / 10))
    let level = 8 + grey * 10
    func distance(_ r: Int, _ g: Int, _ b: Int) -> Int {
      (r - red) * (r - red) + (g - green) * (g - green) + (b - blue) * (b - blue)
    }
    let ofCube = distance(steps[cube.0], steps[cube.1], steps[cube.2])
    return distance(level, level, level) < ofCube
      ? 232 + grey : 16 + 36 * cube.0 + 6 * cube.1 + cube.2
  }
}
