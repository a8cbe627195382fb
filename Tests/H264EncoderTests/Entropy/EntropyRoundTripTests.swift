// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@testable import H264Encoder
@testable import VideoEncoding

/// Memory for one payload and one access unit.
private final class Buffers {
  let payload: UnsafeMutablePointer<UInt8>
  let unit: UnsafeMutablePointer<UInt8>
  static let capacity = 1 << 20

  init() {
    payload = .allocate(capacity: Self.capacity)
    unit = .allocate(capacity: 2 * Self.capacity)
    payload.initialize(repeating: 0xA5, count: Self.capacity)
    unit.initialize(repeating: 0xA5, count: 2 * Self.capacity)
  }

  deinit {
    payload.deallocate()
    unit.deallocate()
  }
}

/// One random stream: parameter sets, an IDR picture and some P pictures.
struct RandomStream {
  var seed: UInt64
  var cabac: Bool
  var profile: H264Profile
  var widthInMbs = 4
  var heightInMbs = 3
  var pictures = 4
  /// Slices after the first picture are B slices as well as P.
  var bidirectional = false

  struct Mismatch: Error, CustomStringConvertible { var description: String }

  /// Writes each picture, parses it and compares; hands each access unit to `receive`.
  func run(_ receive: ([UInt8]) throws -> Void) throws {
    var random = TestRandom(seed)
    let buffers = Buffers()
    let picture = SyntaxPicture(widthInMbs: widthInMbs, heightInMbs: heightInMbs)
    var sps = H264SequenceParameterSet(
      profile: profile, level: H264Level.numbered(40)!, width: widthInMbs * 16 - 2 * random.int(0...7),
      height: heightInMbs * 16 - 2 * random.int(0...7))
    sps.maxReferenceFrames = random.int(1...4)
    sps.log2MaxFrameNum = random.int(4...16)
    sps.pictureOrderCountType = bidirectional || random.chance(50) ? 0 : 2
    sps.vui = H264VideoUsability()
    sps.vui?.restriction = .init()
    sps.vui?.restriction?.maxDecFrameBuffering = sps.maxReferenceFrames
    var pps = H264PictureParameterSet()
    pps.cabac = cabac
    pps.initialQP = random.int(0...51)
    pps.chromaQPOffset = random.int(-12...12)
    pps.high = .init(
      transform8x8: profile.allowsTransform8x8 && random.chance(80), secondChromaQPOffset: pps.chromaQPOffset)
    if !pps.transform8x8 { pps.high = nil }
    pps.constrainedIntraPrediction = random.chance(30)
    pps.defaultActiveReferences = random.int(1...2)
    pps.deblockingControlPresent = random.chance(50)

    var memory = EncoderMemory()
    let cabacWriter = CABACWriter(picture: picture.syntax, memory: &memory)
    let cavlcWriter = CAVLCWriter(picture: picture.syntax)

    for number in 0..<pictures {
      var unit = NALUnitWriter(buffers.unit, capacity: 2 * Buffers.capacity)
      if number == 0 {
        var bits = BitWriter(buffers.payload, capacity: Buffers.capacity)
        sps.write(to: &bits)
        unit.append(
          type: .sequenceParameterSet, refIDC: 3, payload: buffers.payload,
          count: bits.bitCount / 8, framing: .startCode)
        bits = BitWriter(buffers.payload, capacity: Buffers.capacity)
        pps.write(to: &bits)
        unit.append(
          type: .pictureParameterSet, refIDC: 3, payload: buffers.payload,
          count: bits.bitCount / 8, framing: .startCode)
      }
      let isP = number > 0
      var generator = SyntaxGenerator(
        random: TestRandom(seed &* 31 &+ UInt64(number)), slice: SliceParameters(), cabac: cabac)
      generator.skips = [0, 20, 90].randomElement(using: &random)!
      generator.pcms = [0, 3, 30].randomElement(using: &random)!
      generator.intra = [0, 30, 100].randomElement(using: &random)!
      generator.coded = [10, 50, 90].randomElement(using: &random)!
      generator.density = [5, 30, 90].randomElement(using: &random)!
      if cabac || profile.allowsLongLevels { generator.largest = random.chance(20) ? 20000 : 2063 }
      generator.largestDifference = random.chance(10) ? 8000 : 60

      let count = widthInMbs * heightInMbs
      var parsed = [ParsedMacroblock](repeating: ParsedMacroblock(), count: count)
      var first = 0
      var sliceNumber = 0
      while first < count {
        let end = random.chance(50) ? count : random.int(first + 1...count)
        var header = H264SliceHeader()
        header.firstMacroblock = first
        header.kind = isP && random.chance(90) ? .p : .i
        if header.kind == .p && bidirectional && random.chance(80) { header.kind = .b }
        let isB = header.kind == .b
        header.usesSpatialDirect = isB && random.chance(50)
        header.isOnlyKind = false
        header.frameNum = number % (1 << sps.log2MaxFrameNum)
        header.isIDR = !isP
        header.refIDC = 2
        header.pictureOrderCountLSB = number * 2
        header.activeReferences = random.int(1...min(max(number, 1), sps.maxReferenceFrames))
        header.activeReferencesL1 =
          isB ? random.int(1...min(max(number, 1), sps.maxReferenceFrames)) : 1
        header.qp = random.int(0...51)
        header.cabacInitIDC = random.int(0...2)
        generator.slice = SliceParameters(
          isP: header.isP, isB: isB, activeReferences: header.activeReferences,
          activeReferencesL1: header.activeReferencesL1, transform8x8Mode: pps.transform8x8,
          constrainedIntraPrediction: pps.constrainedIntraPrediction, qp: header.qp,
          cabacInitIDC: header.isP || isB ? header.cabacInitIDC : 0)

        var bits = BitWriter(buffers.payload, capacity: Buffers.capacity)
        header.write(to: &bits, sps: sps, pps: pps)
        let dataBit = bits.bitCount
        let size =
          cabac
          ? encode(cabacWriter, picture, &generator, bits, first..<end, sliceNumber, &random)
          : encode(cavlcWriter, picture, &generator, bits, first..<end, sliceNumber, &random)
        guard let size else { throw Mismatch(description: "overflow") }
        let range = unit.append(
          type: isP ? .slice : .idrSlice, refIDC: 2, payload: buffers.payload,
          count: size, framing: sliceNumber == 0 ? .startCode : .shortStartCode)
        guard let range else { throw Mismatch(description: "NAL unit did not fit") }

        let payload = rawPayload(
          Array(UnsafeBufferPointer(start: buffers.unit + range.lowerBound, count: range.count))[...])
        let parser = SliceParser(
          payload: payload, dataBit: dataBit, first: first, width: widthInMbs, slice: generator.slice,
          cabac: cabac, sliceNumber: sliceNumber, mbs: parsed)
        let location = "seed \(seed) picture \(number) slice \(sliceNumber)"
        do {
          let parsedEnd = try parser.parse()
          guard parsedEnd == end else {
            throw Mismatch(description: "\(location): ends at \(parsedEnd), not \(end)")
          }
        } catch let error as ParseError {
          throw Mismatch(description: "\(location): \(error.what) at macroblock \(parser.m)")
        }
        if cabac && (parser.reader.position + 7) / 8 != payload.count {
          throw Mismatch(
            description: "\(location): \(payload.count) bytes, read \(parser.reader.position) bits")
        }
        parsed = parser.mbs
        for m in first..<end { try compare(picture, m, parsed[m], "\(location) macroblock \(m)") }
        first = end
        sliceNumber += 1
      }
      try receive(Array(UnsafeBufferPointer(start: buffers.unit, count: unit.count)))
    }
  }

  /// Writes a slice; now and then takes a macroblock back and writes another in its place.
  private func encode<Writer: EntropyCoder>(
    _ source: Writer, _ picture: SyntaxPicture, _ generator: inout SyntaxGenerator, _ bits: BitWriter,
    _ range: Range<Int>, _ number: Int, _ random: inout TestRandom
  ) -> Int? {
    var writer = source
    writer.begin(generator.slice, picture: picture.syntax, after: bits)
    for m in range {
      let passes = random.chance(25) ? 2 : 1
      for pass in 1...passes {
        generator.fill(picture, m, slice: number, first: range.lowerBound)
        if pass < passes { writer.save() }
        let before = writer.bitCount
        writer.encode(
          macroblock: m, levels: picture.levelsWithRubbish(m), pcm: picture.pcm + m * 384)
        if pass < passes {
          writer.restore()
          if writer.bitCount != before { return nil }
        }
      }
    }
    let size = writer.finish()
    return writer.overflowed ? nil : size
  }

  private func compare(_ picture: SyntaxPicture, _ m: Int, _ parsed: ParsedMacroblock, _ location: String)
    throws
  {
    let mb = picture.syntax.info[m]
    func check(_ equal: Bool, _ what: String) throws {
      if !equal { throw Mismatch(description: "\(location): \(what) (type \(mb.type))") }
    }
    try check(parsed.type == mb.type, "mb_type \(parsed.type)")
    try check(parsed.qp == Int(mb.qp), "QP \(parsed.qp), not \(mb.qp)")
    try check(parsed.transform8x8 == Int(mb.transform8x8), "transform_size_8x8_flag")
    try check(parsed.pattern == Int(mb.codedBlockPattern), "coded_block_pattern")
    if mb.type == MacroblockType.skip { return }
    if mb.type == MacroblockType.pcm {
      try check(
        parsed.pcm == Array(UnsafeBufferPointer(start: picture.pcm + m * 384, count: 384)), "PCM samples")
      return
    }
    if parsed.isIntra {
      try check(parsed.chromaMode == Int(mb.intraChromaMode), "intra_chroma_pred_mode")
      if mb.type == MacroblockType.intra16x16 {
        try check(parsed.intra16x16Mode == Int(mb.intra16x16Mode), "Intra16x16PredMode")
      }
      for i in 0..<16 {
        try check(parsed.modes[i] == Int(picture.syntax.intraModes[m * 16 + i]), "intra mode")
      }
    } else {
      if mb.type == MacroblockType.inter8x8 {
        for i in 0..<4 { try check(parsed.sub[i] == Int(mb.subMacroblockType(i)), "sub_mb_type") }
      }
      for i in 0..<4 {
        let isDirect = mb.directBlocks >> UInt8(i) & 1 != 0
        try check(parsed.direct[i] == isDirect, "direct")
        if isDirect { continue }
        try check(parsed.references[i] == Int(picture.syntax.referenceIndex[m * 4 + i]), "ref_idx")
        try check(parsed.referencesL1[i] == Int(picture.syntax.referenceIndexL1[m * 4 + i]), "ref_idx_l1")
      }
      for i in 0..<16 {
        let difference = picture.syntax.motionDifference[m * 16 + i]
        try check(parsed.mvdX[i] == Int(difference.x) && parsed.mvdY[i] == Int(difference.y), "mvd")
        let second = picture.syntax.motionDifferenceL1[m * 16 + i]
        try check(parsed.mvdXL1[i] == Int(second.x) && parsed.mvdYL1[i] == Int(second.y), "mvd_l1")
      }
    }
    for i in 0..<LevelLayout.count {
      try check(
        parsed.levels[i] == Int(picture.levels[m * LevelLayout.count + i]),
        "level \(i): \(parsed.levels[i]), not \(picture.levels[m * LevelLayout.count + i])")
    }
  }
}

@Suite struct EntropyRoundTripTests {
  static let configurations: [(cabac: Bool, profile: H264Profile)] = [
    (false, .constrainedBaseline), (false, .main), (false, .high), (true, .main), (true, .high),
  ]

  @Test("An independent parser reads back what the writers wrote", arguments: 0..<configurations.count)
  func anIndependentParserReadsBackWhatTheWritersWrote(index: Int) throws {
    let (cabac, profile) = Self.configurations[index]
    for seed in 0..<60 {
      var stream = RandomStream(seed: UInt64(seed * 10 + index), cabac: cabac, profile: profile)
      stream.widthInMbs = 1 + seed % 5
      stream.heightInMbs = 1 + seed / 5 % 4
      stream.bidirectional = profile != .constrainedBaseline && seed % 2 == 1
      #expect(throws: Never.self) { try stream.run { _ in } }
    }
  }

  @Test("libavcodec decodes random syntax without complaint", arguments: 0..<configurations.count)
  func libavcodecDecodesRandomSyntaxWithoutComplaint(index: Int) throws {
    let (cabac, profile) = Self.configurations[index]
    for seed in 0..<40 {
      let decoder = try #require(ReferenceDecoder(.libavcodec))
      var stream = RandomStream(seed: UInt64(seed * 10 + index + 5000), cabac: cabac, profile: profile)
      stream.widthInMbs = 2 + seed % 5
      stream.heightInMbs = 2 + seed / 5 % 4
      stream.bidirectional = profile != .constrainedBaseline && seed % 2 == 1
      var frames = 0
      #expect(throws: Never.self) {
        try stream.run {
          do { if try decoder.decode($0) != nil { frames += 1 } } catch {
            throw RandomStream.Mismatch(description: "seed \(stream.seed) frame \(frames): \(error)")
          }
        }
        while try decoder.drain() != nil { frames += 1 }
      }
      #expect(frames == stream.pictures)
    }
  }
}
