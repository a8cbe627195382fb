// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// The properties of a picture after it has been coded.
extension PictureCoder {
  /// Fills in the properties of a picture that was coded.
  /// - Parameters:
  ///   - properties: receives the result.
  ///   - plan: the plan of the picture.
  ///   - references: the number of pictures that it refers to.
  ///   - statistics: its statistics; nil: those of the last picture.
  func describe(
    _ properties: inout H264FrameProperties, _ plan: PicturePlan, references: Int,
    statistics: PictureStatistics? = nil
  ) {
    let s = statistics ?? self.statistics
    let count = Double(geometry.macroblockCount)
    properties.isKeyFrame = plan.isKeyFrame
    properties.isOpenGOP = plan.isOpenKeyFrame
    properties.isReference = plan.isReference
    properties.averageQP = s.qpCount > 0 ? Double(s.qpSum) / Double(s.qpCount) : Double(min(plan.qp, 51))
    properties.lowestQP = min(s.lowestQP, s.highestQP)
    properties.highestQP = s.highestQP
    properties.intraFraction = Double(s.intra) / count
    properties.skippedFraction = Double(s.skipped) / count
    properties.referenceCount = references
  }

  /// The highest QP of a row of the last picture, before the offsets of its macroblocks.
  var highestRowQP: Int { (0..<geometry.heightInMbs).reduce(0) { max($0, Int(rowQP[$1])) } }

  /// The mean QP of the rows of the last picture, before the offsets of their macroblocks. These do
  /// not average to 0 over the macroblocks that take bits: flat ones, which have the lowest
  /// offsets, take none.
  var meanRowQP: Double {
    Double((0..<geometry.heightInMbs).reduce(0) { $0 + Int(rowQP[$1]) }) / Double(geometry.heightInMbs)
  }

  /// The number of reference pictures that the effort searches for each macroblock.
  var referencesSearched: Int { settings.motion.references }

  /// The mean squared error of the reconstruction against the source, over the visible part of the
  /// picture.
  /// - Parameters:
  ///   - source: the source picture.
  ///   - picture: its reconstruction.
  /// - Returns: squared differences of sample values, per sample of each component.
  func squaredError(_ source: SourcePicture, _ picture: PicturePlanes) -> (
    luma: Double, cb: Double, cr: Double
  ) {
    let width = configuration.outputWidth
    let height = configuration.outputHeight
    var luma: UInt64 = 0
    for y in 0..<height {
      luma += kernels.pointee.video.ssdRow(
        source.luma + y * source.lumaBytesPerRow, picture.luma + y * geometry.stride, Int32(width))
    }
    if configuration.is444 {
      let (cb, cr) = chromaError(source, picture)
      let count = Double(width * height)
      return (Double(luma) / count, Double(cb) / count, Double(cr) / count)
    }
    var cb: UInt64 = 0
    var cr: UInt64 = 0
    for y in 0..<(height / 2) {
      let row = picture.chroma + y * geometry.stride
      for x in 0..<(width / 2) {
        let (u, v): (UInt8, UInt8)
        switch source.chroma {
        case .interleaved(let base, let stride):
          (u, v) = (base[y * stride + 2 * x], base[y * stride + 2 * x + 1])
        case .planar(let cbPlane, let cbStride, let crPlane, let crStride):
          (u, v) = (cbPlane[y * cbStride + x], crPlane[y * crStride + x])
        }
        let du = Int(u) - Int(row[2 * x])
        let dv = Int(v) - Int(row[2 * x + 1])
        cb += UInt64(du * du)
        cr += UInt64(dv * dv)
      }
    }
    let chromaCount = Double(width / 2 * (height / 2))
    return (Double(luma) / Double(width * height), Double(cb) / chromaCount, Double(cr) / chromaCount)
  }

  /// The sums of squared errors of Cb and Cr of a 4:4:4 picture; parameters are those of
  /// `squaredError`.
  private func chromaError(_ source: SourcePicture, _ picture: PicturePlanes) -> (cb: UInt64, cr: UInt64) {
    var sums: (cb: UInt64, cr: UInt64) = (0, 0)
    for y in 0..<configuration.outputHeight {
      let cbRow = picture.luma + (geometry.componentOffset + y * geometry.stride)
      let crRow = cbRow + geometry.componentOffset
      switch source.chroma {
      case .interleaved(let base, let stride):
        let row = base + y * stride
        for x in 0..<configuration.outputWidth {
          let (u, v) = (Int(row[2 * x]) - Int(cbRow[x]), Int(row[2 * x + 1]) - Int(crRow[x]))
          sums.cb += UInt64(u * u)
          sums.cr += UInt64(v * v)
        }
      case .planar(let cb, let cbStride, let cr, let crStride):
        let n = Int32(configuration.outputWidth)
        sums.cb += kernels.pointee.video.ssdRow(cb + y * cbStride, cbRow, n)
        sums.cr += kernels.pointee.video.ssdRow(cr + y * crStride, crRow, n)
      }
    }
    return sums
  }
}
