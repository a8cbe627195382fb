// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The scratch memory of a `MacroblockCoder`, as named regions that do not overlap.
struct MacroblockScratch {
  // Predictions of 16x16 luma samples, in rows of 16.

  /// A candidate prediction: of a fractional vector, or of an intra mode.
  let prediction: UnsafeMutablePointer<UInt8>
  /// The prediction from list 0.
  let predictionL0: UnsafeMutablePointer<UInt8>
  /// The prediction from list 1.
  let predictionL1: UnsafeMutablePointer<UInt8>
  /// The combined prediction from both lists.
  let bipredicted: UnsafeMutablePointer<UInt8>
  /// A prediction with a changed vector, or of a direct block, that is compared with the best one.
  let candidate: UnsafeMutablePointer<UInt8>
  /// A chroma prediction: eight rows of 16 bytes of NV12.
  let chromaPrediction: UnsafeMutablePointer<UInt8>

  // Motion search.

  /// The start vectors of a motion search, up to `maxStarts`.
  let startVectors: UnsafeMutablePointer<MotionVector>
  /// The full-sample start vectors that the search has compared already, the horizontal component
  /// in the upper 16 bits and the vertical one in the lower, up to `maxStarts`.
  let comparedVectors: UnsafeMutablePointer<Int32>
  /// The best motion of each 8x8 block in a P picture.
  let partitions: UnsafeMutablePointer<MotionCandidate>
  /// The best motion of each 8x8 block in a B picture.
  let partitionsB: UnsafeMutablePointer<BidirectionalCandidate>
  /// For each 8x8 block, the vector that `BlockPositionTable` has for it.
  let repeatVectors: UnsafeMutablePointer<MotionVector>

  /// The levels of an 8x8 block while they are interleaved for CAVLC.
  let coefficients8x8: UnsafeMutablePointer<Int16>

  /// The largest number of start vectors.
  static let maxStarts = 64

  /// Allocates the memory.
  ///
  /// - Parameter memory: owns it.
  init(memory: inout EncoderMemory) {
    prediction = memory.allocate(UInt8.self, count: 256)
    predictionL0 = memory.allocate(UInt8.self, count: 256)
    predictionL1 = memory.allocate(UInt8.self, count: 256)
    bipredicted = memory.allocate(UInt8.self, count: 256)
    candidate = memory.allocate(UInt8.self, count: 256)
    chromaPrediction = memory.allocate(UInt8.self, count: 128)
    startVectors = memory.allocate(MotionVector.self, count: Self.maxStarts)
    comparedVectors = memory.allocate(Int32.self, count: Self.maxStarts)
    partitions = memory.allocate(MotionCandidate.self, count: 4)
    partitionsB = memory.allocate(BidirectionalCandidate.self, count: 4)
    repeatVectors = memory.allocate(MotionVector.self, count: 4)
    coefficients8x8 = memory.allocate(Int16.self, count: 64)
  }
}
