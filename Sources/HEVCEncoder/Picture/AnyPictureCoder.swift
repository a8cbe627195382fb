// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// The coder of pictures of either bit depth, by what both modes call it: a few times for each
/// picture. It is no protocol, so that the compiler knows the type of samples behind each case.
enum AnyPictureCoder {
  case eightBits(PictureCoder<UInt8>)
  case tenBits(PictureCoder<UInt16>)

  init(configuration: HEVCEncoderConfiguration, sets: HEVCParameterSets, cpu: Int32) {
    switch configuration.profile {
    case .main: self = .eightBits(PictureCoder(configuration: configuration, sets: sets, cpu: cpu))
    case .main10: self = .tenBits(PictureCoder(configuration: configuration, sets: sets, cpu: cpu))
    }
  }

  var videoKernels: UnsafeMutablePointer<OVTVideoKernels> {
    switch self {
    case .eightBits(let coder): coder.videoKernels
    case .tenBits(let coder): coder.videoKernels
    }
  }

  var poolCount: Int {
    switch self {
    case .eightBits(let coder): coder.poolCount
    case .tenBits(let coder): coder.poolCount
    }
  }

  var layout: PlaneLayout {
    switch self {
    case .eightBits(let coder): coder.layout
    case .tenBits(let coder): coder.layout
    }
  }

  /// Luma of a reconstructed picture with 8 bits per sample, in rows of `PlaneLayout.lumaStride`
  /// bytes.
  /// - Parameters:
  ///   - index: the index of the picture in the pool.
  ///   - narrow: receives the samples where the picture has 10 bits per sample.
  func eightBitLuma(_ index: Int, narrow: UnsafeMutablePointer<UInt8>?) -> UnsafePointer<UInt8>? {
    switch self {
    case .eightBits(let coder): return coder.withPlanes(index) { luma, _, _, _, _ in luma }
    case .tenBits(let coder):
      guard let narrow else { return nil }
      let layout = coder.layout
      coder.withPlanes(index) { luma, _, _, stride, _ in
        for y in 0..<layout.height {
          ovt_hevc_narrow_row(narrow + y * stride, luma + y * stride, Int32(layout.width), 0)
        }
      }
      return UnsafePointer(narrow)
    }
  }

  /// The bits of each row of 16 luma rows in the last picture.
  var rowBits: UnsafeMutablePointer<Int32> {
    switch self {
    case .eightBits(let coder): coder.rowBits
    case .tenBits(let coder): coder.rowBits
    }
  }

  var statistics: PictureStatistics {
    switch self {
    case .eightBits(let coder): coder.statistics
    case .tenBits(let coder): coder.statistics
    }
  }

  /// Sets the effort of the next pictures.
  func setEffort(_ effort: Int) {
    switch self {
    case .eightBits(let coder): coder.effort = effort
    case .tenBits(let coder): coder.effort = effort
    }
  }

  func code(
    _ plan: PicturePlan, source: HEVCSource, index: UInt64? = nil, into target: Int,
    output: inout AccessUnitWriter
  ) {
    switch self {
    case .eightBits(let coder):
      coder.code(plan, source: source, index: index, into: target, output: &output)
    case .tenBits(let coder):
      coder.code(plan, source: source, index: index, into: target, output: &output)
    }
  }

  func recode(_ plan: PicturePlan, into target: Int, output: inout AccessUnitWriter) {
    switch self {
    case .eightBits(let coder): coder.recode(plan, into: target, output: &output)
    case .tenBits(let coder): coder.recode(plan, into: target, output: &output)
    }
  }

  /// Copies a picture that is coded later with more than the 8 bits per sample that the look-ahead
  /// keeps.
  func keep(_ source: HEVCSource, index: UInt64) {
    if case .tenBits(let coder) = self, case .tenBits = source { coder.keep(source, index: index) }
  }

  func setReference(_ index: Int, list: Int, picture: Int, _ identity: ReferenceIdentity) {
    switch self {
    case .eightBits(let coder): coder.setReference(index, list: list, picture: picture, identity)
    case .tenBits(let coder): coder.setReference(index, list: list, picture: picture, identity)
    }
  }

  /// Sets the weights of a reference picture, after `setReference`.
  func setWeight(_ index: Int, list: Int, _ weight: ReferenceWeight) {
    switch self {
    case .eightBits(let coder): coder.setWeight(index, list: list, weight)
    case .tenBits(let coder): coder.setWeight(index, list: list, weight)
    }
  }

  func describe(_ properties: inout HEVCFrameProperties, _ plan: PicturePlan, references: Int) {
    switch self {
    case .eightBits(let coder): coder.describe(&properties, plan, references: references)
    case .tenBits(let coder): coder.describe(&properties, plan, references: references)
    }
  }

  func squaredError(_ target: Int, width: Int, height: Int) -> (luma: Double, cb: Double, cr: Double) {
    switch self {
    case .eightBits(let coder): coder.squaredError(target, width: width, height: height)
    case .tenBits(let coder): coder.squaredError(target, width: width, height: height)
    }
  }
}
