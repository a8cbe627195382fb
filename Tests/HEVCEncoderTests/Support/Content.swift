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
    /// Print on a plain ground that is scrolled far; print of few letters in a window that jumps.
    case page, window
  }

  let kind: Kind
  let width: Int
  let height: Int
  let seed: UInt64
  /// The bits of a sample of what `withSource` makes, 8 or 10. With 10 bits, layout and alignment
  /// follow from the seed.
  var depth = 8

  /// Calls `body` with picture `n` at the depth of this content.
  func withSource<R>(_ n: Int, _ body: (HEVCSource) throws -> R) rethrows -> R? {
    try withPicture(n) { picture in
      guard depth == 10, case .interleaved(let pairs, _) = picture.chroma else {
        return try body(.eightBits(picture))
      }
      let isUpper = seed & 2 != 0
      let isPlanar = seed & 4 != 0
      func deep(_ samples: UnsafePointer<UInt8>, _ count: Int, _ order: (Int) -> Int) -> [UInt16] {
        (0..<count).map { i in
          let at = order(i)
          // The lowest two bits follow no pattern of the upper ones.
          let value = UInt16(samples[at]) << 2 | UInt16((at &* 2_654_435_761) >> 13 & 3)
          return isUpper ? value << 6 : value
        }
      }
      let luma = deep(picture.luma, width * height) { $0 }
      let quarter = width * height / 4
      let chroma = deep(pairs, 2 * quarter) {
        !isPlanar ? $0 : $0 < quarter ? 2 * $0 : 2 * ($0 - quarter) + 1
      }
      return try luma.withUnsafeBytes { luma in
        try chroma.withUnsafeBytes { chroma in
          guard let luma = luma.baseAddress, let chroma = chroma.baseAddress else {
            return try body(.eightBits(picture))
          }
          return try body(
            .tenBits(
              TenBitPicture(
                width: width, height: height, alignment: isUpper ? .upper : .lower, luma: luma,
                lumaBytesPerRow: 2 * width,
                chroma: isPlanar
                  ? .planar(
                    cb: chroma, cbBytesPerRow: width, cr: chroma + 2 * quarter, crBytesPerRow: width)
                  : .interleaved(chroma, bytesPerRow: 2 * width))))
        }
      }
    }
  }

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
    case .page: return print(x, y + Self.jump(n).y, letters: 1 << 40)
    case .window:
      let (left, top) = (width / 8 + Self.jump(n).x, height / 8 + Self.jump(n).y / 2)
      guard x >= left, y >= top, x < left + width / 2, y < top + height / 2 else { return 90 }
      return print(x - left, y - top, letters: 9)
    }
  }

  /// The distance of pages and windows from their first place.
  static func jump(_ n: Int) -> (x: Int, y: Int) { (n * 37 % 61, n * 71 % 113) }

  /// A sample of print: letters of 3x5 strokes in cells of 8x12, and blanks between words.
  /// - Parameter letters: the number of different letters.
  private func print(_ x: Int, _ y: Int, letters: UInt64) -> Int {
    func hash(_ a: UInt64, _ b: UInt64) -> UInt64 {
      var g = SeededGenerator(seed: seed &+ a &* 0xC2B2_AE3D &+ b &* 0x1656_67B1)
      return g.next() >> 8
    }
    let cell = hash(UInt64(x / 8), UInt64(y / 12))
    guard cell % 4 > 0, x % 8 < 6, y % 12 < 10 else { return 235 }
    let letter = hash(1 << 20, cell % letters)
    return letter >> UInt64(x % 8 / 2 + y % 12 / 2 * 3) & 1 == 1 ? 20 : 235
  }

  private func chromaSample(_ x: Int, _ y: Int, _ n: Int, _ noise: inout SeededGenerator) -> Int {
    switch kind {
    case .noise: return Int(noise.next() & 255)
    case .flat: return x & 1 == 0 ? 100 : 150
    case .screen, .page, .window: return 128
    default: return 100 + (x & 1) * 40 + abs((x / 2 + y + n) % 60 - 30)
    }
  }
}
