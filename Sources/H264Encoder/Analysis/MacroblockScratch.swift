// SPDX-License-Identifier: Apache-2.0

/// Memory that a `MacroblockCoder` works in: named regions, none of which shares a byte with another.
struct MacroblockScratch {
  // Predictions of 16x16 luma samples, in rows of 16.

  /// A prediction being compared: from a vector between samples, or an intra mode.
  let prediction: UnsafeMutablePointer<UInt8>
  /// Predictions from list 0 and list 1, and the weighted mean of both.
  let predictionL0: UnsafeMutablePointer<UInt8>
  let predictionL1: UnsafeMutablePointer<UInt8>
  let bipredicted: UnsafeMutablePointer<UInt8>
  /// A prediction that may replace one of those.
  let candidate: UnsafeMutablePointer<UInt8>
  /// Eight rows of 16 bytes of NV12.
  let chromaPrediction: UnsafeMutablePointer<UInt8>

  // Motion search.

  /// Vectors that a search starts from, `MacroblockScratch.mostStarts` at most.
  let startVectors: UnsafeMutablePointer<MotionVector>
  /// Full-sample vectors that were compared already, packed in 32 bits.
  let comparedVectors: UnsafeMutablePointer<Int32>
  /// The best motion of each 8x8 block, in P and in B pictures.
  let partitions: UnsafeMutablePointer<MotionCandidate>
  let partitionsB: UnsafeMutablePointer<BidirectionalCandidate>
  /// For each 8x8 block, a vector to where the screen has shown it before.
  let repeatVectors: UnsafeMutablePointer<MotionVector>

  /// Coefficients of an 8x8 block while its levels are stored.
  let coefficients8x8: UnsafeMutablePointer<Int16>

  static let mostStarts = 64

  init(memory: inout EncoderMemory) {
    prediction = memory.allocate(UInt8.self, count: 256)
    predictionL0 = memory.allocate(UInt8.self, count: 256)
    predictionL1 = memory.allocate(UInt8.self, count: 256)
    bipredicted = memory.allocate(UInt8.self, count: 256)
    candidate = memory.allocate(UInt8.self, count: 256)
    chromaPrediction = memory.allocate(UInt8.self, count: 128)
    startVectors = memory.allocate(MotionVector.self, count: Self.mostStarts)
    comparedVectors = memory.allocate(Int32.self, count: Self.mostStarts)
    partitions = memory.allocate(MotionCandidate.self, count: 4)
    partitionsB = memory.allocate(BidirectionalCandidate.self, count: 4)
    repeatVectors = memory.allocate(MotionVector.self, count: 4)
    coefficients8x8 = memory.allocate(Int16.self, count: 64)
  }
}
