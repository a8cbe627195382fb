// SPDX-License-Identifier: Apache-2.0
/// Made-up video: each kind stresses something else. Frames depend on the seed and the number
/// alone.
struct SyntheticContent {
  enum Kind: CaseIterable {
    /// One colour.
    case flat
    /// Slow ramps that drift.
    case gradient
    /// New random samples in each frame.
    case noise
    /// The same random samples in each frame.
    case frozenNoise
    /// Sharp strokes on a plain ground, scrolling by whole rows.
    case screen
    /// Print in two windows that jump about over a ramp, and letters that appear.
    case windows
    /// A smooth texture that moves by fractions of a sample, with objects before it.
    case motion
    /// Samples of 0 and 255 only, changing.
    case extremes
    /// The moving texture, growing darker and brighter.
    case fade
    /// Another kind every few frames.
    case cuts
    /// Quarters of different kinds.
    case mixed
  }

  let kind: Kind
  let width: Int
  let height: Int
  let seed: UInt64
  /// Whether there are as many samples of chroma as of luma.
  var hasFullChroma = false

  func frame(_ n: Int) -> PlanarFrame {
    var frame = PlanarFrame(width: width, height: height, y: [], u: [], v: [], hasFullChroma: hasFullChroma)
    let (chromaWidth, chromaHeight) = (frame.chromaWidth, frame.chromaHeight)
    frame.y = [UInt8](repeating: 0, count: width * height)
    frame.u = [UInt8](repeating: 0, count: chromaWidth * chromaHeight)
    frame.v = frame.u
    func fill(_ plane: inout [UInt8], _ component: Int, _ w: Int, _ h: Int) {
      plane.withUnsafeMutableBufferPointer { samples in
        for y in 0..<h {
          for x in 0..<w {
            let scale = component == 0 || hasFullChroma ? 1 : 2
            let kind = kindAt(x * scale, y * scale, n)
            samples[y * w + x] = sample(kind, component, x * scale, y * scale, n)
          }
        }
      }
    }
    fill(&frame.y, 0, width, height)
    fill(&frame.u, 1, chromaWidth, chromaHeight)
    fill(&frame.v, 2, chromaWidth, chromaHeight)
    return frame
  }

  private func kindAt(_ x: Int, _ y: Int, _ n: Int) -> Kind {
    switch kind {
    case .cuts:
      let kinds: [Kind] = [.motion, .screen, .noise, .flat, .gradient, .extremes]
      return kinds[Int(Self.hash(seed, UInt64(n / 4), 1) % 6)]
    case .mixed:
      let kinds: [Kind] = [.motion, .screen, .noise, .frozenNoise, .gradient, .flat]
      let quarter = (x * 2 / width) + 2 * (y * 2 / height)
      return kinds[Int(Self.hash(seed, UInt64(quarter), 2) % 6)]
    default: return kind
    }
  }

  private func sample(_ kind: Kind, _ component: Int, _ x: Int, _ y: Int, _ n: Int) -> UInt8 {
    let c = UInt64(component)
    switch kind {
    case .flat: return UInt8(truncatingIfNeeded: Self.hash(seed, c, 3))
    case .gradient: return UInt8(truncatingIfNeeded: (x * 3 + y * 2 + n * (1 + component)) / 4)
    case .noise:
      return UInt8(truncatingIfNeeded: Self.hash(seed ^ UInt64(n) << 40, c, UInt64(y << 16 | x)))
    case .frozenNoise: return UInt8(truncatingIfNeeded: Self.hash(seed, c, UInt64(y << 16 | x)))
    case .screen:
      let line = y + n * 3
      // A font of random 3x5 strokes, one glyph in a cell of 8x12.
      let glyph = Self.hash(seed, UInt64(x / 8), UInt64(line / 12))
      let inside = x % 8 < 6 && line % 12 < 10
      let stroke = inside && glyph >> UInt64(x % 8 / 2 + line % 12 / 2 * 3) & 1 == 1
      if component != 0 { return glyph & 0xF00 == 0 ? 90 : 128 }
      return stroke ? 20 : 235
    case .windows:
      for window in 0..<2 {
        let h = Self.hash(seed, UInt64(window * 100 + n / 2), 8)
        let wx = x - Int(h % UInt64(width)) / 2
        let wy = y - Int(h >> 20 % UInt64(height)) / 2
        guard wx >= 0, wy >= 0, wx < width / 2, wy < height / 2 else { continue }
        // Few letters, in cells of 8x12, that come back, with blanks between words.
        let cell = Self.hash(seed, UInt64(wx / 8 * 40 + window), UInt64(wy / 12))
        let isThere = cell % 3 > 0 && wx / 8 + wy / 12 * 5 < 12 + n * 3
        let glyph = Self.hash(seed, cell % 9, 9)
        let inside = isThere && wx % 8 < 6 && wy % 12 < 10
        let stroke = inside && glyph >> UInt64(wx % 8 / 2 + wy % 12 / 2 * 3) & 1 == 1
        if component != 0 { return window == 0 ? 128 : 110 }
        return stroke ? 30 : 225
      }
      return component == 0 ? 60 : 140
    case .extremes:
      return Self.hash(seed ^ UInt64(n / 3) << 40, c, UInt64(y << 16 | x)) & 1 == 0 ? 0 : 255
    case .cuts, .mixed, .motion, .fade:
      var value = texture(Double(x) + Double(n) * 1.75, Double(y) - Double(n) * 0.6, c)
      // Two objects on paths of their own.
      for object in 0..<2 {
        let h = Self.hash(seed, UInt64(object), 7)
        let ox = Int(h % UInt64(width)) + n * (object == 0 ? 3 : -5)
        let oy = Int(h >> 20 % UInt64(height)) + n * (object == 0 ? 2 : 1)
        let dx = (x - ox % width + width) % width
        let dy = (y - oy % height + height) % height
        if dx < 24 && dy < 18 { value = Double((dx * 5 + dy * 9 + object * 80) & 255) }
      }
      if kind == .fade { value *= 0.3 + 0.7 * Double(abs(8 - n % 16)) / 8 }
      return UInt8(max(0, min(255, value)))
    }
  }

  /// Value noise of two sizes.
  private func texture(_ x: Double, _ y: Double, _ c: UInt64) -> Double {
    noise(x / 17, y / 13, c) * 0.7 + noise(x / 3.5, y / 4.5, c + 10) * 0.3
  }

  private func noise(_ x: Double, _ y: Double, _ c: UInt64) -> Double {
    let (x0, y0) = (x.rounded(.down), y.rounded(.down))
    let (fx, fy) = (x - x0, y - y0)
    func corner(_ dx: Int, _ dy: Int) -> Double {
      let i = UInt64(bitPattern: Int64(x0) + Int64(dx))
      let j = UInt64(bitPattern: Int64(y0) + Int64(dy))
      return Double(Self.hash(seed &+ c, i, j) & 255)
    }
    let top = corner(0, 0) * (1 - fx) + corner(1, 0) * fx
    let bottom = corner(0, 1) * (1 - fx) + corner(1, 1) * fx
    return top * (1 - fy) + bottom * fy
  }

  static func hash(_ a: UInt64, _ b: UInt64, _ c: UInt64) -> UInt64 {
    var z = a &* 0x9E37_79B9_7F4A_7C15 &+ b &* 0xC2B2_AE3D_27D4_EB4F &+ c &* 0x1656_67B1_9E37_79F9
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return (z ^ (z >> 31)) >> 8
  }
}
