// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// A type of samples that pictures are coded with: `UInt8` for 8 bits, `UInt16` for 10 bits.
///
/// The types that code pictures are generic over it. `AnyPictureCoder` wraps the coder of either
/// sample type, so that the compiler specialises the code for each type and calls the kernels
/// directly.
protocol HEVCSample: FixedWidthInteger, UnsignedInteger, BitwiseCopyable, Sendable {
  /// The kernels for samples of this type.
  associatedtype Kernels: SampleKernels where Kernels.Sample == Self
  /// BitDepthY and BitDepthC
  static var bitDepth: Int { get }

  /// Copies a row of luma of a source picture.
  static func copyLuma(_ source: HEVCSource, row: Int, to luma: UnsafeMutablePointer<Self>)
  /// Copies a row of chroma of a source picture.
  static func copyChroma(
    _ source: HEVCSource, row: Int, cb: UnsafeMutablePointer<Self>, cr: UnsafeMutablePointer<Self>,
    _ kernels: UnsafePointer<OVTVideoKernels>)
  /// The sum of squared differences of two rows.
  static func squaredError(
    _ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int,
    _ kernels: UnsafePointer<OVTVideoKernels>
  ) -> UInt64
}

extension HEVCSample {
  /// The bits beyond 8.
  @inline(__always) static var extraBits: Int { bitDepth &- 8 }
  /// QpBdOffsetY and QpBdOffsetC (7.4.3.2.1): what is added to a QP to quantise with it.
  @inline(__always) static var qpOffset: Int { 6 &* extraBits }
  /// The largest magnitude of sample adaptive offset (7.4.9.3.2).
  @inline(__always) static var largestOffset: Int { (1 &<< (bitDepth &- 5)) &- 1 }
}

extension UInt8: HEVCSample {
  typealias Kernels = OVTHEVCKernels8
  @inline(__always) static var bitDepth: Int { 8 }
}

extension UInt16: HEVCSample {
  typealias Kernels = OVTHEVCKernels16
  @inline(__always) static var bitDepth: Int { 10 }
}

/// A table of kernels for samples of one type. `hevc_sample_kernels.h` describes the functions.
protocol SampleKernels {
  associatedtype Sample
  typealias Table = UnsafePointer<Self>
  typealias Output = UnsafeMutablePointer<Sample>
  typealias Input = UnsafePointer<Sample>
  typealias Residual = UnsafeMutablePointer<Int16>
  typealias Values = UnsafePointer<Int16>
  typealias Sums = UnsafeMutablePointer<Int32>
  typealias Offsets = UnsafePointer<Int8>

  /// Makes a table with what the instruction sets of a mask do best.
  static func make(_ memory: inout EncoderMemory, cpu: Int32) -> UnsafeMutablePointer<Self>
  static func residual(_ k: Table!) -> UnsafePointer<OVTHEVCResidualKernels>!
  static func sad(_ k: Table!, _: Int32, _: Input!, _: Int, _: Input!, _: Int) -> Int32
  static func sadX4(
    _ k: Table!, _: Int32, _: Input!, _: Int, _: Input!, _: Input!, _: Input!, _: Input!, _: Int, _: Sums!)
  static func satd(_ k: Table!, _: Int32, _: Input!, _: Int, _: Input!, _: Int) -> Int32
  static func satd8(_ k: Table!, _: Int32, _: Input!, _: Int, _: Input!, _: Int) -> Int32
  static func ssd(_ k: Table!, _: Int32, _: Input!, _: Int, _: Input!, _: Int) -> UInt32
  static func mean(_ k: Table!, _: Output!, _: Int, _: Input!, _: Input!, _: Int, _: Int32, _: Int32)
  static func difference(
    _ k: Table!, _: Residual!, _: Int, _: Input!, _: Int, _: Input!, _: Int, _: Int32, _: Int32)
  static func reconstruct(
    _ k: Table!, _: Output!, _: Int, _: Input!, _: Int, _: Values!, _: Int, _: Int32, _: Int32)
  static func reconstructDC(
    _ k: Table!, _: Output!, _: Int, _: Input!, _: Int, _: Int32, _: Int32, _: Int32)
  static func smoothEdge(_ k: Table!, _: Output!, _: Input!, _: Int32, _: Int32)
  static func intra(_ k: Table!, _: Int32, _: Output!, _: Int, _: Input!, _: Int32, _: Int32)
  static func transpose(_ k: Table!, _: Output!, _: Int, _: Input!, _: Int, _: Int32)
  static func luma(_ k: Table!, _: Output!, _: Int, _: Input!, _: Int, _: Int32, _: Int32, _: Int32, _: Int32)
  static func chroma(
    _ k: Table!, _: Output!, _: Int, _: Input!, _: Int, _: Int32, _: Int32, _: Int32, _: Int32)
  static func lumaHalves(
    _ k: Table!, _: Output!, _: Output!, _: Output!, _: Input!, _: Int, _: Int32, _: Int32)
  static func lumaHigh(
    _ k: Table!, _: Residual!, _: Int, _: Input!, _: Int, _: Int32, _: Int32, _: Int32, _: Int32)
  static func chromaHigh(
    _ k: Table!, _: Residual!, _: Int, _: Input!, _: Int, _: Int32, _: Int32, _: Int32, _: Int32)
  static func average(
    _ k: Table!, _: Output!, _: Int, _: Values!, _: Values!, _: Int, _: Int32, _: Int32)
  static func weigh(
    _ k: Table!, _: Output!, _: Int, _: Values!, _: Int, _: Int32, _: Int32, _: Int32, _: Int32, _: Int32)
  static func weighBoth(
    _ k: Table!, _: Output!, _: Int, _: Values!, _: Values!, _: Int, _: Int32, _: Int32, _: Int32,
    _: Int32, _: Int32, _: Int32, _: Int32)
  static func deblockLuma(_ k: Table!, _: Int32, _: Output!, _: Int, _: Int32, _: Values!)
  static func deblockChroma(_ k: Table!, _: Int32, _: Output!, _: Int, _: Values!)
  static func saoEdge(
    _ k: Table!, _: Output!, _: Int, _: Input!, _: Int, _: Int32, _: Int32, _: Int32, _: Offsets!)
  static func saoBand(
    _ k: Table!, _: Output!, _: Int, _: Input!, _: Int, _: Int32, _: Int32, _: Int32, _: Offsets!)
  static func saoEdgeStatistics(
    _ k: Table!, _: Sums!, _: Sums!, _: Input!, _: Int, _: Input!, _: Int, _: Int32, _: Int32, _: Int32)
  static func saoBandStatistics(
    _ k: Table!, _: Sums!, _: Sums!, _: Input!, _: Int, _: Input!, _: Int, _: Int32, _: Int32)
}

extension OVTHEVCKernels8: SampleKernels {
  typealias Sample = UInt8

  static func make(_ memory: inout EncoderMemory, cpu: Int32) -> UnsafeMutablePointer<Self> {
    let table = memory.allocate(Self.self, count: 1)
    _ = fill(table, cpu)
    return table
  }
}

extension OVTHEVCKernels16: SampleKernels {
  typealias Sample = UInt16

  static func make(_ memory: inout EncoderMemory, cpu: Int32) -> UnsafeMutablePointer<Self> {
    let table = memory.allocate(Self.self, count: 1)
    _ = fill(table, cpu)
    return table
  }
}
