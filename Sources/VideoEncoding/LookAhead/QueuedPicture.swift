// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// A source picture in the look-ahead queue: a copy of its samples, its luma at half size, and the
/// results of the pre-analysis. `LookAheadQueue` allocates these objects as it grows and reuses
/// them.
package final class QueuedPicture {
  /// The picture type that the picture is coded as.
  package enum Kind: Sendable {
    case idr
    /// A key frame that is not an IDR picture: B pictures that follow it in decoding order but
    /// precede it in output order may refer to pictures before it.
    case openKey
    case predicted
    /// A B picture, which refers to pictures before and after it in output order. Other B pictures
    /// may refer to the former; none refers to the latter.
    case bidirectionalReference, bidirectional

    package var isKey: Bool { self == .idr || self == .openKey }
    package var isBidirectional: Bool { self == .bidirectionalReference || self == .bidirectional }
  }

  /// The number of the picture in input order, from 0.
  package var index: UInt64 = 0
  /// The presentation time in seconds since the first picture, and the seconds until the next
  /// picture.
  package var time = 0.0
  package var duration = 0.0
  /// The output time in seconds since the first picture as the decoder's buffer model counts it:
  /// the sum of the limited durations, where a long pause counts as a second or three frame
  /// intervals, whichever is longer.
  package var shown = 0.0
  package var request = CodingRequest()
  package var kind = Kind.predicted
  /// Whether a new scene begins with the picture.
  package var isCut = false

  /// The picture at half size, on which the pre-analysis works.
  let lowResolution: LowResolutionPicture
  private let geometry: PictureGeometry
  private let memory: EncoderMemory
  /// The copied luma samples, without padding between rows.
  private let luma: UnsafeMutablePointer<UInt8>
  /// The copied chroma samples: interleaved as in NV12, or all of Cb and then all of Cr
  /// (`isPlanar`).
  private let chroma: UnsafeMutablePointer<UInt8>
  private var isPlanar = false

  /// For each macroblock, in raster order: the cost of intra prediction, and the cost of prediction
  /// from the previous picture in input order, which is never above the intra cost, with its motion
  /// vector in half samples of the half-size picture.
  let intraCosts: UnsafeMutablePointer<Int32>
  let interCosts: UnsafeMutablePointer<Int32>
  package let vectors: UnsafeMutablePointer<SIMD2<Int16>>
  /// For each macroblock, the prediction from the pictures that the picture will refer to: the cost
  /// of the best of list 0, list 1 and both, and the vectors of each list. Bit 0 and bit 1 of
  /// `lists` say whether list 0 and list 1 are used; 0 is intra prediction.
  package let costs: UnsafeMutablePointer<Int32>
  let forward: UnsafeMutablePointer<SIMD2<Int16>>
  let backward: UnsafeMutablePointer<SIMD2<Int16>>
  package let lists: UnsafeMutablePointer<UInt8>
  /// The number of pictures in the planned run that starts with this picture in input order: its B
  /// pictures and the P or key picture that ends it. 0 where no planned run starts with this
  /// picture.
  var plannedRun = 0
  /// Whether `costs` of the pictures of the run that starts here are computed. Not where the run
  /// starts with a key frame, or nothing precedes it.
  var hasReferenceCosts = false
  /// Whether `costs` of this picture are computed.
  var hasCosts = false
  /// Whether the picture is planned as a B picture; nil where it is in no planned run yet.
  var isPlannedBidirectional: Bool?
  /// For each macroblock, the QP offset of the adaptive quantisation by local variance.
  let activityOffsets: UnsafeMutablePointer<Float>
  /// For each macroblock, the weight of its own cost in the macroblock tree: larger where the
  /// adaptive quantisation lowers its QP.
  let ownCosts: UnsafeMutablePointer<Float>
  /// For each macroblock, the cost of later pictures that is saved by predicting from it, in units
  /// of cost.
  let propagatedCosts: UnsafeMutablePointer<Float>
  /// For each macroblock, the QP offset that it is coded with: of the adaptive quantisation and of
  /// the macroblock tree together.
  package let offsets: UnsafeMutablePointer<Float>
  /// The brightness of the half-size luma, and the sums of its blocks (`LowResolutionFades`).
  package var brightness = FadeDetector.BrightnessStatistics()
  let blockSums: UnsafeMutablePointer<UInt32>
  /// The brightness of the picture at full size, from which the weights of weighted prediction are
  /// derived.
  package let brightnessMeasurement: BrightnessMeasurement
  /// The blocks that the picture before, the picture after and the second picture after this one
  /// predict exactly, as far as those are known.
  var matchesBefore = ExactMatches()
  var matchesAfter = ExactMatches()
  var matchesSecond = ExactMatches()
  /// The sums of `intraCosts` and of `interCosts`.
  var intraCost = 0
  var interCost = 0
  /// The residual after intra prediction of all macroblocks, and after the better of intra
  /// prediction and prediction from the previous picture, both with the QP offsets of the adaptive
  /// quantisation alone.
  var intraResidual = ResidualHistogram()
  var interResidual = ResidualHistogram()
  /// The residual after the prediction of `costs`, with the same QP offsets.
  var referenceResidual = ResidualHistogram()

  /// Allocates the memory of a picture.
  package init(_ geometry: PictureGeometry) {
    self.geometry = geometry
    var memory = EncoderMemory()
    lowResolution = LowResolutionPicture(geometry, memory: &memory)
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
    ownCosts = memory.allocate(Float.self, count: count)
    propagatedCosts = memory.allocate(Float.self, count: count)
    offsets = memory.allocate(Float.self, count: count)
    brightnessMeasurement = BrightnessMeasurement(geometry, memory: &memory)
    blockSums = memory.allocate(UInt32.self, count: LowResolutionFades.blockCount(geometry))
    self.memory = memory
  }

  /// The copied samples, valid until the object is used for another picture.
  package var source: SourcePicture {
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

  /// Sets the chroma layout of the copy to that of the picture to be copied.
  package func prepare(for picture: SourcePicture) {
    if case .planar = picture.chroma { isPlanar = true } else { isPlanar = false }
  }

  /// Copies one row of macroblocks of the caller's picture.
  /// - Parameters:
  ///   - picture: the caller's picture, whose layout was given to `prepare(for:)`.
  ///   - row: the index of the macroblock row.
  package func take(_ picture: SourcePicture, row: Int) {
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
  /// The forecast for the rate control: the picture's residual, type and duration.
  var forecast: PictureForecast {
    PictureForecast(
      residual: residualWithoutTree,
      kind: kind.isKey ? .intra : kind == .predicted ? .predicted : .bidirectional, duration: duration)
  }

  /// The forecast of a picture whose type may not be decided yet. Where no run is planned for it,
  /// types are spread so that one picture in `typicalRun` is a P picture.
  /// - Parameters:
  ///   - n: the position of the picture among the pictures whose order is not decided, from 0.
  ///   - typicalRun: the mean number of pictures from one that is not a B picture to the next.
  func forecast(of n: Int, typicalRun: Double) -> PictureForecast {
    var result = forecast
    if !kind.isKey {
      let isPredicted =
        isPlannedBidirectional.map { !$0 } ?? (Int(Double(n + 1) / typicalRun) > Int(Double(n) / typicalRun))
      result.kind = isPredicted ? .predicted : .bidirectional
    }
    return result
  }
}
