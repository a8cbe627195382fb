// SPDX-License-Identifier: Apache-2.0
import HEVCEncoder

/// A generator of random numbers with a seed: the same on every machine (SplitMix64, public domain
/// algorithm by Steele, Lea and Flood, 2014).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Made-up pictures.
struct Content {
  enum Kind: CaseIterable {
    /// Noise that changes with each picture; noise over a gradient; one colour.
    case noise, grain, flat
    /// A texture that moves by fractions of a sample; blocks that move each on their own.
    case pan, blocks
    /// Text-like strokes that scroll; a picture that becomes brighter.
    case screen, fade
  }

  let kind: Kind
  let width: Int
  let height: Int
  let seed: UInt64

  /// Calls `body` with picture `n`.
  func withPicture<R>(_ n: Int, _ body: (SourcePicture) throws -> R) rethrows -> R? {
    var noise = SeededGenerator(seed: seed &+ UInt64(n) &* 7919)
    var luma = [UInt8](repeating: 0, count: width * height)
    var chroma = [UInt8](repeating: 0, count: width * height / 2)
    for y in 0..<height {
      for x in 0..<width { luma[y * width + x] = UInt8(clamping: sample(x, y, n, &noise)) }
    }
    for y in 0..<height / 2 {
      for x in 0..<width { chroma[y * width + x] = UInt8(clamping: chromaSample(x, y, n, &noise)) }
    }
    return try luma.withUnsafeBufferPointer { luma in
      try chroma.withUnsafeBufferPointer { chroma in
        guard let luma = luma.baseAddress, let chroma = chroma.baseAddress else { return nil }
        return try body(
          SourcePicture(
            width: width, height: height, luma: luma, lumaBytesPerRow: width,
            chroma: .interleaved(chroma, bytesPerRow: width)))
      }
    }
  }

  private func sample(_ x: Int, _ y: Int, _ n: Int, _ noise: inout SeededGenerator) -> Int {
    switch kind {
    case .noise: return Int(noise.next() & 255)
    case .grain: return 60 + (x + y) / 2 % 120 + Int(noise.next() & 15)
    case .flat: return 90 + Int(seed % 50)
    case .pan:
      // Triangle waves in steps of a quarter of a sample.
      let (u, v) = (4 * x + 5 * n, 4 * y + 3 * n)
      return 128 + abs(u % 160 - 80) / 2 - abs(v % 224 - 112) / 2 + abs((u + v) % 56 - 28)
    case .blocks:
      let (bx, by) = (x / 24, y / 24)
      let (dx, dy) = ((bx * 7 + by * 3) % 5 - 2, (bx * 5 + by) % 5 - 2)
      return ((x + dx * n) * 11 + (y + dy * n) * 7) % 97 + 60 + bx * 13 % 50
    case .screen:
      let row = y + n
      return (x * 7 / 3 + row / 9 * 31) % 11 < 3 && row % 9 < 6 ? 20 : 235
    case .fade: return 30 + n * 6 + (x * 3 + y * 5) % 64
    }
  }

  private func chromaSample(_ x: Int, _ y: Int, _ n: Int, _ noise: inout SeededGenerator) -> Int {
    switch kind {
    case .noise: return Int(noise.next() & 255)
    case .flat: return x & 1 == 0 ? 100 : 150
    case .screen: return 128
    default: return 100 + (x & 1) * 40 + abs((x / 2 + y + n) % 60 - 30)
    }
  }
}
