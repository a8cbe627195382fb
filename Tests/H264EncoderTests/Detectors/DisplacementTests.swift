// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Windows that move, letters that come back.
@Suite struct DisplacementTests {
  private static let width = 320
  private static let height = 240

  /// Print on a plain ground, in a window at (x, y) over a texture. `letters`: of how many the
  /// print is made.
  private static func desktop(
    x wx: Int, y wy: Int, seed: UInt64 = 1, letters: UInt64 = 1 << 40, lines: Int = 12
  ) -> PlanarFrame {
    var frame = PlanarFrame(
      width: width, height: height, y: [UInt8](repeating: 0, count: width * height),
      u: [UInt8](repeating: 128, count: width * height / 4),
      v: [UInt8](repeating: 128, count: width * height / 4))
    for y in 0..<height {
      for x in 0..<width {
        var value = UInt8(90 + (x / 8 + y / 8) % 5 * 4)
        let (px, py) = (x - wx, y - wy)
        if px >= 0, py >= 0, px < 160, py < 13 * 12 {
          value = 230
          let (column, line) = (px / 9, py / 13)
          let cell = SyntheticContent.hash(seed, UInt64(column), UInt64(line))
          if line < lines, cell % 5 > 0, px % 9 < 7, py % 13 < 10 {
            let glyph = SyntheticContent.hash(77, cell % letters, 5)
            if glyph >> UInt64(px % 9 / 2 + py % 13 / 2 * 4) & 1 == 1 { value = 25 }
          }
        }
        frame.y[y * width + x] = value
      }
    }
    return frame
  }

  private static func displacements(_ frames: [PlanarFrame], refersToLast: Bool = true) -> Displacements {
    var memory = EncoderMemory()
    let detector = DisplacementDetector(PictureGeometry(width: width, height: height), memory: &memory)
    var displacements = Displacements()
    for (i, frame) in frames.enumerated() {
      displacements = frame.withSource(planar: true, padding: 16) {
        detector.displacements($0, index: UInt64(i), refersToLast: refersToLast, limit: 200)
      }
    }
    withExtendedLifetime(memory) {}
    return displacements
  }

  @Test(
    "A window that was moved is found, by any distance",
    arguments: [(37, 0), (0, -21), (-41, 33), (55, 48), (1, 0)])
  func aWindowThatWasMovedIsFound(by: (x: Int, y: Int)) {
    let displacements = Self.displacements([
      Self.desktop(x: 60, y: 40), Self.desktop(x: 60 + by.x, y: 40 + by.y),
    ])
    #expect(displacements.isScreen)
    #expect(displacements.count > 0)
    // From where it came.
    if displacements.count > 0 {
      #expect(displacements[0] == SIMD2(Int16(-by.x * 4), Int16(-by.y * 4)))
    }
  }

  @Test("Nothing is taken for moved that was not")
  func nothingIsTakenForMovedThatWasNot() {
    let page = Self.desktop(x: 60, y: 40)
    #expect(Self.displacements([page, page]).count == 0)
    #expect(Self.displacements([page, Self.desktop(x: 60, y: 40, seed: 2)]).count == 0)
    // Vectors would be of the last picture, which is not referred to.
    #expect(Self.displacements([page, Self.desktop(x: 90, y: 40)], refersToLast: false).count == 0)
    for kind in [SyntheticContent.Kind.motion, .noise, .frozenNoise, .extremes] {
      let content = SyntheticContent(kind: kind, width: Self.width, height: Self.height, seed: 3)
      let displacements = Self.displacements([content.frame(0), content.frame(1), content.frame(2)])
      #expect(displacements.count == 0 && !displacements.isScreen && displacements.repeats == nil, "\(kind)")
    }
  }

  /// Noise below a ground that is flat, as over- and underexposed parts before a camera are, for
  /// `share` of the height.
  private static func exposed(_ seed: UInt64, share: Double) -> PlanarFrame {
    var frame = desktop(x: 1000, y: 1000)
    for i in 0..<width * height {
      // The flat part flickers by a level, as a whole.
      let isFlat = i / width < Int(Double(height) * share)
      frame.y[i] =
        isFlat ? UInt8(16 + seed % 2) : UInt8(truncatingIfNeeded: SyntheticContent.hash(seed, UInt64(i), 3))
    }
    return frame
  }

  @Test("Where everything changes, a third that is flat makes no screen; where half is static it does")
  func aFlatThirdMakesNoScreenAndAStillHalfDoes() {
    #expect(!Self.displacements((0..<3).map { Self.exposed(UInt64($0), share: 0.4) }).isScreen)
    #expect(Self.displacements((0..<3).map { Self.exposed(UInt64($0), share: 0.7) }).isScreen)
    // A movie in a window: noise and a flat border change, the rest is static.
    let page = Self.desktop(x: 60, y: 40)
    let screen = (0..<3).map { n in
      var frame = page
      let noise = Self.exposed(UInt64(n), share: 0.1)
      for y in 0..<Self.height / 3 {
        frame.y.replaceSubrange(
          y * Self.width..<(y + 1) * Self.width, with: noise.y[y * Self.width..<(y + 1) * Self.width])
      }
      return frame
    }
    #expect(Self.displacements(screen).isScreen)
  }

  @Test("A window that moves over a picture full of detail is a screen's")
  func aWindowThatMovesOverAPictureFullOfDetailIsAScreens() {
    let pictures = (0..<10).map { n in
      var frame = Self.exposed(1, share: 0)
      let window = Self.desktop(x: 20 + 8 * n, y: 40)
      for y in 40..<190 {
        let row = y * Self.width + 20 + 8 * n
        frame.y.replaceSubrange(row..<row + 160, with: window.y[row..<row + 160])
      }
      return frame
    }
    #expect(Self.displacements(pictures).isScreen)
    #expect(!Self.displacements((0..<10).map { Self.exposed(UInt64($0), share: 0) }).isScreen)
  }

  @Test("After many pictures of a camera a screen is recognised within 18 pictures")
  func aScreenIsRecognisedSoonAfterACamera() {
    let camera = (0..<40).map { Self.exposed(UInt64($0), share: 0) }
    let pages = (0..<18).map { Self.desktop(x: 60 + 7 * $0, y: 40) }
    #expect(!Self.displacements(camera).isScreen)
    #expect(Self.displacements(camera + pages).isScreen)
  }

  private static func encoder(_ effort: Int, threads: Int = 1) throws -> LowLatencyEncoder {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.lowLatency.rateControl = .constantQP(28)
    c.effort = effort
    c.threads = threads
    c.profile = .high
    return try LowLatencyEncoder(configuration: c)
  }

  private static func bits(_ encoder: LowLatencyEncoder, _ frame: PlanarFrame) throws -> Int {
    try frame.withSource(planar: false, padding: 0) { try encoder.encode($0).properties.bits }
  }

  @Test("A window that was moved takes vectors", arguments: [2, 1])
  func aWindowThatWasMovedTakesVectors(effort: Int) throws {
    let encoder = try Self.encoder(effort)
    let first = try Self.bits(encoder, Self.desktop(x: 60, y: 40))
    let second = try Self.bits(encoder, Self.desktop(x: 109, y: 71))
    #expect(Double(second) < Double(first) * 0.35, "\(second) bits after \(first)")
  }

  @Test("Print of letters that were there takes less than print of new ones", arguments: [2, 1])
  func printOfLettersThatWereThereTakesLessThanPrintOfNewOnes(effort: Int) throws {
    func second(letters: UInt64) throws -> Int {
      let encoder = try Self.encoder(effort)
      // Enough pictures that all of the first lines are taken down, each with a change.
      for n in 0..<12 {
        _ = try Self.bits(
          encoder, Self.desktop(x: 64 + n % 2, y: 40, seed: 9, letters: letters, lines: 8))
      }
      return try Self.bits(encoder, Self.desktop(x: 65, y: 40, seed: 9, letters: letters, lines: 12))
    }
    let (known, new) = (try second(letters: 3), try second(letters: 1 << 40))
    #expect(Double(known) < Double(new) * 0.75, "\(known) bits, \(new) of letters that are new")
  }

  @Test("Any number of threads gives the same stream, which decoders agree on", arguments: [4, 2, 1])
  func anyNumberOfThreadsGivesTheSameStream(effort: Int) throws {
    let content = SyntheticContent(kind: .windows, width: Self.width, height: Self.height, seed: 5)
    let decoders = ReferenceDecoder.Kind.allCases.compactMap { ReferenceDecoder($0) }
    // A decoder may give a frame later.
    var waiting = decoders.map { _ in [PlanarFrame]() }
    func stream(_ threads: Int) throws -> [[UInt8]] {
      let encoder = try Self.encoder(effort, threads: threads)
      return try (0..<8).map { n in
        let unit = try content.frame(n).withSource(planar: false, padding: 0) { try encoder.encode($0).data }
        let expected = try #require(encoder.reconstruction(width: Self.width, height: Self.height))
        for i in threads == 1 ? decoders.indices : 0..<0 {
          waiting[i].append(expected)
          if let frame = try decoders[i].decode(unit) {
            #expect(frame == waiting[i].removeFirst(), "\(decoders[i].kind), frame \(n)")
          }
        }
        return unit
      }
    }
    let one = try stream(1)
    for i in decoders.indices {
      while let frame = try decoders[i].drain(), !waiting[i].isEmpty {
        #expect(frame == waiting[i].removeFirst(), "\(decoders[i].kind)")
      }
      #expect(waiting[i].isEmpty)
    }
    #expect(try stream(2) == one)
    #expect(try stream(3) == one)
  }
}
