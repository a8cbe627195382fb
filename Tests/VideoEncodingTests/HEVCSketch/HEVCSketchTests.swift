// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import Testing

@testable import VideoEncoding

/// A sketch of an encoder for another codec, driven by the look-ahead and by the low-latency rate
/// control. It imports nothing of `H264Encoder`: what compiles and works here is what an HEVC
/// encoder can build on. To be deleted when there is one.
@Suite("A second codec can be built on VideoEncoding")
struct HEVCSketchTests {
  static let (width, height, frameRate) = (320, 192, 30.0)
  static let geometry = PictureGeometry(width: width, height: height)
  static let content = SketchContent(width: width, height: height, cut: 70)

  /// A frame of the sketch's stream.
  struct Frame {
    var index: UInt64
    var kind: QueuedPicture.Kind
    var bits: Int
    var qp: Double
  }

  /// The kernels that the pre-analysis calls.
  private static func withKernels<R>(_ body: (UnsafePointer<OVTVideoKernels>) throws -> R) rethrows -> R {
    let kernels = UnsafeMutablePointer<OVTVideoKernels>.allocate(capacity: 1)
    defer { kernels.deallocate() }
    _ = ovt_video_kernels_init(kernels, ovt_cpu_detect())
    return try body(UnsafePointer(kernels))
  }

  /// Encodes pictures with a look-ahead of 20 frames and B pictures.
  private static func encodeAhead(_ settings: LookAheadSettings, pictures: Int) -> [Frame] {
    withKernels { kernels in
      let analysis = LookAheadPreAnalysis(geometry, kernels: kernels, threads: 1)
      var planner = LookAheadPlanner(
        settings, frames: 20, queue: LookAheadQueue(geometry, analysis: analysis, weighs: false))
      var coder = SketchPictureCoder(geometry)
      // The reconstructions of the reference pictures, by index.
      var references: [UInt64: [UInt8]] = [:]
      var frames: [Frame] = []
      let offsets = UnsafeMutablePointer<Int8>.allocate(capacity: geometry.macroblockCount)
      defer { offsets.deallocate() }

      func codeNext(isEnding: Bool) {
        planner.queue.decideOrder(planner.settings, propagates: true)
        let planned = planner.next(isEnding: isEnding, pending: [], codingIndex: UInt64(frames.count))
        let picture = planned.picture
        let qp = planner.wholeQP(
          planned.qp, picture, isExact: planned.isExact, blockOffsets: offsets)
        if picture.kind.isKey { references.removeAll() }
        let reference = references.keys.min {
          $0.distance(to: picture.index).magnitude < $1.distance(to: picture.index).magnitude
        }
        let bits = coder.code(
          picture.source, reference: reference.flatMap { references[$0] }, qp: qp,
          offsets: { Int(offsets[$0]) })
        if picture.kind != .bidirectional { references[picture.index] = coder.reconstruction }
        if references.count > 3, let oldest = references.keys.min() { references[oldest] = nil }
        frames.append(Frame(index: picture.index, kind: picture.kind, bits: bits, qp: coder.averageQP))
        _ = planner.finish(
          picture, bits: bits, qp: planned.qp - planned.offset, cascaded: planned.cascaded)
        planner.rateControl.remove(bits: Double(bits), seconds: picture.duration)
        planner.queue.recycle(picture)
      }

      for n in 0..<pictures {
        content.withPicture(n) {
          _ = planner.queue.append($0, request: CodingRequest(), settings: planner.settings)
          planner.queue.analyse(planner.settings)
        }
        while planner.queue.count > 20 { codeNext(isEnding: false) }
      }
      while planner.queue.count > 0 { codeNext(isEnding: true) }
      return frames
    }
  }

  private static func ahead() -> LookAheadSettings {
    var settings = LookAheadSettings(width: width, height: height, frameRate: frameRate)
    settings.bidirectionalLimit = 3
    settings.hasPyramid = true
    settings.adaptiveQuantisation = 1
    settings.keyFrameInterval = 50
    return settings
  }

  @Test("The look-ahead places B pictures, and key frames at cuts and intervals")
  func pictureTypes() {
    var settings = Self.ahead()
    settings.rate = .quality(30)
    let frames = Self.encodeAhead(settings, pictures: 140)
    #expect(frames.map(\.index).sorted() == (0..<140).map { UInt64($0) })
    #expect(frames.contains { $0.kind == .bidirectional })
    let keys = frames.filter { $0.kind.isKey }.map(\.index)
    #expect(keys.contains(0) && keys.contains(UInt64(Self.content.cut)))
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $1 - $0 <= 50 })
    // No picture is decoded before the pictures that it refers to: a B picture follows a picture
    // that is shown after it.
    for (n, frame) in frames.enumerated() where frame.kind.isBidirectional {
      #expect(frames[..<n].contains { $0.index > frame.index })
    }
  }

  @Test("The rate control of the look-ahead keeps an average", arguments: [1_200_000, 3_000_000])
  func averageRate(rate: Int) {
    var settings = Self.ahead()
    settings.rate = .average(rate)
    settings.expectedDuration = 240 / Self.frameRate
    let frames = Self.encodeAhead(settings, pictures: 240)
    let measured = Double(frames.reduce(0) { $0 + $1.bits }) * Self.frameRate / 240
    #expect(abs(measured / Double(rate) - 1) < 0.08)
  }

  /// Encodes pictures one after the other, each as soon as it comes.
  private static func encodeNow(_ settings: LowLatencySettings, pictures: Int) -> [Frame] {
    withKernels { kernels in
      var memory = EncoderMemory()
      var rateControl = LowLatencyRateControl(settings, memory: &memory)
      let analysis = PreAnalysis(geometry, kernels: kernels, memory: &memory)
      defer { extendLifetime(memory) }
      var coder = SketchPictureCoder(geometry)
      var frames: [Frame] = []
      for n in 0..<pictures {
        content.withPicture(n) { source in
          analysis.analyse(source)
          let isKey = n == 0
          let isCut = analysis.isSceneChange
          let decision = rateControl.plan(
            isKeyFrame: isKey, isSceneChange: isCut, request: CodingRequest(),
            properties: analysis.result(isKeyFrame: isKey))
          guard !decision.drop else { return }
          let bits = coder.code(
            source, reference: isKey ? nil : coder.reconstruction, qp: decision.qp,
            budget: decision.budget)
          coder.rowBits.withUnsafeBufferPointer {
            guard let rows = $0.baseAddress else { return }
            rateControl.finish(
              bits: bits, qp: coder.averageQP, isKeyFrame: isKey, isSceneChange: isCut, rowBits: rows)
          }
          frames.append(
            Frame(index: UInt64(n), kind: isKey ? .idr : .predicted, bits: bits, qp: coder.averageQP))
        }
      }
      return frames
    }
  }

  @Test("The low-latency rate control keeps rate and delay", arguments: [1_500_000, 3_000_000])
  func lowLatency(rate: Int) {
    var settings = LowLatencySettings(width: Self.width, height: Self.height, frameRate: Self.frameRate)
    settings.rate = .averageBitRate(rate)
    settings.maximumQueueDelay = 0.5
    let frames = Self.encodeNow(settings, pictures: 240)
    #expect(frames.count == 240)
    let measured = Double(frames.reduce(0) { $0 + $1.bits }) * Self.frameRate / 240
    #expect(abs(measured / Double(rate) - 1) < 0.08)
    // A link of the target rate, and the time until the last bit of each frame has passed it.
    var queue = 0.0
    for frame in frames {
      queue += Double(frame.bits)
      #expect(queue / Double(rate) <= 0.5 + 0.05)
      queue = max(queue - Double(rate) / Self.frameRate, 0)
    }
  }
}
