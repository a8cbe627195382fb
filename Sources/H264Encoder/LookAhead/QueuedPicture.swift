// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// A source picture that waits to be coded, with its luma at half size and what the look-ahead found in it. They are
/// made as the queue grows, and used again and again.
final class QueuedPicture {
  /// What the picture becomes.
  enum Kind: Sendable {
    case idr
    /// A key frame that is no IDR picture: B pictures that are shown before it may refer to what precedes it.
    case openKey
    case predicted
    /// Refers to pictures before and after it; others may refer to it, or not.
    case bidirectionalReference, bidirectional

    var isKey: Bool { self == .idr || self == .openKey }
    var isBidirectional: Bool { self == .bidirectionalReference || self == .bidirectional }
  }

  /// Counted in the order of input.
  var index: UInt64 = 0
  /// Seconds from the first picture, and until the next one.
  var time = 0.0
  var duration = 0.0
  /// Seconds from the first picture, with pauses no longer than the buffer counts with.
  var shown = 0.0
  var options = H264FrameOptions()
  var kind = Kind.predicted
  /// A new scene begins.
  var isCut = false

  let half: LowResolutionPicture
  private let geometry: PictureGeometry
  private let memory: EncoderMemory
  private let luma: UnsafeMutablePointer<UInt8>
  /// NV12, or Cb and then Cr.
  private let chroma: UnsafeMutablePointer<UInt8>
  private var isPlanar = false

  /// Per macroblock: cost of intra prediction; cost of prediction from the picture before, no more than intra, and its
  /// vector in half samples of the half-size picture.
  let intraCosts: UnsafeMutablePointer<Int32>
  let interCosts: UnsafeMutablePointer<Int32>
  let vectors: UnsafeMutablePointer<SIMD2<Int16>>
  /// The same in the order that the picture is to be coded in: from the pictures that it will refer to, by the better of
  /// them or both, with a vector for each; `lists` has a bit for each that is used, and none for intra prediction.
  let costs: UnsafeMutablePointer<Int32>
  let forward: UnsafeMutablePointer<SIMD2<Int16>>
  let backward: UnsafeMutablePointer<SIMD2<Int16>>
  let lists: UnsafeMutablePointer<UInt8>
  /// Pictures up to the next one that is no B picture, itself included, where it is the first of them; 0: not planned.
  var plannedRun = 0
  /// Whether `costs` of that run are there: there are none of key frames.
  var hasReferenceCosts = false
  /// Whether its own are.
  var hasCosts = false
  /// Whether it is planned to be a B picture; nil: not planned.
  var isInside: Bool?
  /// Steps of QP by local variance.
  let activityOffsets: UnsafeMutablePointer<Float>
  /// What each macroblock is worth by itself, in units of cost: as much more as activity has it coded better.
  let weights: UnsafeMutablePointer<Float>
  /// What later pictures inherit from each macroblock, in units of cost.
  let propagatedCosts: UnsafeMutablePointer<Float>
  /// Steps of QP by both.
  let offsets: UnsafeMutablePointer<Float>
  /// Of the half-size luma: its level, and the sums of blocks (`LowResolutionFades`).
  var brightness = FadeDetector.Level()
  let blockSums: UnsafeMutablePointer<UInt32>
  /// Of the whole picture, where weights are looked for.
  let brightnessRead: FadeReading
  /// Sums of the costs.
  var intraCost = 0
  var interCost = 0
  /// What prediction leaves, by intra prediction alone and by the better of both, without offsets of quality that is
  /// inherited.
  var intraResidual = ResidualHistogram()
  var interResidual = ResidualHistogram()
  /// The same by `costs`.
  var referenceResidual = ResidualHistogram()

  init(_ geometry: PictureGeometry) {
    self.geometry = geometry
    var memory = EncoderMemory()
    half = LowResolutionPicture(geometry, memory: &memory)
    let count = geometry.macroblockCount
    luma = memory.allocate(UInt8.self, count: geometry.width * geometry.height)
    chroma = memory.allocate(UInt8.self, count: geometry.width * geometry.height / 2)
    intraCosts = memory.allocate(Int32.self, count: count)
    interCosts = memory.allocate(Int32.self, count: count)
    vectors = memory.allocate(SIMD2<Int16>.self, count: count)
    costs = memory.allocate(Int32.self, count: count)
    forward = memory.allocate(SIMD2<Int16>.self, count: count)
    backward = memory.allocate(SIMD2<Int16>.self, count: count)
    lists = memory.allocate(UInt8.self, count: count)
    activityOffsets = memory.allocate(Float.self, count: count)
    weights = memory.allocate(Float.self, count: count)
    propagatedCosts = memory.allocate(Float.self, count: count)
    offsets = memory.allocate(Float.self, count: count)
    brightnessRead = FadeReading(geometry, memory: &memory)
    blockSums = memory.allocate(UInt32.self, count: LowResolutionFades.blockCount(geometry))
    self.memory = memory
  }

  /// The copy.
  var source: SourcePicture {
    let quarter = geometry.width / 2 * (geometry.height / 2)
    return SourcePicture(
      width: geometry.width, height: geometry.height, luma: UnsafePointer(luma),
      lumaBytesPerRow: geometry.width,
      chroma: isPlanar
        ? .planar(
          cb: UnsafePointer(chroma), cbBytesPerRow: geometry.width / 2, cr: UnsafePointer(chroma + quarter),
          crBytesPerRow: geometry.width / 2)
        : .interleaved(UnsafePointer(chroma), bytesPerRow: geometry.width))
  }

  /// Says how the picture is laid out that is to be copied.
  func prepare(for picture: SourcePicture) {
    if case .planar = picture.chroma { isPlanar = true } else { isPlanar = false }
  }

  /// Copies a row of macroblocks of the caller's picture.
  func take(_ picture: SourcePicture, row: Int) {
    func copy(
      _ to: UnsafeMutablePointer<UInt8>, _ from: UnsafePointer<UInt8>, _ bytesPerRow: Int, _ width: Int,
      _ rows: Range<Int>
    ) {
      for y in rows {
        UnsafeMutableRawPointer(to + y &* width).copyMemory(from: from + y &* bytesPerRow, byteCount: width)
      }
    }
    let (width, height) = (geometry.width, geometry.height)
    let chromaRows = row &* 8..<min(row &* 8 &+ 8, height / 2)
    copy(luma, picture.luma, picture.lumaBytesPerRow, width, row &* 16..<min(row &* 16 &+ 16, height))
    switch picture.chroma {
    case .interleaved(let base, let bytesPerRow):
      copy(chroma, base, bytesPerRow, width, chromaRows)
    case .planar(let cb, let cbBytesPerRow, let cr, let crBytesPerRow):
      copy(chroma, cb, cbBytesPerRow, width / 2, chromaRows)
      copy(chroma + width / 2 * (height / 2), cr, crBytesPerRow, width / 2, chromaRows)
    }
  }
}

extension QueuedPicture {
  /// The picture as the rate control sees it.
  var forecast: PictureForecast {
    PictureForecast(
      residual: residualWithoutTree,
      kind: kind.isKey ? .intra : kind == .predicted ? .predicted : .bidirectional, duration: duration)
  }

  /// The same before its kind is known: every so many pictures one is no B picture.
  func forecast(of n: Int, typicalRun: Double) -> PictureForecast {
    var result = forecast
    if !kind.isKey {
      let isPredicted =
        isInside.map { !$0 } ?? (Int(Double(n + 1) / typicalRun) > Int(Double(n) / typicalRun))
      result.kind = isPredicted ? .predicted : .bidirectional
    }
    return result
  }
}
