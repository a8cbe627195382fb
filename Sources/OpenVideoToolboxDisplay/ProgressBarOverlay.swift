// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  /// A progress bar along the lower edge of a window, with a time in digits.
  struct ProgressBarOverlay {
    /// Returns the filled part of the bar, from 0 to 1, or nil if it is unknown.
    let fraction: @Sendable () -> Double?
    /// Returns the text. Digits, `:`, `.`, `/` and spaces are drawn; other characters are left
    /// blank.
    let text: @Sendable () -> String

    /// The glyphs: five rows from top to bottom, each with three bits, of which the highest is the
    /// left column.
    private static let glyphs: [Character: [UInt8]] = [
      "0": [7, 5, 5, 5, 7], "1": [2, 6, 2, 2, 7], "2": [7, 1, 7, 4, 7], "3": [7, 1, 7, 1, 7],
      "4": [5, 5, 7, 1, 1], "5": [7, 4, 7, 1, 7], "6": [7, 4, 7, 5, 7], "7": [7, 1, 1, 2, 2],
      "8": [7, 5, 7, 5, 7], "9": [7, 5, 7, 1, 7], ":": [0, 2, 0, 2, 0], ".": [0, 0, 0, 0, 2],
      "/": [1, 1, 2, 4, 4],
    ]

    func draw(_ library: ovt_sdl, _ renderer: OpaquePointer, width: Int, height: Int) {
      // The size of a glyph's dot, in pixels of the window.
      let dot = max(1, min(height / 180, 6))
      let margin = dot * 3
      let strip = dot * 11
      guard width > strip * 2, height > strip * 2 else { return }
      func fill(_ x: Int, _ y: Int, _ w: Int, _ h: Int, _ color: (UInt8, UInt8, UInt8, UInt8)) {
        guard w > 0, h > 0 else { return }
        var rect = SDL_Rect(x: Int32(x), y: Int32(y), w: Int32(w), h: Int32(h))
        _ = library.SDL_SetRenderDrawColor(renderer, color.0, color.1, color.2, color.3)
        _ = library.SDL_RenderFillRect(renderer, &rect)
      }
      _ = library.SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND)
      let top = height - strip
      fill(0, top, width, strip, (0, 0, 0, 175))
      // The text is cut to a length that can fit, since its length is not bounded.
      let words = text().prefix(width)
      let textWidth = words.count * dot * 4
      var x = width - margin - textWidth
      for character in words {
        for (row, bits) in (Self.glyphs[character] ?? []).enumerated() {
          for column in 0..<3 where bits & (4 >> UInt8(column)) != 0 {
            fill(x + column * dot, top + margin + row * dot, dot, dot, (255, 255, 255, 255))
          }
        }
        x += dot * 4
      }
      let length = width - textWidth - 3 * margin
      let line = top + strip / 2 - dot / 2
      fill(margin, line, length, dot, (120, 120, 120, 255))
      if let fraction = fraction(), fraction.isFinite {
        let done = Int(Double(length) * min(max(fraction, 0), 1))
        fill(margin, line - dot / 2, done, dot * 2, (230, 60, 50, 255))
      }
      _ = library.SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_NONE)
    }
  }
#endif
