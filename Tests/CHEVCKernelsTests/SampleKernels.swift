// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels

/// The kernels of one bit depth, so that a test is written once for both.
struct SampleKernels<Sample: FixedWidthInteger> {
  typealias Out = UnsafeMutablePointer<Sample>
  typealias In = UnsafePointer<Sample>
  typealias High = UnsafeMutablePointer<Int16>
  typealias Values = UnsafePointer<Int16>

  let depth: Int
  let compare: [[(In, Int, In, Int) -> Int]]  // SAD, SATD, SSD by shape
  let sadX4: [(In, Int, [In], Int) -> [Int32]]
  let satd8: [(In, Int, In, Int) -> Int]
  let mean: (Out, Int, In, In, Int, Int32, Int32) -> Void
  let difference: (High, Int, In, Int, In, Int, Int32, Int32) -> Void
  let reconstruct: (Out, Int, In, Int, Values, Int, Int32, Int32) -> Void
  let reconstructDC: (Out, Int, In, Int, Int32, Int32, Int32) -> Void
  let smooth: (Out, In, Int32, Int32) -> Void
  let intra: (Int32, Out, Int, In, Int32, Int32) -> Void
  let transpose: (Out, Int, In, Int, Int32) -> Void
  let halves: (Out, Out, Out, In, Int, Int32, Int32) -> Void
  let interpolate: (_ isLuma: Bool, Out, Int, In, Int, Int32, Int32, Int32, Int32) -> Void
  let interpolateHigh: (_ isLuma: Bool, High, Int, In, Int, Int32, Int32, Int32, Int32) -> Void
  let round: (Out, Int, Values, Int, Int32, Int32) -> Void
  let average: (Out, Int, Values, Values, Int, Int32, Int32) -> Void
  let weigh: (Out, Int, Values, Int, Int32, Int32, Int32, Int32, Int32) -> Void
  let weighBoth: (Out, Int, Values, Values, Int, Int32, Int32, Int32, [Int32]) -> Void
  let deblockLuma: (_ isVertical: Bool, Out, Int, Int32, [Int16]) -> Void
  let deblockChroma: (_ isVertical: Bool, Out, Int, [Int16]) -> Void
  let saoEdge: (Out, Int, In, Int, Int32, Int32, Int32, [Int8]) -> Void
  let saoBand: (Out, Int, In, Int, Int32, Int32, Int32, [Int8]) -> Void
  let saoEdgeStatistics: (inout [Int32], inout [Int32], In, Int, In, Int, Int32, Int32, Int32) -> Void
  let saoBandStatistics: (inout [Int32], inout [Int32], In, Int, In, Int, Int32, Int32) -> Void
}

extension SampleKernels where Sample == UInt8 {
  init(_ table: UnsafePointer<OVTHEVCKernels8>) {
    let k = table.pointee
    depth = 8
    let shapes = Int32(0)..<Int32(OVT_BLOCK_SHAPES)
    compare = [
      shapes.map { shape in { Int(OVTHEVCKernels8.sad(table, shape, $0, $1, $2, $3)) } },
      shapes.map { shape in { Int(OVTHEVCKernels8.satd(table, shape, $0, $1, $2, $3)) } },
      shapes.map { shape in { Int(OVTHEVCKernels8.ssd(table, shape, $0, $1, $2, $3)) } },
    ]
    sadX4 = shapes.map { shape in
      { source, sourceStride, references, stride in
        var sums: [Int32] = [0, 0, 0, 0]
        OVTHEVCKernels8.sadX4(
          table, shape, source, sourceStride, references[0], references[1], references[2], references[3],
          stride,
          &sums)
        return sums
      }
    }
    satd8 = (Int32(3)...6).map { log2 in { Int(OVTHEVCKernels8.satd8(table, log2, $0, $1, $2, $3)) } }
    mean = { OVTHEVCKernels8.mean(table, $0, $1, $2, $3, $4, $5, $6) }
    difference = { k.difference($0, $1, $2, $3, $4, $5, $6, $7) }
    reconstruct = { k.reconstruct($0, $1, $2, $3, $4, $5, $6, $7) }
    reconstructDC = { k.reconstructDC($0, $1, $2, $3, $4, $5, $6) }
    smooth = { k.smoothEdge($0, $1, $2, $3) }
    intra = { OVTHEVCKernels8.intra(table, $0, $1, $2, $3, $4, $5) }
    transpose = { k.transpose($0, $1, $2, $3, $4) }
    halves = { OVTHEVCKernels8.lumaHalves(table, $0, $1, $2, $3, $4, $5, $6) }
    interpolate = {
      if $0 { k.luma($1, $2, $3, $4, $5, $6, $7, $8) } else { k.chroma($1, $2, $3, $4, $5, $6, $7, $8) }
    }
    interpolateHigh = {
      if $0 {
        k.lumaHigh($1, $2, $3, $4, $5, $6, $7, $8)
      } else {
        k.chromaHigh($1, $2, $3, $4, $5, $6, $7, $8)
      }
    }
    round = { k.round($0, $1, $2, $3, $4, $5) }
    average = { k.average($0, $1, $2, $3, $4, $5, $6) }
    weigh = { k.weigh($0, $1, $2, $3, $4, $5, $6, $7, $8) }
    weighBoth = { k.weighBoth($0, $1, $2, $3, $4, $5, $6, $7, $8[0], $8[1], $8[2], $8[3]) }
    deblockLuma = {
      if $0 { k.deblockLumaVertical($1, $2, $3, $4) } else { k.deblockLumaHorizontal($1, $2, $3, $4) }
    }
    deblockChroma = {
      if $0 { k.deblockChromaVertical($1, $2, $3) } else { k.deblockChromaHorizontal($1, $2, $3) }
    }
    saoEdge = { k.saoEdge($0, $1, $2, $3, $4, $5, $6, $7) }
    saoBand = { k.saoBand($0, $1, $2, $3, $4, $5, $6, $7) }
    saoEdgeStatistics = { k.saoEdgeStatistics(&$0, &$1, $2, $3, $4, $5, $6, $7, $8) }
    saoBandStatistics = { k.saoBandStatistics(&$0, &$1, $2, $3, $4, $5, $6, $7) }
  }
}

extension SampleKernels where Sample == UInt16 {
  init(_ table: UnsafePointer<OVTHEVCKernels16>) {
    let k = table.pointee
    depth = 10
    let shapes = Int32(0)..<Int32(OVT_BLOCK_SHAPES)
    compare = [
      shapes.map { shape in { Int(OVTHEVCKernels16.sad(table, shape, $0, $1, $2, $3)) } },
      shapes.map { shape in { Int(OVTHEVCKernels16.satd(table, shape, $0, $1, $2, $3)) } },
      shapes.map { shape in { Int(OVTHEVCKernels16.ssd(table, shape, $0, $1, $2, $3)) } },
    ]
    sadX4 = shapes.map { shape in
      { source, sourceStride, references, stride in
        var sums: [Int32] = [0, 0, 0, 0]
        OVTHEVCKernels16.sadX4(
          table, shape, source, sourceStride, references[0], references[1], references[2], references[3],
          stride,
          &sums)
        return sums
      }
    }
    satd8 = (Int32(3)...6).map { log2 in { Int(OVTHEVCKernels16.satd8(table, log2, $0, $1, $2, $3)) } }
    mean = { OVTHEVCKernels16.mean(table, $0, $1, $2, $3, $4, $5, $6) }
    difference = { k.difference($0, $1, $2, $3, $4, $5, $6, $7) }
    reconstruct = { k.reconstruct($0, $1, $2, $3, $4, $5, $6, $7) }
    reconstructDC = { k.reconstructDC($0, $1, $2, $3, $4, $5, $6) }
    smooth = { k.smoothEdge($0, $1, $2, $3) }
    intra = { OVTHEVCKernels16.intra(table, $0, $1, $2, $3, $4, $5) }
    transpose = { k.transpose($0, $1, $2, $3, $4) }
    halves = { OVTHEVCKernels16.lumaHalves(table, $0, $1, $2, $3, $4, $5, $6) }
    interpolate = {
      if $0 { k.luma($1, $2, $3, $4, $5, $6, $7, $8) } else { k.chroma($1, $2, $3, $4, $5, $6, $7, $8) }
    }
    interpolateHigh = {
      if $0 {
        k.lumaHigh($1, $2, $3, $4, $5, $6, $7, $8)
      } else {
        k.chromaHigh($1, $2, $3, $4, $5, $6, $7, $8)
      }
    }
    round = { k.round($0, $1, $2, $3, $4, $5) }
    average = { k.average($0, $1, $2, $3, $4, $5, $6) }
    weigh = { k.weigh($0, $1, $2, $3, $4, $5, $6, $7, $8) }
    weighBoth = { k.weighBoth($0, $1, $2, $3, $4, $5, $6, $7, $8[0], $8[1], $8[2], $8[3]) }
    deblockLuma = {
      if $0 { k.deblockLumaVertical($1, $2, $3, $4) } else { k.deblockLumaHorizontal($1, $2, $3, $4) }
    }
    deblockChroma = {
      if $0 { k.deblockChromaVertical($1, $2, $3) } else { k.deblockChromaHorizontal($1, $2, $3) }
    }
    saoEdge = { k.saoEdge($0, $1, $2, $3, $4, $5, $6, $7) }
    saoBand = { k.saoBand($0, $1, $2, $3, $4, $5, $6, $7) }
    saoEdgeStatistics = { k.saoEdgeStatistics(&$0, &$1, $2, $3, $4, $5, $6, $7, $8) }
    saoBandStatistics = { k.saoBandStatistics(&$0, &$1, $2, $3, $4, $5, $6, $7) }
  }
}
