// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@testable import HEVCEncoder

@Suite("Streams with a look-ahead decode to the reconstruction")
struct LookAheadStreamTests {
  /// What an encoding gave: frames in decoding order.
  struct Encoding {
    struct Frame {
      var properties: HEVCFrameProperties
      var types: [UInt8]
      var data: [UInt8]
      var reconstruction: PlanarFrame?
    }

    var frames: [Frame] = []
    /// The number of pictures with weights.
    var weightedPictures = 0
    /// The number of frames by which a frame is output late.
    var depth = 0
    /// The bits by which the buffer misses what joined streams agree upon.
    var bufferMiss = 0.0

    /// Encodes pictures.
    /// - Parameters:
    ///   - from: the number of the content's picture that is the first one.
    ///   - options: the options of a picture.
    ///   - completes: whether all pictures up to this one are asked for once it is added.
    ///   - prepare: is called with the encoder before the first picture.
    init(
      _ configuration: HEVCEncoderConfiguration, _ content: Content, pictures: Int, from: Int = 0,
      options: (Int) -> HEVCFrameOptions = { _ in HEVCFrameOptions() },
      completes: (Int) -> Bool = { _ in false },
      prepare: (HEVCEncoder) -> Void = { _ in }
    ) throws {
      let encoder = try HEVCEncoder(configuration: configuration)
      prepare(encoder)
      depth = encoder.reorderingDepth
      var frames: [Frame] = []
      func add(_ frame: consuming HEVCEncodedFrame) {
        frames.append(
          Frame(
            properties: frame.properties, types: frame.nalUnits.map(\.type), data: frame.data,
            reconstruction: RandomStreamTests.reconstruction(encoder)))
      }
      for n in 0..<pictures {
        try content.withSource(from + n) { try encoder.encode($0, options: options(n), output: add) }
        if completes(n) { encoder.complete(through: UInt64(n), output: add) }
      }
      encoder.flush(output: add)
      weightedPictures = encoder.weightedPictures
      bufferMiss = encoder.bufferMiss
      self.frames = frames
    }

    /// The bytes of all frames.
    var stream: [UInt8] { frames.flatMap(\.data) }

    /// Whether a decoder shows the reconstructions in the order of input.
    /// - Parameter frames: the frames that the decoder gets, in decoding order; nil: all.
    func isShownRight(_ frames: [Frame]? = nil) throws -> Bool {
      let frames = frames ?? self.frames
      guard let decoder = ReferenceDecoder() else { return false }
      var shown: [PlanarFrame] = []
      for frame in frames { if let picture = try decoder.decode(frame.data) { shown.append(picture) } }
      while let picture = try decoder.drain() { shown.append(picture) }
      let expected = frames.sorted { $0.properties.index < $1.properties.index }
      return shown == expected.compactMap(\.reconstruction) && shown.count == frames.count
    }
  }

  @Test(
    "libavcodec shows random streams bit for bit and in order",
    arguments: 0..<(RandomStreamTests.streams + 9) / 10)
  func random(part: Int) throws {
    for seed in part * 10..<min(part * 10 + 10, RandomStreamTests.streams) {
      var stream = RandomLookAhead(seed: UInt64(seed))
      let encoding = try Encoding(
        stream.configuration, stream.content, pictures: stream.pictures, options: { _ in stream.options() })
      #expect(encoding.frames.count == stream.pictures, "seed \(seed)")
      #expect(encoding.frames.allSatisfy { $0.properties.bits == $0.data.count * 8 })
      // A frame precedes at most as many frames that are shown before it as the encoder says.
      for (n, frame) in encoding.frames.enumerated() {
        let later = encoding.frames[n...].count { $0.properties.index < frame.properties.index }
        #expect(later <= 3)
        let early = encoding.frames[..<n].count { $0.properties.index > frame.properties.index }
        #expect(early <= encoding.depth, "seed \(seed)")
      }
      do {
        #expect(try encoding.isShownRight(), "seed \(seed)")
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }

  private static func configuration(_ size: (Int, Int) = (160, 96)) -> HEVCEncoderConfiguration {
    var configuration = HEVCEncoderConfiguration(width: size.0, height: size.1)
    configuration.maximumReferences = 4
    configuration.lookAhead = HEVCEncoderConfiguration.LookAhead()
    configuration.lookAhead.rate = .quality(28)
    configuration.lookAhead.frames = 12
    return configuration
  }

  @Test("There are B pictures that refer to B pictures, and fewer bits for them")
  func pyramid() throws {
    let content = Content(kind: .pan, width: 160, height: 96, seed: 3)
    let encoding = try Encoding(Self.configuration(), content, pictures: 33)
    // TRAIL_N, TRAIL_R and IDR_N_LP pictures.
    #expect(encoding.frames.count { $0.types.last == 0 } > 8)
    let early = encoding.frames.indices.filter { n in
      encoding.frames[..<n].contains {
        $0.properties.index > encoding.frames[n].properties.index
      }
    }
    #expect(early.contains { encoding.frames[$0].properties.isReference })
    #expect(early.contains { !encoding.frames[$0].properties.isReference })
    #expect(encoding.depth == 2)
    #expect(try encoding.isShownRight())
  }

  @Test("A decoder can begin at a CRA picture, without the pictures before it in output order")
  func openGOP() throws {
    let content = Content(kind: .pan, width: 160, height: 96, seed: 5)
    var configuration = Self.configuration()
    configuration.keyFrameInterval = 11
    configuration.lookAhead.usesOpenGOP = true
    let encoding = try Encoding(configuration, content, pictures: 40)
    #expect(try encoding.isShownRight())
    let start = try #require(encoding.frames.firstIndex { $0.properties.isOpenGOP })
    let key = encoding.frames[start]
    #expect(key.types.last == 21 && key.properties.isKeyFrame)
    #expect(key.properties.index % 11 == 0)
    // RASL pictures follow, which a decoder that begins here has to leave out.
    let leading = encoding.frames[start...].filter { $0.properties.index < key.properties.index }
    #expect(!leading.isEmpty && leading.allSatisfy { (8...9).contains($0.types.last ?? 0) })
    let rest = encoding.frames[start...].filter { $0.properties.index >= key.properties.index }
    #expect(try encoding.isShownRight(Array(rest)))
  }

  @Test("The stream does not depend on the number of threads", arguments: [28, 400_000])
  func threads(quality: Int) throws {
    let content = Content(kind: .blocks, width: 200, height: 264, seed: 2)
    var configuration = Self.configuration((200, 264))
    if quality > 51 { configuration.lookAhead.rate = .average(quality) }
    configuration.effort = 4
    let one = try Encoding(configuration, content, pictures: 20).stream
    for threads in [2, 3, 5] {
      configuration.threads = threads
      #expect(try Encoding(configuration, content, pictures: 20).stream == one, "\(threads) threads")
    }
  }

  @Test("Every instruction set gives the same stream", arguments: [8, 10])
  func instructionSets(depth: Int) throws {
    let content = Content(kind: .blocks, width: 136, height: 104, seed: 9, depth: depth)
    var configuration = Self.configuration((136, 104))
    if depth == 10 { configuration.profile = .main10 }
    configuration.effort = 8
    let streams = try [Int32(0), 1, 3, 16].map { cpu in
      let encoder = try LookAheadEncoder(configuration: configuration, cpu: cpu)
      var bytes: [UInt8] = []
      for n in 0..<14 {
        try content.withSource(n) { try encoder.encode($0, options: .init()) { bytes += $0.data } }
      }
      encoder.flush { bytes += $0.data }
      return bytes
    }
    #expect(streams.allSatisfy { $0 == streams[0] && !$0.isEmpty })
  }

  @Test("A new range of the QP holds for all blocks")
  func qpRange() throws {
    let content = Content(kind: .blocks, width: 160, height: 96, seed: 4)
    var configuration = Self.configuration()
    configuration.lookAhead.frames = 4
    configuration.maximumQP = 30
    configuration.lookAhead.rate = .quality(40)
    let encoder = try HEVCEncoder(configuration: configuration)
    var highest: [Int] = []
    func add(_ frame: consuming HEVCEncodedFrame) { highest.append(frame.properties.highestQP) }
    for (n, maximum) in [30, 45, 28].enumerated() {
      configuration.maximumQP = maximum
      try encoder.reconfigure(configuration)
      highest = []
      for k in 0..<8 { try content.withPicture(n * 8 + k) { try encoder.encode($0, output: add) } }
      encoder.flush(output: add)
      #expect(highest.count == 8)
      #expect(highest.allSatisfy { $0 <= maximum })
      if maximum == 45 { #expect(highest.contains { $0 > 30 }) }
    }
  }

  @Test("A CRA picture refers to no picture before the last key frame")
  func keyAfterKey() {
    var order = StreamOrder(capacity: 4)
    // With the first picture that each may keep (8.3.2).
    let pictures: [(kind: QueuedPicture.Kind, index: UInt64, first: UInt64)] = [
      (.idr, 0, 0), (.openKey, 3, 0), (.bidirectionalReference, 1, 0), (.bidirectional, 2, 0),
      (.openKey, 6, 3), (.bidirectionalReference, 4, 3), (.bidirectional, 5, 3), (.predicted, 7, 6),
    ]
    for picture in pictures {
      var plan = PicturePlan()
      let target = order.prepare(&plan, picture.kind, index: picture.index, most: 4, pictures: 8)
      let kept = order.buffer.entries.map(\.index)
      #expect(kept.allSatisfy { $0 >= picture.first }, "picture \(picture.index) keeps \(kept)")
      #expect(kept.isEmpty == (picture.kind == .idr))
      order.store(plan, target: target, index: picture.index)
    }
  }

  @Test("Pictures that should come out at once do so, and the stream goes on")
  func completion() throws {
    let content = Content(kind: .pan, width: 160, height: 96, seed: 3)
    let encoder = try HEVCEncoder(configuration: Self.configuration())
    var indices: [UInt64] = []
    func add(_ frame: consuming HEVCEncodedFrame) { indices.append(frame.properties.index) }
    for n in 0..<9 { try content.withPicture(n) { try encoder.encode($0, output: add) } }
    #expect(indices.isEmpty && encoder.heldFrameCount == 9)
    encoder.complete(through: 5, output: add)
    #expect((0...5).allSatisfy { indices.contains($0) })
    for n in 9..<20 { try content.withPicture(n) { try encoder.encode($0, output: add) } }
    encoder.flush(output: add)
    #expect(indices.sorted() == (0..<20).map { UInt64($0) })
    #expect(encoder.heldFrameCount == 0)
  }

  @Test("The options of calls are refused, and so is an encoding without delay")
  func refusals() throws {
    let content = Content(kind: .flat, width: 160, height: 96, seed: 3)
    let encoder = try HEVCEncoder(configuration: Self.configuration())
    var options = HEVCFrameOptions()
    options.isReference = false
    content.withPicture(0) { picture in
      #expect(throws: HEVCEncoderError.self) {
        try encoder.encode(picture, options: options) { _ in }
      }
      #expect(throws: HEVCEncoderError.self) { _ = try encoder.encode(picture).byteCount }
    }
    var configuration = Self.configuration()
    configuration.lookAhead.rate = .constant(1_000_000)
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: configuration) }
    configuration = Self.configuration()
    configuration.lookAhead.maximumBidirectional = 4
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: configuration) }
    configuration = Self.configuration()
    configuration.maximumReferences = 15
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: configuration) }
  }
}
