// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

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
  /// Cb and Cr, interleaved as in NV12. At 4:4:4, Cb alone: the four planes of Cb, and after them
  /// those of Cr, lie after those of luma in the same distances
  /// (`PictureGeometry.componentOffset`).
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
  ///   - is444: whether the picture is 4:4:4.
  init(
    _ geometry: PictureGeometry, memory: inout EncoderMemory, storesMotion: Bool = false, is444: Bool = false
  ) {
    // A picture is one allocation. Its planes are a cache line or more apart.
    let luma = geometry.lumaBytes + 128
    let chroma = is444 ? 2 * geometry.componentOffset : (geometry.chromaBytes + 127) & ~63
    let planes = memory.allocate(UInt8.self, count: 4 * luma + chroma + 64)
    self.luma = planes + geometry.lumaOrigin
    b = planes + luma + geometry.lumaOrigin
    h = planes + 2 * luma + geometry.lumaOrigin
    j = planes + 3 * luma + geometry.lumaOrigin
    self.chroma = planes + 4 * luma + (is444 ? geometry.lumaOrigin : geometry.chromaOrigin)
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
  ///   - is444: whether the picture is 4:4:4.
  init(
    _ geometry: PictureGeometry, memory: inout EncoderMemory, bidirectional: Bool = false, is444: Bool = false
  ) {
    let count = geometry.macroblockCount
    widthInMbs = geometry.widthInMbs
    heightInMbs = geometry.heightInMbs
    info = memory.allocate(MacroblockInfo.self, count: count)
    nonZero = memory.allocate(UInt8.self, count: count * (is444 ? 72 : 24))
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

extension PicturePlanes {
  /// A placeholder before there is a picture; nothing is read through its pointers.
  init(placeholder: UnsafeMutableRawPointer) {
    let p = placeholder.assumingMemoryBound(to: UInt8.self)
    luma = p
    b = p
    h = p
    j = p
    chroma = p
    number = placeholder.assumingMemoryBound(to: UInt64.self)
    orderCount = placeholder.assumingMemoryBound(to: Int32.self)
    storedMotion = nil
  }
}
