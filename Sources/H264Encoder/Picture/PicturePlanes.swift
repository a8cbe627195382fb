// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// The size of a picture in samples and macroblocks, and the layout of its planes in memory.
struct PictureGeometry: Equatable {
  /// The width in luma samples.
  let width: Int
  /// The height in luma samples.
  let height: Int
  /// The number of macroblocks in a row.
  let widthInMbs: Int
  /// The number of macroblock rows.
  let heightInMbs: Int
  /// The bytes from one row to the next, the same for all planes: an NV12 row of chroma has as many
  /// bytes as a row of luma.
  let stride: Int

  /// The luma samples of padding on each side of a plane, so that vectors may point outside the
  /// picture (8.4.2.2.1).
  static let padding = 32
  /// The most luma samples by which a block may extend beyond the picture: within the padding, with
  /// room for the taps of the interpolation filter.
  static let reach = 24

  /// The geometry of a picture of a width and a height in luma samples.
  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    widthInMbs = (width + 15) / 16
    heightInMbs = (height + 15) / 16
    // The stride is no multiple of 1024, so that samples above each other do not fall into the same
    // cache sets.
    var stride = (widthInMbs * 16 + 2 * PictureGeometry.padding + 63) & ~63
    if stride % 1024 == 0 { stride += 64 }
    self.stride = stride
  }

  /// The number of macroblocks.
  var macroblockCount: Int { widthInMbs * heightInMbs }
  /// The bytes of a luma plane with padding.
  var lumaBytes: Int { stride * (heightInMbs * 16 + 2 * PictureGeometry.padding) }
  /// The bytes of a chroma plane with padding.
  var chromaBytes: Int { stride * (heightInMbs * 8 + PictureGeometry.padding) }
  /// The offset of the first luma sample, at (0, 0), in its plane.
  var lumaOrigin: Int { PictureGeometry.padding * stride + PictureGeometry.padding }
  /// The offset of the first chroma sample, at (0, 0), in its plane.
  var chromaOrigin: Int { PictureGeometry.padding / 2 * stride + PictureGeometry.padding }
}

/// The planes of a reconstructed picture. The pointers are to the sample at (0, 0);
/// `PictureGeometry.padding` luma samples surround it.
struct PicturePlanes {
  /// The full samples of luma.
  let luma: UnsafeMutablePointer<UInt8>
  /// The half samples of 8.4.2.2.1: `b` to the right of a full sample, `h` below it, `j` at its
  /// lower right.
  let b: UnsafeMutablePointer<UInt8>
  let h: UnsafeMutablePointer<UInt8>
  let j: UnsafeMutablePointer<UInt8>
  /// Cb and Cr, interleaved as in NV12.
  let chroma: UnsafeMutablePointer<UInt8>
  /// The number of the reference picture that the planes hold, counted from 1; 0: none, or only
  /// parts of one.
  let number: UnsafeMutablePointer<UInt64>
  /// PicOrderCnt of the picture.
  let orderCount: UnsafeMutablePointer<Int32>
  /// The motion that B pictures need whose list 1 begins with this picture; nil where there are no
  /// B pictures.
  let storedMotion: StoredMotion?

  /// Allocates the planes of a picture.
  /// - Parameters:
  ///   - geometry: the size of the picture.
  ///   - memory: owns the allocated memory.
  ///   - storesMotion: whether the motion of the picture can be stored, for streams with B
  ///     pictures.
  init(_ geometry: PictureGeometry, memory: inout EncoderMemory, storesMotion: Bool = false) {
    // A picture is one allocation. Its planes are a cache line or more apart.
    let luma = geometry.lumaBytes + 128
    let chroma = (geometry.chromaBytes + 127) & ~63
    let planes = memory.allocate(UInt8.self, count: 4 * luma + chroma + 64)
    self.luma = planes + geometry.lumaOrigin
    b = planes + luma + geometry.lumaOrigin
    h = planes + 2 * luma + geometry.lumaOrigin
    j = planes + 3 * luma + geometry.lumaOrigin
    self.chroma = planes + 4 * luma + geometry.chromaOrigin
    let end = UnsafeMutableRawPointer(planes + 4 * luma + chroma)
    number = end.bindMemory(to: UInt64.self, capacity: 1)
    orderCount = (end + 8).bindMemory(to: Int32.self, capacity: 1)
    storedMotion = storesMotion ? StoredMotion(geometry, memory: &memory) : nil
  }
}

extension PictureSyntax {
  /// Allocates the arrays of a picture.
  /// - Parameters:
  ///   - geometry: the size of the picture.
  ///   - memory: owns the allocated memory.
  ///   - bidirectional: whether it is a B picture, which has a list 1.
  init(_ geometry: PictureGeometry, memory: inout EncoderMemory, bidirectional: Bool = false) {
    let count = geometry.macroblockCount
    widthInMbs = geometry.widthInMbs
    heightInMbs = geometry.heightInMbs
    info = memory.allocate(MacroblockInfo.self, count: count)
    nonZero = memory.allocate(UInt8.self, count: count * 24)
    intraModes = memory.allocate(Int8.self, count: count * 16)
    referenceIndex = memory.allocate(Int8.self, count: count * 4)
    motion = memory.allocate(MotionVector.self, count: count * 4)
    motionDifference = memory.allocate(MotionVector.self, count: count * 16)
    guard bidirectional else {
      (referenceIndexL1, motionL1, motionDifferenceL1) = (referenceIndex, motion, motionDifference)
      return
    }
    referenceIndexL1 = memory.allocate(Int8.self, count: count * 4)
    motionL1 = memory.allocate(MotionVector.self, count: count * 4)
    motionDifferenceL1 = memory.allocate(MotionVector.self, count: count * 16)
  }
}
