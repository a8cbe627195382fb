// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HEVCEncoder

/// Numbers at the ends of their types, and such as are none, in every setting, picture and option:
/// each is refused, or the encoder codes with it what a decoder shows.
@Suite("Extreme settings, pictures and options")
struct ExtremeSettingsTests {
  /// Codes pictures, and compares those of the low-latency mode with the reconstruction, and the
  /// number of the others with what comes out.
  /// - Returns: the numbers of the frames, dropped ones included.
  private static func code(
    _ encoder: HEVCEncoder, frames: Range<Int> = 0..<6, decodes: Bool = true,
    _ name: @autoclosure () -> String, options: (Int) -> HEVCFrameOptions = { _ in .init() }
  ) throws -> [UInt64] {
    let configuration = encoder.configuration
    let content = Content(
      kind: .pan, width: configuration.width, height: configuration.height, seed: 2,
      depth: frames.upperBound % 2 == 0 ? 8 : 10)
    let isStartCode = configuration.framing == .startCodes
    // libavcodec complains of a ratio with 0, which means that it is not known (E.3.1).
    let hasRatio = configuration.sampleAspectRatio.map { $0.width > 0 && $0.height > 0 } ?? true
    let decoder = decodes && isStartCode && hasRatio ? ReferenceDecoder() : nil
    let isWhole =
      configuration.visibleWidth ?? configuration.width == configuration.width
      && configuration.visibleHeight ?? configuration.height == configuration.height
    let isLowLatency = if case .zero = configuration.latency { true } else { false }
    var numbers: [UInt64] = []
    var (units, shown) = (0, 0)
    func take(_ frame: consuming HEVCEncodedFrame) throws {
      numbers.append(frame.properties.index)
      #expect(frame.properties.encodeTime.isFinite && frame.properties.bits == frame.byteCount * 8)
      if frame.properties.isDropped { return }
      units += 1
      guard let decoder else { return }
      let decoded = try decoder.decode(frame.data)
      if decoded != nil { shown += 1 }
      if isLowLatency, isWhole {
        #expect(decoded == RandomStreamTests.reconstruction(encoder), "\(name())")
      }
    }
    var failure: (any Error)?
    func keep(_ frame: consuming HEVCEncodedFrame) {
      do { try take(frame) } catch { failure = error }
    }
    for n in frames {
      _ = try content.withSource(n) { try encoder.encode($0, options: options(n), output: keep) }
    }
    encoder.flush(output: keep)
    if let failure { throw failure }
    while let decoder, try decoder.drain() != nil { shown += 1 }
    if decoder != nil { #expect(shown == units, "\(name())") }
    return numbers.sorted()
  }

  private static func numbers(_ range: Range<Int>) -> [UInt64] { range.map { UInt64($0) } }

  @Test(
    "A setting at its end is refused, or coded with; from the beginning and in mid-stream",
    arguments: [false, true])
  func eachSetting(looksAhead: Bool) throws {
    let all = ExtremeSettings.all(looksAhead: looksAhead)
    var refused = 0
    for (n, setting) in all.enumerated() {
      let usual = ExtremeSettings.usual(looksAhead: looksAhead, threads: n % 3 + 1)
      var changed = usual
      setting.change(&changed)
      do {
        let encoder = try HEVCEncoder(configuration: changed)
        encoder.begin(at: ExtremeSettings.doubles[n % ExtremeSettings.doubles.count])
        #expect(try Self.code(encoder, setting.name) == Self.numbers(0..<6), "\(setting.name)")
      } catch is HEVCEncoderError {
        refused += 1
      }
      let encoder = try HEVCEncoder(configuration: usual)
      _ = try Self.code(encoder, frames: 0..<2, decodes: false, setting.name)
      try? encoder.reconfigure(changed)
      let later = try Self.code(encoder, frames: 2..<4, decodes: false, setting.name)
      #expect(later == Self.numbers(2..<4), "\(setting.name)")
    }
    #expect(refused > all.count / 4 && refused < all.count * 4 / 5, "\(refused) of \(all.count)")
  }

  @Test("Sizes that are none are refused", arguments: [false, true])
  func sizes(looksAhead: Bool) throws {
    var coded = 0
    for width in ExtremeSettings.sides {
      for height in ExtremeSettings.sides {
        var configuration = ExtremeSettings.usual(looksAhead: looksAhead, threads: 1)
        (configuration.width, configuration.height) = (width, height)
        do {
          let encoder = try HEVCEncoder(configuration: configuration)
          #expect(width >= 8 && height >= 8 && width % 2 == 0 && height % 2 == 0)
          let name = "\(width)x\(height)"
          #expect(try Self.code(encoder, frames: 0..<2, name) == Self.numbers(0..<2), "\(name)")
          coded += 1
        } catch is HEVCEncoderError {}
      }
    }
    // 8, 10, 16, 34, 52, 66
    #expect(coded == 36)
  }

  @Test("Two settings at their ends at a time", arguments: 0..<8)
  func combinations(part: Int) throws {
    var g = SeededGenerator(seed: UInt64(part) &+ 0xE72)
    let looksAhead = part % 2 == 1
    let all = ExtremeSettings.all(looksAhead: looksAhead)
    var coded = 0
    for _ in 0..<150 {
      var configuration = ExtremeSettings.usual(
        looksAhead: looksAhead, threads: Int.random(in: 1...3, using: &g))
      let picked = (0..<2).compactMap { _ in all.randomElement(using: &g) }
      for setting in picked { setting.change(&configuration) }
      guard let encoder = try? HEVCEncoder(configuration: configuration) else { continue }
      coded += 1
      let name = picked.map(\.name).joined(separator: ", ")
      encoder.keepsStatistics = true
      #expect(try Self.code(encoder, name) == Self.numbers(0..<6), "\(name)")
      guard looksAhead else { continue }
      // What was learnt is good for another pass, and for one at any other setting.
      let known = try PassStatistics(bytes: encoder.statistics.bytes)
      all.randomElement(using: &g)?.change(&configuration)
      guard let second = try? HEVCEncoder(configuration: configuration, pass: known) else { continue }
      #expect(try Self.code(second, name) == Self.numbers(0..<6), "\(name)")
    }
    #expect(coded > 10)
  }

  @Test("Options at their ends are refused, or the frame is coded", arguments: [false, true])
  func options(looksAhead: Bool) throws {
    for seed in UInt64(0)..<12 {
      var g = SeededGenerator(seed: seed &+ 71)
      var configuration = ExtremeSettings.usual(looksAhead: looksAhead, threads: Int(seed % 3) + 1)
      if looksAhead {
        configuration.lookAhead.rate = seed % 2 == 0 ? .average(100_000) : .quality(30)
        if seed % 3 == 0 { configuration.lookAhead.buffer = .init(maximumRate: 120_000, size: 60_000) }
        if seed % 6 == 0 { configuration.lookAhead.writesBufferTiming = true }
        configuration.lookAhead.keyFrameDuration = [nil, 1, 1e300][Int(seed % 3)]
      } else {
        configuration.lowLatency.rateControl = seed % 2 == 0 ? .averageBitRate(100_000) : .constantQP(30)
        configuration.lowLatency.allowsFrameDropping = seed % 3 == 0
        configuration.lowLatency.allowsNonReferenceFrames = seed % 3 == 1
        configuration.lowLatency.longTermReferences = Int(seed % 3)
        configuration.lowLatency.temporalLayers = Int(seed % 4) + 1
        configuration.lowLatency.intraRefreshPeriod = Int(seed % 5)
        if seed % 4 == 0 { configuration.dataRateLimits = [.init(bytes: 1, seconds: 60)] }
      }
      let encoder = try HEVCEncoder(configuration: configuration)
      let content = Content(
        kind: .blocks, width: ExtremeSettings.width, height: ExtremeSettings.height, seed: seed)
      var (accepted, out, refused) = (0, 0, 0)
      for n in 0..<60 {
        var options = HEVCFrameOptions()
        func maybe(_ set: () -> Void) { if Int.random(in: 0..<5, using: &g) == 0 { set() } }
        let (int, double) = (
          ExtremeSettings.ints.randomElement(using: &g), ExtremeSettings.doubles.randomElement(using: &g)
        )
        maybe { options.isKeyFrame = true }
        maybe { options.isReference = false }
        maybe { options.qp = int }
        maybe { options.targetBits = int }
        maybe { options.longTermSlot = int }
        maybe { options.temporalLayer = int ?? 0 }
        maybe { options.duration = double }
        maybe { options.budgetShare = double ?? 1 }
        maybe { options.startsIntraRefresh = true }
        maybe { options.references = .frames([.max, UInt64(n), 0, UInt64(max(n - 1, 0)), 0]) }
        maybe { options.references = .longTerm([.min, int ?? 0, 0, 0, .max]) }
        maybe { encoder.invalidateReferences(from: UInt64((n &- 1) & 15) &* (int == .max ? .max : 1)) }
        // Errors are caught within the closure: thrown through `withPicture` they damage the stack
        // (docs/architecture.md).
        let isAccepted = content.withPicture(n) { picture in
          (try? encoder.encode(picture, options: options) { _ in out += 1 }) != nil
        }
        if isAccepted ?? false { accepted += 1 } else { refused += 1 }
      }
      encoder.flush { _ in out += 1 }
      #expect(out == accepted && accepted > 0 && refused > 0, "seed \(seed)")
      // What was refused has left nothing behind.
      let first = accepted + accepted % 2
      let next = try Self.code(encoder, frames: first..<first + 4, decodes: false, "seed \(seed)") { n in
        var options = HEVCFrameOptions()
        options.isKeyFrame = n == first
        return options
      }
      #expect(next == Self.numbers(accepted..<accepted + 4), "seed \(seed)")
    }
  }

  @Test("Pictures whose size or strides do not fit are refused", arguments: [false, true], [8, 10])
  func pictures(looksAhead: Bool, depth: Int) throws {
    var configuration = ExtremeSettings.usual(looksAhead: looksAhead, threads: 1)
    if depth == 10 { configuration.profile = .main10 }
    let encoder = try HEVCEncoder(configuration: configuration)
    let (width, height) = (ExtremeSettings.width, ExtremeSettings.height)
    // None of them may be read.
    let bytes = [UInt8](repeating: 0, count: 16)
    var (count, refused) = (0, 0)
    for value in ExtremeSettings.ints + [width - 1, width / 2 - 1, 2 * width - 1]
    where value < width || value > 1 << 31 {
      let strange: [[Int]] = [
        [value, height, width, width, width], [width, value, width, width, width],
        [width, height, value, width, width], [width, height, width, min(value, width / 2 - 1), width],
        [width, height, width, width, value < width / 2 ? value : -1],
      ]
      for v in strange {
        try bytes.withUnsafeBytes { raw in
          let base = try #require(raw.baseAddress)
          let samples = base.assumingMemoryBound(to: UInt8.self)
          var sources: [HEVCSource] = [
            .eightBits(
              SourcePicture(
                width: v[0], height: v[1], luma: samples, lumaBytesPerRow: v[2],
                chroma: .planar(cb: samples, cbBytesPerRow: v[3], cr: samples, crBytesPerRow: v[4]))),
            .tenBits(
              TenBitPicture(
                width: v[0], height: v[1], alignment: .upper, luma: base,
                lumaBytesPerRow: v[2] == width ? 2 * width : v[2],
                chroma: .planar(
                  cb: base, cbBytesPerRow: v[3] == width ? width : v[3], cr: base,
                  crBytesPerRow: v[4] == width ? width : v[4]))),
          ]
          if v[3] != width || v[2] != width {
            sources.append(
              .eightBits(
                SourcePicture(
                  width: v[0], height: v[1], luma: samples, lumaBytesPerRow: v[2],
                  chroma: .interleaved(samples, bytesPerRow: v[3]))))
          }
          for source in sources {
            count += 1
            do { try encoder.encode(source) { _ in } } catch is HEVCEncoderError { refused += 1 }
          }
        }
      }
    }
    #expect(refused == count)
    #expect(try Self.code(encoder, frames: 0..<4, "after refusals") == Self.numbers(0..<4))
  }
}
