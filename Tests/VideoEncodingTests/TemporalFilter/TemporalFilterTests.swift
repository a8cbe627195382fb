// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import VideoEncoding

/// The temporal filter on pictures whose clean samples are known.
@Suite struct TemporalFilterTests {
  /// A picture in memory.
  private struct Picture {
    let width: Int
    let height: Int
    var luma: [UInt8]
    var cb: [UInt8]
    var cr: [UInt8]
    var chromaWidth: Int { (width + 1) / 2 }

    /// Calls a function with the picture as a source.
    func withSource<T>(_ body: (SourcePicture) -> T) -> T {
      luma.withUnsafeBufferPointer { luma in
        cb.withUnsafeBufferPointer { cb in
          cr.withUnsafeBufferPointer { cr in
            body(
              SourcePicture(
                width: width, height: height, luma: luma.baseAddress!, lumaBytesPerRow: width,
                chroma: .planar(
                  cb: cb.baseAddress!, cbBytesPerRow: chromaWidth, cr: cr.baseAddress!,
                  crBytesPerRow: chromaWidth)))
          }
        }
      }
    }
  }

  /// A random texture that repeats nowhere, displaced by a vector in luma samples: random values at
  /// the points of a lattice, and smooth steps between them.
  private static func texture(_ width: Int, _ height: Int, x dx: Double, y dy: Double) -> Picture {
    func random(_ x: Int, _ y: Int, _ plane: Int) -> Double {
      var hash = UInt32(truncatingIfNeeded: x &* 374_761_393 &+ y &* 668_265_263 &+ plane &* 974_634_777)
      hash = (hash ^ (hash >> 13)) &* 1_274_126_177
      return Double((hash ^ (hash >> 16)) & 255)
    }
    func value(_ x: Double, _ y: Double, _ plane: Int) -> UInt8 {
      let (u, v) = (x / 9, y / 9)
      let (left, top) = (u.rounded(.down), v.rounded(.down))
      func step(_ t: Double) -> Double { t * t * (3 - 2 * t) }
      let (a, b) = (step(u - left), step(v - top))
      let (i, j) = (Int(left), Int(top))
      let above = random(i, j, plane) * (1 - a) + random(i + 1, j, plane) * a
      let below = random(i, j + 1, plane) * (1 - a) + random(i + 1, j + 1, plane) * a
      return UInt8(clamping: Int((40 + 0.6 * (above * (1 - b) + below * b)).rounded()))
    }
    var picture = Picture(width: width, height: height, luma: [], cb: [], cr: [])
    for y in 0..<height {
      for x in 0..<width { picture.luma.append(value(Double(x) - dx, Double(y) - dy, 0)) }
    }
    for y in 0..<(height + 1) / 2 {
      for x in 0..<(width + 1) / 2 {
        let (u, v) = (Double(2 * x) - dx, Double(2 * y) - dy)
        picture.cb.append(value(u, v, 1))
        picture.cr.append(value(u, v, 2))
      }
    }
    return picture
  }

  /// Adds noise with a normal distribution.
  private static func noisy(_ picture: Picture, deviation: Double, seed: UInt64) -> Picture {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func uniform() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 11) / Double(1 << 53)
    }
    func add(_ sample: UInt8) -> UInt8 {
      let normal = sqrt(-2 * log(max(uniform(), 1e-12))) * cos(2 * .pi * uniform())
      return UInt8(clamping: Int((Double(sample) + deviation * normal).rounded()))
    }
    var result = picture
    result.luma = picture.luma.map(add)
    result.cb = picture.cb.map(add)
    result.cr = picture.cr.map(add)
    return result
  }

  private static func filter(_ picture: Picture, with neighbours: [Picture], limit: Int) -> Picture {
    let filter = TemporalFilter()
    let copy = picture.withSource { filter.copy($0) }
    let references = neighbours.map { neighbour in
      let other = neighbour.withSource { filter.copy($0) }
      return TemporalFilter.Reference(
        picture: other, motion: filter.motion(of: copy, in: other), weight: 256)
    }
    // A value that the filter has to overwrite everywhere.
    var result = picture
    result.luma = result.luma.map { ~$0 }
    result.cb = result.cb.map { ~$0 }
    result.cr = result.cr.map { ~$0 }
    let chromaWidth = picture.chromaWidth
    result.luma.withUnsafeMutableBufferPointer { luma in
      result.cb.withUnsafeMutableBufferPointer { cb in
        result.cr.withUnsafeMutableBufferPointer { cr in
          let output = TemporalFilter.Output(
            luma: luma.baseAddress!, lumaBytesPerRow: picture.width, cb: cb.baseAddress!,
            cbBytesPerRow: chromaWidth, cr: cr.baseAddress!, crBytesPerRow: chromaWidth, chromaStep: 1)
          for row in 0..<copy.rows {
            filter.filterRow(row, of: copy, with: references, limit: limit, to: output)
          }
        }
      }
    }
    return result
  }

  private static func psnr(_ a: [UInt8], _ b: [UInt8]) -> Double {
    let sum = zip(a, b).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
    return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(a.count) / sum)
  }

  /// The motion of the neighbours in luma samples for each picture, and the gain in dB that is
  /// expected. Much leaves the picture in the fastest one.
  @Test(arguments: [(0.0, 0.0, 3.5), (3.25, -1.5, 3.5), (-22.75, 9.0, 2.3), (0.5, 0.25, 3.5)])
  func takesNoiseAwayAlongTheMotion(_ dx: Double, _ dy: Double, _ gain: Double) {
    let (width, height) = (176, 112)
    let clean = Self.texture(width, height, x: 0, y: 0)
    let source = Self.noisy(clean, deviation: 6, seed: 1)
    let neighbours = [-2.0, -1, 1, 2].enumerated().map { i, step in
      Self.noisy(
        Self.texture(width, height, x: step * dx, y: step * dy), deviation: 6, seed: UInt64(i + 2))
    }
    let filtered = Self.filter(source, with: neighbours, limit: 30)
    // Five pictures with independent noise would bring 7 dB.
    #expect(Self.psnr(filtered.luma, clean.luma) > Self.psnr(source.luma, clean.luma) + gain)
    #expect(Self.psnr(filtered.cb, clean.cb) > Self.psnr(source.cb, clean.cb) + gain - 0.5)
    #expect(Self.psnr(filtered.cr, clean.cr) > Self.psnr(source.cr, clean.cr) + gain - 0.5)
  }

  @Test func findsTheMotionInQuartersOfSamples() {
    let filter = TemporalFilter()
    let picture = Self.texture(160, 96, x: 0, y: 0).withSource { filter.copy($0) }
    let reference = Self.texture(160, 96, x: 5.25, y: -3.5).withSource { filter.copy($0) }
    let field = filter.motion(of: picture, in: reference)
    // Away from the edges, where the samples do not leave the picture. Between samples the search
    // may stop next to the best position.
    var exact = 0
    for row in 1..<5 {
      for column in 1..<9 {
        let found = field.vectors[row * 10 + column]
        if found == MotionField.Vector(x: 21, y: -14) { exact += 1 }
        #expect(abs(found.x - 21) <= 2 && abs(found.y + 14) <= 2, "\(found)")
      }
    }
    #expect(exact >= 29)
  }

  @Test func leavesAnotherSceneAlone() {
    let source = Self.texture(96, 64, x: 0, y: 0)
    var other = source
    // Black and white, and the texture has neither.
    var state: UInt32 = 7
    other.luma = other.luma.map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return state >> 31 == 0 ? 0 : 255
    }
    other.cb = other.cb.map { 255 - $0 }
    other.cr = other.cr.map { 255 - $0 }
    let filtered = Self.filter(source, with: [other, other], limit: 20)
    #expect(filtered.luma == source.luma)
    #expect(filtered.cb == source.cb)
    #expect(filtered.cr == source.cr)
  }

  @Test(arguments: [(1, 1), (2, 3), (15, 17), (33, 16), (161, 7)])
  func writesEverySampleOfAnySize(_ width: Int, _ height: Int) {
    let source = Self.texture(width, height, x: 0, y: 0)
    let filtered = Self.filter(source, with: [source, source], limit: 255)
    // Static content without noise stays unchanged.
    #expect(filtered.luma == source.luma)
    #expect(filtered.cb == source.cb)
    #expect(filtered.cr == source.cr)
  }

  @Test func withoutStrengthOrNeighboursNothingChanges() {
    let source = Self.noisy(Self.texture(64, 48, x: 0, y: 0), deviation: 9, seed: 3)
    let neighbour = Self.noisy(source, deviation: 9, seed: 4)
    #expect(Self.filter(source, with: [neighbour], limit: 0).luma == source.luma)
    #expect(Self.filter(source, with: [], limit: 40).luma == source.luma)
  }
}
