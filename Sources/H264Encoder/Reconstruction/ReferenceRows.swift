// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Prepares the rows of a reconstructed picture for motion compensation: computes the half-sample
/// planes (8.4.2.2.1), and extends all planes beyond the picture's edges.
struct ReferenceRows {
  /// The SIMD kernels of the machine.
  let k: UnsafePointer<OVTKernels>
  /// The picture's size and strides.
  let geometry: PictureGeometry
  /// The number of components that are prepared as luma is: 1 at 4:2:0, 3 at 4:4:4.
  let components: Int
  /// The reconstruction.
  let picture: PicturePlanes
  /// Scratch memory of the half-sample kernel.
  let scratch: UnsafeMutablePointer<Int16>
  /// The picture's macroblocks.
  let syntax: PictureSyntax
  /// The first reference picture, whose half samples are copied where nothing has changed; nil if
  /// there is none, and in pictures that are weighted or B.
  let reference: ReferencePlanes?
  /// The macroblocks that have not changed.
  let still: UnchangedMacroblocks
  /// The picture's number (`PicturePlanes.number`).
  let number: UInt64
  /// The number of the older picture whose samples are still in the picture's memory; 0 for none.
  let heldPicture: UInt64

  /// The least number of unchanged macroblock columns side by side for which a copy is faster than
  /// the computation.
  private static let minCopied = 4
  /// The number of macroblock columns that a computation at their left may overwrite, as it goes in
  /// steps of 32 samples.
  private static let spoiled = 2

  /// The number of luma rows by which the half-sample planes end above the last filtered row:
  /// deblocking may still change 3 rows and the six-tap filter reaches 3 further, rounded up.
  static let lag = 8

  /// Prepares the rows that are final once a macroblock row has been deblocked. To be called for
  /// all rows in order.
  ///
  /// - Parameter y: the macroblock row.
  func finishRow(_ y: Int) {
    let last = y == geometry.heightInMbs &- 1
    let height = geometry.heightInMbs &* 16
    // Half samples begin above the picture and end below it, where the filter's taps still reach
    // samples that differ.
    let from = y == 0 ? -ReferenceRows.lag : y &* 16 &- ReferenceRows.lag
    let to = last ? height &+ ReferenceRows.lag : y &* 16 &+ 16 &- ReferenceRows.lag
    let isWorthCopies = still.find(row: y, syntax, number: number, atLeast: ReferenceRows.minCopied)
    for c in 0..<components {
      finishSamples(
        picture.luma + c &* geometry.componentOffset, row: y, from: from, to: to,
        reference: isWorthCopies ? reference.map { $0.luma + c &* geometry.componentOffset } : nil)
    }
    if components > 1 { return }

    let chromaReady = last ? height / 2 : y &* 8 &+ 8 &- 2
    let chromaBefore = y == 0 ? 0 : y &* 8 &- 2
    extendSides(
      picture.chroma, from: chromaBefore, to: chromaReady, bytes: geometry.widthInMbs &* 16, pair: true)
    if y == 0 { extendAbove(picture.chroma, rows: PictureGeometry.padding / 2) }
    if last { extendBelow(picture.chroma, height: height / 2, rows: PictureGeometry.padding / 2) }
  }

  /// Extends the full-sample plane of luma, or at 4:4:4 of a component, and makes its half samples.
  ///
  /// - Parameters:
  ///   - plane: the full-sample plane, at sample (0, 0); the half-sample planes follow.
  ///   - y: the macroblock row.
  ///   - from: the first row of half samples that can be made.
  ///   - to: the row after the last.
  ///   - reference: the same plane of the reference picture whose half samples are worth copying;
  ///     nil: there is none.
  private func finishSamples(
    _ plane: UnsafeMutablePointer<UInt8>, row y: Int, from: Int, to: Int,
    reference: UnsafeMutablePointer<UInt8>?
  ) {
    let last = y == geometry.heightInMbs &- 1
    let height = geometry.heightInMbs &* 16
    // Luma rows up to `ready` are final now.
    let ready = last ? height : y &* 16 &+ 16 &- 4
    let readyBefore = y == 0 ? 0 : y &* 16 &- 4
    extendSides(plane, from: readyBefore, to: ready, bytes: geometry.widthInMbs &* 16, pair: false)
    if y == 0 { extendAbove(plane, rows: PictureGeometry.padding) }
    if last { extendBelow(plane, height: height, rows: PictureGeometry.padding) }
    halfSamples(plane, from: from, to: to, row: y, reference: reference)
    for i in 1...3 {
      extendHalfSamples(
        plane + i &* geometry.planeSpacing, from: from, to: to, isFirst: y == 0, isLast: last)
    }
  }

  /// Extends rows of a half-sample plane to the sides, above the first row and below the last.
  private func extendHalfSamples(
    _ plane: UnsafeMutablePointer<UInt8>, from: Int, to: Int, isFirst: Bool, isLast: Bool
  ) {
    let lag = ReferenceRows.lag
    extendSides(plane, from: from, to: to, bytes: geometry.widthInMbs &* 16, pair: false, inset: lag)
    if isFirst { extendAbove(plane, rows: PictureGeometry.padding, fromRow: -lag) }
    if isLast {
      extendBelow(plane, height: geometry.heightInMbs &* 16 &+ lag, rows: PictureGeometry.padding &- lag)
    }
  }

  /// Makes the half samples of rows: copies them where nothing has changed, computes them
  /// elsewhere.
  ///
  /// - Parameters:
  ///   - plane: the full-sample plane.
  ///   - from: the first luma row.
  ///   - to: the row after the last.
  ///   - y: the macroblock row that completes these rows.
  ///   - reference: the full-sample plane to copy from; nil: all are computed.
  private func halfSamples(
    _ plane: UnsafeMutablePointer<UInt8>, from: Int, to: Int, row y: Int,
    reference: UnsafeMutablePointer<UInt8>?
  ) {
    let w = geometry.widthInMbs
    guard let reference else {
      return computeHalfSamples(plane, from: from, to: to, columns: 0..<w)
    }
    // The first pass computes and the second one copies, since a computation may write some samples
    // too many at its right end.
    for pass in 0..<2 {
      let copies = pass == 1
      var x = 0
      var computedFrom = 0
      while x < w {
        var end = x
        while end < w && still.hasStillHalfSamples(end, row: y) { end &+= 1 }
        if end &- x >= ReferenceRows.minCopied {
          if copies {
            copyChangedHalfSamples(
              plane, reference, from: from, to: to, columns: x..<end, row: y,
              spoiled: x > computedFrom ? ReferenceRows.spoiled : 0)
          } else if x > computedFrom {
            computeHalfSamples(plane, from: from, to: to, columns: computedFrom..<x)
          }
          computedFrom = end
        }
        x = max(end, x &+ 1)
      }
      if !copies && computedFrom < w {
        computeHalfSamples(plane, from: from, to: to, columns: computedFrom..<w)
      }
    }
  }

  /// Copies half samples of unchanged macroblock columns from the reference picture, where the
  /// picture's memory does not hold the same ones.
  ///
  /// - Parameters:
  ///   - plane: the full-sample plane.
  ///   - reference: that of the reference picture.
  ///   - from: the first luma row.
  ///   - to: the row after the last.
  ///   - columns: the macroblock columns.
  ///   - y: the macroblock row that completes these rows.
  ///   - spoiled: the number of columns at the beginning whose samples the memory does not hold any
  ///     more.
  private func copyChangedHalfSamples(
    _ plane: UnsafeMutablePointer<UInt8>, _ reference: UnsafeMutablePointer<UInt8>, from: Int, to: Int,
    columns: Range<Int>, row y: Int, spoiled: Int
  ) {
    var x = columns.lowerBound
    while x < columns.upperBound {
      var end = x
      while end < columns.upperBound
        && (end < columns.lowerBound &+ spoiled || !still.areHalfSamplesSame(end, row: y, since: heldPicture))
      { end &+= 1 }
      if end > x { copyHalfSamples(plane, reference, from: from, to: to, columns: x..<end) }
      x = end &+ 1
    }
  }

  /// The luma samples of a row that macroblock columns cover, with the margins at the picture's
  /// sides.
  @inline(__always) private func extent(_ columns: Range<Int>) -> (start: Int, count: Int) {
    let margin = ReferenceRows.lag
    let start = columns.lowerBound == 0 ? -margin : columns.lowerBound &* 16
    let end = columns.upperBound &* 16 &+ (columns.upperBound == geometry.widthInMbs ? margin : 0)
    return (start, end &- start)
  }

  /// Computes the half samples of rows `from` up to but not including `to`, of macroblock columns.
  private func computeHalfSamples(
    _ plane: UnsafeMutablePointer<UInt8>, from: Int, to: Int, columns: Range<Int>
  ) {
    let (start, count) = extent(columns)
    let at = plane + (from &* geometry.stride &+ start)
    let spacing = geometry.planeSpacing
    k.pointee.halfSample(
      at + spacing, at + 2 &* spacing, at + 3 &* spacing, at, geometry.stride, Int32(count),
      Int32(to &- from), scratch)
  }

  /// Copies the half samples of rows `from` up to but not including `to`, of macroblock columns,
  /// from the reference picture.
  private func copyHalfSamples(
    _ plane: UnsafeMutablePointer<UInt8>, _ reference: UnsafeMutablePointer<UInt8>, from: Int, to: Int,
    columns: Range<Int>
  ) {
    let (start, count) = extent(columns)
    let spacing = geometry.planeSpacing
    for y in from..<to {
      for i in 1...3 {
        let offset = i &* spacing &+ y &* geometry.stride &+ start
        memcpy(plane + offset, reference + offset, count)
      }
    }
  }

  /// Repeats the first and last sample of rows beyond the picture's sides.
  ///
  /// - Parameters:
  ///   - plane: the plane, at sample (0, 0).
  ///   - from: the first row.
  ///   - to: the row after the last.
  ///   - bytes: the width of the picture in bytes.
  ///   - pair: whether samples are pairs of Cb and Cr (NV12).
  ///   - inset: the number of bytes beyond each side that are there already.
  private func extendSides(
    _ plane: UnsafeMutablePointer<UInt8>, from: Int, to: Int, bytes: Int, pair: Bool, inset: Int = 0
  ) {
    let pad = PictureGeometry.padding &- inset
    for y in from..<to {
      let row = plane + y &* geometry.stride
      let left = row - inset
      let right = row + bytes + inset
      if pair {
        let l = UnsafeRawPointer(left).loadUnaligned(as: UInt16.self)
        let r = UnsafeRawPointer(right - 2).loadUnaligned(as: UInt16.self)
        let first = UnsafeMutableRawPointer(left - pad)
        let last = UnsafeMutableRawPointer(right)
        for i in 0..<(pad / 2) {
          first.storeBytes(of: l, toByteOffset: i &* 2, as: UInt16.self)
          last.storeBytes(of: r, toByteOffset: i &* 2, as: UInt16.self)
        }
      } else {
        memset(left - pad, Int32(left[0]), pad)
        memset(right, Int32(right[-1]), pad)
      }
    }
  }

  /// Repeats the row `fromRow` above itself, up to `rows` rows above the picture.
  private func extendAbove(_ plane: UnsafeMutablePointer<UInt8>, rows: Int, fromRow: Int = 0) {
    let first = plane + fromRow &* geometry.stride - PictureGeometry.padding
    for y in 1...(rows &+ fromRow) {
      memcpy(first - y &* geometry.stride, first, geometry.stride)
    }
  }

  /// Repeats row `height` - 1 in the `rows` rows below it.
  private func extendBelow(_ plane: UnsafeMutablePointer<UInt8>, height: Int, rows: Int) {
    let last = plane + (height &- 1) &* geometry.stride - PictureGeometry.padding
    for y in 1...rows {
      memcpy(last + y &* geometry.stride, last, geometry.stride)
    }
  }
}
