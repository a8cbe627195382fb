// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

@testable import H264Encoder
@testable import VideoEncoding

/// One stream of the randomised matrix: everything follows from the seed.
struct MatrixStream: CustomStringConvertible {
  let seed: UInt64
  let configuration: H264EncoderConfiguration
  let content: SyntheticContent
  let frames: Int
  let planar: Bool
  let padding: Int
  /// Chance in percent of each frame option.
  let options: Int
  private let random: TestRandom

  /// A description of the failure.
  struct Failure: Error, CustomStringConvertible { var description: String }

  /// The tools that a stream used, to check that the matrix reaches everything.
  struct Coverage {
    var frames = 0
    var dropped = 0
    var intra = 0.0
    var skipped = 0.0
    var weighted = 0
    var comparisons = 0
  }

  /// - Parameters:
  ///   - seed: what everything follows from.
  ///   - is444: whether the stream is 4:4:4, one in eight of them without loss; otherwise 4:2:0.
  init(seed: UInt64, is444: Bool = false) {
    self.seed = seed
    var r = TestRandom(seed)
    let big = r.chance(4)
    // 4:4:4 pictures may have odd sizes.
    let width = 16 + 2 * r.int(0...(big ? 312 : r.chance(50) ? 80 : 24)) + (is444 ? r.int(0...1) : 0)
    let height = 16 + 2 * r.int(0...(big ? 232 : r.chance(50) ? 60 : 20)) + (is444 ? r.int(0...1) : 0)
    var c = H264EncoderConfiguration(width: width, height: height)
    c.profile =
      is444
      ? .high444Predictive
      : ([.constrainedBaseline, .main, .constrainedHigh, .high] as [H264EncoderConfiguration.Profile])
        .randomElement(using: &r)!
    if c.profile != .constrainedBaseline {
      c.entropyCoding = [nil, .cavlc, .cabac].randomElement(using: &r)!
    }
    c.frameRate = [15, 24, 29.97, 30, 60].randomElement(using: &r)!
    if r.chance(70) {
      c.lowLatency.rateControl = .constantQP(
        r.chance(20) ? [0, 1, 2, 50, 51].randomElement(using: &r)! : r.int(0...51))
      c.minimumQP = 0
    } else {
      c.lowLatency.rateControl = .averageBitRate(r.int(20...4000) * 1000)
      c.minimumQP = r.int(0...20)
      c.maximumQP = r.int(30...51)
      c.lowLatency.allowsFrameDropping = r.chance(40)
      if r.chance(30) {
        c.dataRateLimits = [
          .init(bytes: r.int(20...2000) * 100, seconds: [0.2, 0.5, 1].randomElement(using: &r)!)
        ]
      }
    }
    c.effort = r.int(0...H264EncoderConfiguration.maxEffort)
    c.threads = r.chance(50) ? 1 : r.int(2...4)
    let rows = (height + 15) / 16
    if r.chance(40) { c.slices = r.int(1...min(rows, 6)) }
    if r.chance(20) { c.maximumSliceBytes = [100, 150, 400, 1000, 1400].randomElement(using: &r)! }
    c.maximumReferences = r.int(1...4)
    if c.maximumReferences > 1 && r.chance(50) {
      c.lowLatency.longTermReferences = r.int(1...c.maximumReferences - 1)
    }
    c.lowLatency.allowsNonReferenceFrames = r.chance(40)
    c.lowLatency.allowsFrameNumberGaps = r.chance(20)
    c.lowLatency.cascadesQuality = r.chance(75)
    c.allowsTransform8x8 = r.chance(80)
    c.deblocking = r.chance(80)
    if r.chance(40) {
      c.deblockingAlphaOffset = r.int(-6...6)
      c.deblockingBetaOffset = r.int(-6...6)
    }
    c.allowsWeightedPrediction = r.chance(90)
    if r.chance(40) { c.lowLatency.adaptiveQuantisation = Double(r.int(0...20)) / 10 }
    if r.chance(20) { c.lowLatency.intraRefreshPeriod = r.int(1...12) }
    if r.chance(30) { c.keyFrameInterval = r.int(1...8) }
    if r.chance(30) { c.lowLatency.sceneChange = .keyFrame }
    c.writesAccessUnitDelimiters = r.chance(30)
    c.lowLatency.writesTemporalLayerPrefix = r.chance(20)
    c.measuresError = r.chance(30)
    if is444 && r.chance(12) {
      c.isLossless = true
      c.lowLatency.rateControl = .constantQP(0)
      (c.minimumQP, c.maximumQP) = (0, 0)
      c.dataRateLimits = []
      c.deblocking = false
    }
    configuration = c
    content = SyntheticContent(
      kind: SyntheticContent.Kind.allCases.randomElement(using: &r)!, width: width, height: height,
      seed: seed,
      hasFullChroma: is444)
    frames = r.int(2...(big ? 5 : 12))
    planar = r.chance(50)
    padding = r.chance(50) ? 0 : r.int(1...40)
    options = r.chance(50) ? 0 : r.int(5...60)
    random = r
  }

  var description: String {
    let c = configuration
    return
      "seed \(seed): \(c.width)x\(c.height) \(c.profile) \(c.cabac ? "CABAC" : "CAVLC") \(c.lowLatency.rateControl)"
      + " effort \(c.effort) threads \(c.threads) slices \(c.slices) sliceBytes \(c.maximumSliceBytes ?? 0)"
      + " references \(c.maximumReferences) longTerm \(c.lowLatency.longTermReferences)"
      + " nonReference \(c.lowLatency.allowsNonReferenceFrames) refresh \(c.lowLatency.intraRefreshPeriod)"
      + " 8x8 \(c.allowsTransform8x8) deblocking \(c.deblocking) \(c.deblockingAlphaOffset)"
      + " \(c.deblockingBetaOffset) AQ \(c.lowLatency.adaptiveQuantisation) \(content.kind)"
  }

  private func frameOptions(
    _ n: Int, _ r: inout TestRandom, _ encoder: LowLatencyEncoder, _ slots: inout Set<Int>
  )
    -> H264FrameOptions
  {
    var o = H264FrameOptions()
    let c = configuration
    guard options > 0 else { return o }
    o.isKeyFrame = r.chance(options / 8)
    if c.lowLatency.allowsNonReferenceFrames { o.isReference = !r.chance(options) }
    if c.lowLatency.longTermReferences > 0 && o.isReference && r.chance(options) {
      o.longTermSlot = r.int(0...c.lowLatency.longTermReferences - 1)
    }
    switch r.int(0...99) {
    case 0..<options where !slots.isEmpty:
      o.references = .longTerm(Array(slots).sorted().shuffled(using: &r))
    case 0..<options:
      let available = encoder.availableReferences.sorted().shuffled(using: &r)
      o.references = .frames(Array(available.prefix(r.int(1...4))))
    default: break
    }
    if let slot = o.longTermSlot { slots.insert(slot) }
    if r.chance(options / 3) { o.qp = r.int(c.minimumQP...c.maximumQP) }
    if r.chance(options / 5), !c.isLossless { o.targetBits = r.int(100...200_000) }
    if r.chance(options / 4) { o.duration = Double(r.int(1...10)) / 60 }
    o.temporalLayer = o.isReference ? 0 : 1
    return o
  }

  /// Encodes the stream; `receive` gets each frame that was not dropped, with the encoder's
  /// reconstruction.
  func encode(cpu: Int32, _ receive: (_ n: Int, borrowing H264EncodedFrame, PlanarFrame) throws -> Void)
    throws
    -> Coverage
  {
    let encoder = try LowLatencyEncoder(configuration: configuration, cpu: cpu)
    var r = random
    var coverage = Coverage()
    var slots: Set<Int> = []
    for n in 0..<frames {
      // Where much varies, the effort does too.
      if options > 0 && n % 4 == 3 {
        var changed = encoder.configuration
        changed.effort = (configuration.effort + n / 4) % (H264EncoderConfiguration.maxEffort + 1)
        try encoder.reconfigure(changed)
      }
      let picture = content.frame(n)
      let frameOptions = frameOptions(n, &r, encoder, &slots)
      let encoded = try picture.withSource(planar: planar, padding: padding) {
        try encoder.encode($0, options: frameOptions)
      }
      if options > 0 && r.chance(options / 10), encoded.properties.index > 0 {
        encoder.invalidateReferences(from: encoded.properties.index)
      }
      coverage.frames += 1
      if encoded.properties.isDropped {
        guard encoded.byteCount == 0, encoded.data.isEmpty, encoded.nalUnits.isEmpty else {
          throw Failure(description: "\(self) frame \(n): dropped, with bytes")
        }
        coverage.dropped += 1
        continue
      }
      coverage.intra += encoded.properties.intraFraction
      coverage.skipped += encoded.properties.skippedFraction
      coverage.weighted = encoder.weightedPictures
      guard encoded.properties.bits == encoded.byteCount * 8 else {
        throw Failure(
          description: "\(self) frame \(n): \(encoded.properties.bits) bits, \(encoded.byteCount) bytes")
      }
      let reconstruction = encoder.reconstruction(width: configuration.width, height: configuration.height)
      guard let reconstruction else { throw Failure(description: "\(self) frame \(n): no reconstruction") }
      if let measured = encoded.properties.meanSquaredError {
        let luma = picture.y.indices.reduce(0.0) {
          let d = Double(picture.y[$1]) - Double(reconstruction.y[$1])
          return $0 + d * d
        }
        guard abs(measured.luma - luma / Double(picture.y.count)) < 1e-6 * max(1, measured.luma) else {
          throw Failure(
            description: "\(self) frame \(n): MSE \(measured.luma), not \(luma / Double(picture.y.count))")
        }
      }
      if configuration.isLossless, let difference = picture.firstDifference(reconstruction) {
        throw Failure(description: "\(self) frame \(n): not without loss: \(difference)")
      }
      try receive(n, encoded, reconstruction)
    }
    return coverage
  }

  /// Encodes and decodes with each available decoder; every frame must be the reconstruction to
  /// the bit.
  func verify() throws -> Coverage {
    var decoders: [(decoder: ReferenceDecoder, waiting: [(n: Int, frame: PlanarFrame)])] = []
    for kind in ReferenceDecoder.Kind.allCases {
      // OpenH264 decodes 4:2:0 alone.
      if configuration.is444 && kind == .openH264 { continue }
      if let decoder = ReferenceDecoder(kind) { decoders.append((decoder, [])) }
    }
    var comparisons = 0
    func compare(_ i: Int, _ frame: PlanarFrame) throws {
      let kind = decoders[i].decoder.kind
      guard !decoders[i].waiting.isEmpty else {
        throw Failure(description: "\(self) \(kind): a frame too many")
      }
      let (n, expected) = decoders[i].waiting.removeFirst()
      if let difference = expected.firstDifference(frame) {
        throw Failure(description: "\(self) \(kind) frame \(n): \(difference)")
      }
      comparisons += 1
    }
    var units: [[UInt8]] = []
    var coverage = try encode(cpu: ovt_cpu_detect()) { n, encoded, reconstruction in
      try checkUnits(n, encoded)
      let unit = encoded.data
      units.append(unit)
      // libavcodec keeps the reference lists of the last 32 slices: with more, its deblocking may
      // go wrong.
      let slices = encoded.nalUnits.count { [1, 5].contains($0.type) }
      if slices >= 32 { decoders.removeAll { $0.decoder.kind == .libavcodec } }
      for i in decoders.indices {
        decoders[i].waiting.append((n, reconstruction))
        do {
          if let frame = try decoders[i].decoder.decode(unit) { try compare(i, frame) }
        } catch let error as DecodingError {
          throw Failure(description: "\(self) frame \(n): \(error)")
        }
        // No reordering: libavcodec, which reads the VUI, must show each frame at once.
        if decoders[i].decoder.kind == .libavcodec && !decoders[i].waiting.isEmpty {
          throw Failure(description: "\(self) frame \(n): libavcodec holds it back")
        }
      }
    }
    for i in decoders.indices {
      while let frame = try decoders[i].decoder.drain() { try compare(i, frame) }
      if !decoders[i].waiting.isEmpty {
        throw Failure(
          description: "\(self) \(decoders[i].decoder.kind): \(decoders[i].waiting.count) frames missing")
      }
    }
    coverage.comparisons = comparisons
    // The same again, now and then on the plainest CPU path: the stream must not change. With
    // threads it must not depend on their timing.
    if seed % 4 == 0 || configuration.threads > 1 {
      var n = 0
      _ = try encode(cpu: seed % 8 == 0 ? Int32(OVT_CPU_C) : ovt_cpu_detect()) { _, encoded, _ in
        guard n < units.count, encoded.data == units[n] else {
          throw Failure(description: "\(self) frame \(n): another stream the second time")
        }
        n += 1
      }
    }
    return coverage
  }

  private func checkUnits(_ n: Int, _ encoded: borrowing H264EncodedFrame) throws {
    for unit in encoded.nalUnits {
      let bytes = encoded.data(of: unit)
      guard let first = bytes.first, first & 0x80 == 0 else {
        throw Failure(description: "\(self) frame \(n): NAL unit header")
      }
      let type = first & 31
      guard type == unit.type, first >> 5 == unit.refIDC else {
        throw Failure(description: "\(self) frame \(n): NAL unit header")
      }
      // A macroblock has at most 3200 bits, or is sent as 384 samples, at 4:4:4 6272 bits or 768
      // samples; emulation prevention comes on top.
      let least = configuration.is444 ? 1200 : 620
      if let limit = configuration.maximumSliceBytes, type == 1 || type == 5, bytes.count > max(limit, least)
      {
        throw Failure(description: "\(self) frame \(n): a slice of \(bytes.count) bytes")
      }
      let isReference = first >> 5 != 0
      if type == 1 || type == 5, isReference != encoded.properties.isReference {
        throw Failure(description: "\(self) frame \(n): nal_ref_idc")
      }
    }
    if encoded.properties.isKeyFrame != encoded.nalUnits.contains(where: { $0.type == 5 }) {
      throw Failure(description: "\(self) frame \(n): isKeyFrame")
    }
  }
}

extension PlanarFrame {
  /// Says where two frames differ first, or nil.
  func firstDifference(_ other: PlanarFrame) -> String? {
    if width != other.width || height != other.height {
      return "\(other.width)x\(other.height), not \(width)x\(height)"
    }
    for (name, a, b, w) in [
      ("luma", y, other.y, width), ("Cb", u, other.u, chromaWidth), ("Cr", v, other.v, chromaWidth),
    ] where a != b {
      let i = zip(a, b).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
      let count = zip(a, b).reduce(0) { $0 + ($1.0 != $1.1 ? 1 : 0) }
      return "\(name) differs at \(i % w), \(i / w): \(a[i]) in the encoder, \(b[i]); \(count) samples differ"
    }
    return nil
  }

  /// The frame in memory of a program's choosing: planar or interleaved chroma, rows with `padding`
  /// bytes.
  func withSource<R: ~Copyable>(planar: Bool, padding: Int, _ body: (SourcePicture) throws -> R) rethrows -> R
  {
    let stride = width + padding
    var luma = [UInt8](repeating: 0xAA, count: stride * height)
    for row in 0..<height {
      luma.replaceSubrange(row * stride..<row * stride + width, with: y[row * width..<(row + 1) * width])
    }
    let cw = chromaWidth
    let ch = chromaHeight
    if planar {
      let us = cw + padding
      let vs = cw + padding / 2
      var cb = [UInt8](repeating: 0xAA, count: us * ch)
      var cr = [UInt8](repeating: 0xAA, count: vs * ch)
      for row in 0..<ch {
        cb.replaceSubrange(row * us..<row * us + cw, with: u[row * cw..<(row + 1) * cw])
        cr.replaceSubrange(row * vs..<row * vs + cw, with: v[row * cw..<(row + 1) * cw])
      }
      let l = copy(luma)
      let b = copy(cb)
      let r = copy(cr)
      defer {
        l.deallocate()
        b.deallocate()
        r.deallocate()
      }
      return try body(
        SourcePicture(
          width: width, height: height, luma: l, lumaBytesPerRow: stride,
          chroma: .planar(cb: b, cbBytesPerRow: us, cr: r, crBytesPerRow: vs), hasFullChroma: hasFullChroma))
    }
    let pairStride = 2 * cw + padding
    var chroma = [UInt8](repeating: 0xAA, count: pairStride * ch)
    for row in 0..<ch {
      for x in 0..<cw {
        chroma[row * pairStride + 2 * x] = u[row * cw + x]
        chroma[row * pairStride + 2 * x + 1] = v[row * cw + x]
      }
    }
    let l = copy(luma)
    let c = copy(chroma)
    defer {
      l.deallocate()
      c.deallocate()
    }
    return try body(
      SourcePicture(
        width: width, height: height, luma: l, lumaBytesPerRow: stride,
        chroma: .interleaved(c, bytesPerRow: pairStride), hasFullChroma: hasFullChroma))
  }

  /// Swift 6.3 loses the error of a body that is called with a `SourcePicture` made within the
  /// array's `withUnsafeBufferPointer`; hence memory of its own.
  private func copy(_ plane: [UInt8]) -> UnsafePointer<UInt8> {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(plane.count, 1))
    memory.initialize(from: plane, count: plane.count)
    return UnsafePointer(memory)
  }
}

extension LowLatencyEncoder {
  /// The visible part of the last picture as a decoder shows it.
  func reconstruction(width: Int, height: Int) -> PlanarFrame? {
    if configuration.is444 {
      return withReconstructedComponents { y, cb, cr, bytesPerRow in
        func plane(_ base: UnsafePointer<UInt8>) -> [UInt8] {
          (0..<height).flatMap { UnsafeBufferPointer(start: base + $0 * bytesPerRow, count: width) }
        }
        return PlanarFrame(
          width: width, height: height, y: plane(y), u: plane(cb), v: plane(cr), hasFullChroma: true)
      }
    }
    return withReconstruction { luma, chroma, bytesPerRow in
      var frame = PlanarFrame(width: width, height: height, y: [], u: [], v: [])
      frame.y.reserveCapacity(width * height)
      for row in 0..<height {
        frame.y.append(contentsOf: UnsafeBufferPointer(start: luma + row * bytesPerRow, count: width))
      }
      for row in 0..<height / 2 {
        for x in 0..<width / 2 {
          frame.u.append(chroma[row * bytesPerRow + 2 * x])
          frame.v.append(chroma[row * bytesPerRow + 2 * x + 1])
        }
      }
      return frame
    }
  }
}
