// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// Adaptive quantisation: QP offsets by the local activity of each macroblock (`LocalActivity`). A
/// doubling of the variance raises the QP by `strength` steps.
///
/// The two modes differ in the activity at which the offset is 0. Without delay it is the mean of
/// the picture, so that the offsets change the QP of macroblocks but hardly the bits of the
/// picture, which the rate control has just planned. With a look-ahead it is a fixed one, so that a
/// smooth picture gets more bits than a detailed one: the rate control balances them over time.
package struct ActivityQuantisation {
  /// The size of the pictures.
  private let geometry: PictureGeometry
  /// The functions that compute the variance.
  private let kernels: UnsafePointer<OVTVideoKernels>
  /// The QP offset of each macroblock in QP steps, -8 to 8.
  package let qpOffsets: UnsafeMutablePointer<Int8>
  /// The base-2 logarithm of each macroblock's variance, in sixteenths.
  private let activity: UnsafeMutablePointer<Int16>

  /// Allocates the memory of both arrays.
  package init(
    _ geometry: PictureGeometry, kernels: UnsafePointer<OVTVideoKernels>, memory: inout EncoderMemory
  ) {
    self.geometry = geometry
    self.kernels = kernels
    let count = geometry.macroblockCount
    qpOffsets = memory.allocate(Int8.self, count: count)
    activity = memory.allocate(Int16.self, count: count)
  }

  /// Fills in the offsets of a picture, relative to the mean of the picture. Macroblocks of one
  /// value, such as the bars of a letterbox, do not count for the mean: they take no bits, and
  /// would only shift the offsets of all others.
  /// - Parameters:
  ///   - source: the picture, of which the luma is read.
  ///   - strength: the QP steps for each doubling of the variance, 0 to 2.
  package func analyse(_ source: SourcePicture, strength: Double) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    var total = 0
    var count = 0
    for y in 0..<h {
      for x in 0..<w {
        let energy = LocalActivity.energy(source, x, y, kernels)
        let log16 = ActivityQuantisation.log2Sixteenths(energy &+ 1) &- 128
        activity[y &* w &+ x] = Int16(truncatingIfNeeded: log16)
        if energy == 0 { continue }
        total &+= log16
        count &+= 1
      }
    }
    let limit = Double(LocalActivity.limit)
    let mean = Double(total) / Double(max(count, 1))
    for m in 0..<(w * h) {
      let offset = (Double(activity[m]) - mean) / 16 * strength
      qpOffsets[m] = Int8(max(-limit, min(limit, offset.rounded())))
    }
  }

  /// 16 log2(x) for x above 0, with an error below 1.
  @inline(__always) private static func log2Sixteenths(_ x: Int) -> Int {
    let integerPart = Int.bitWidth &- 1 &- x.leadingZeroBitCount
    let fraction = integerPart >= 4 ? (x >> (integerPart &- 4)) & 15 : (x << (4 &- integerPart)) & 15
    return integerPart &* 16 &+ fraction
  }

  /// The base-2 logarithm of the luma energy at which the offset is 0 with a look-ahead.
  private static let typicalLogEnergy: Float = 14.4

  /// Fills in a row of the QP offsets of a picture in the look-ahead, and the costs that they
  /// weight (`QueuedPicture.ownCosts`). The costs of intra prediction must be known.
  /// - Parameters:
  ///   - picture: the picture; `activityOffsets` and `ownCosts` are written.
  ///   - geometry: its size.
  ///   - kernels: the functions that compute the variance.
  ///   - strength: the QP steps for each doubling of the variance, 0 to 2.
  ///   - y: the index of the row of macroblocks.
  static func analyse(
    _ picture: QueuedPicture, _ geometry: PictureGeometry, kernels: UnsafePointer<OVTVideoKernels>,
    strength: Double, row y: Int
  ) {
    let w = geometry.widthInMbs
    guard strength > 0 else {
      for m in y &* w..<(y &+ 1) &* w {
        picture.activityOffsets[m] = 0
        picture.ownCosts[m] = Float(picture.intraCosts[m])
      }
      return
    }
    let source = picture.source
    let limit = Float(LocalActivity.limit)
    for x in 0..<w {
      let energy = LocalActivity.energy(source, x, y, kernels)
      let offset = Float(strength) * (log2Approx(Float(energy &+ 1)) - typicalLogEnergy)
      let m = y &* w &+ x
      picture.activityOffsets[m] = max(-limit, min(limit, offset))
      picture.ownCosts[m] = Float(picture.intraCosts[m]) * exp2Approx(picture.activityOffsets[m] * (-1 / 6))
    }
  }
}
