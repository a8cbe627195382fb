// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Sizes of a picture that its macroblocks, planes and vectors are measured with.
struct PictureGeometry: Equatable {
  let width: Int
  let height: Int
  let widthInMbs: Int
  let heightInMbs: Int
  /// Bytes from one row to the next, the same for all planes (NV12 chroma is as wide as luma).
  let stride: Int

  /// Samples around each plane, so that vectors may point outside of the picture (8.4.2.2.1).
  static let padding = 32
  /// How far a block may reach over the edge, in luma samples: within the padding, with room for the taps.
  static let reach = 24

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    widthInMbs = (width + 15) / 16
    heightInMbs = (height + 15) / 16
    // Not a multiple of 4096, so that rows of a column do not fall on the same cache sets.
    var stride = (widthInMbs * 16 + 2 * PictureGeometry.padding + 63) & ~63
    if stride % 1024 == 0 { stride += 64 }
    self.stride = stride
  }

  var macroblockCount: Int { widthInMbs * heightInMbs }
  var lumaBytes: Int { stride * (heightInMbs * 16 + 2 * PictureGeometry.padding) }
  var chromaBytes: Int { stride * (heightInMbs * 8 + PictureGeometry.padding) }
  var lumaOrigin: Int { PictureGeometry.padding * stride + PictureGeometry.padding }
  var chromaOrigin: Int { PictureGeometry.padding / 2 * stride + PictureGeometry.padding }
}

/// The planes of a reconstructed picture. Pointers are to the sample at (0, 0); there are
/// `PictureGeometry.padding` luma samples around it.
struct PicturePlanes {
  /// Full samples; then the half-sample planes of 8.4.2.2.1: b (half right), h (half down), j (both).
  let luma: UnsafeMutablePointer<UInt8>
  let b: UnsafeMutablePointer<UInt8>
  let h: UnsafeMutablePointer<UInt8>
  let j: UnsafeMutablePointer<UInt8>
  /// NV12.
  let chroma: UnsafeMutablePointer<UInt8>
  /// Which reference picture the planes hold, counted from 1; 0: none that is whole.
  let number: UnsafeMutablePointer<UInt64>
  /// PicOrderCnt of the picture.
  let orderCount: UnsafeMutablePointer<Int32>
  /// What B pictures whose list 1 begins with this picture take from it.
  let storedMotion: StoredMotion?

  /// `storesMotion`: where B pictures may come (`PictureCoder.init`).
  init(_ geometry: PictureGeometry, memory: inout EncoderMemory, storesMotion: Bool = false) {
    // One block: a picture is one allocation, its planes a cache line apart.
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
  /// `bidirectional`: of B pictures, which have a list 1.
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
