// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HEVCEncoder

/// Streams that are longer than the bits of slice_pic_order_cnt_lsb can count. The order counts are
/// raised between pictures, as if many had been left out, so that few need be coded.
@Suite("Picture order counts of long streams")
struct OrderCountTests {
  /// Encodes pictures, and compares what a decoder shows with the reconstruction.
  /// - Parameters:
  ///   - orders: the order count of each picture after the first, which stays if it would fall.
  ///   - options: gives the options of the picture with a number, from 0.
  /// - Returns: for each picture whether it is a key frame; nil if a picture differs.
  private func keyFrames(_ orders: [Int], options: (Int) -> HEVCFrameOptions) throws -> [Bool]? {
    var configuration = HEVCEncoderConfiguration(width: 64, height: 40)
    configuration.effort = 4
    configuration.maximumReferences = 4
    configuration.lowLatency.longTermReferences = 2
    configuration.lowLatency.allowsNonReferenceFrames = true
    configuration.lowLatency.temporalLayers = 2
    let encoder = try LowLatencyEncoder(configuration: configuration)
    let decoder = try #require(ReferenceDecoder())
    let content = Content(kind: .pan, width: 64, height: 40, seed: 1)
    var kinds: [Bool] = []
    for n in 0...orders.count {
      if n > 0 { encoder.order = max(encoder.order, orders[n - 1]) }
      let coded = try content.withPicture(n) { picture -> (isKey: Bool, data: [UInt8]) in
        let frame = try encoder.encode(.eightBits(picture), options: options(n))
        return (frame.properties.isKeyFrame, frame.data)
      }
      var shown: PlanarFrame?
      if case .eightBits(let coder) = encoder.coder, let last = encoder.lastPicture {
        shown = coder.withPlanes(last) {
          PlanarFrame(
            width: 64, height: 40, depth: 8, luma: $0, cb: $1, cr: $2, lumaStride: $3,
            chromaStride: $4)
        }
      }
      guard let coded else { return nil }
      kinds.append(coded.isKey)
      let decoded = try decoder.decode(coded.data)
      guard decoded == shown else {
        Issue.record("picture \(n)")
        return nil
      }
    }
    return kinds
  }

  @Test("Long-term references are told apart after 65,536 pictures")
  func longTerm() throws {
    let orders = (1...60).map { $0 * 7001 }
    let kinds = try keyFrames(orders) { n in
      var options = HEVCFrameOptions()
      if n % 13 == 3 { options.longTermSlot = 0 }
      if n == 7 || n == 41 { options.longTermSlot = 1 }
      if n > 7 && n % 5 == 4 { options.references = .longTerm([1, 0]) }
      return options
    }
    #expect(kinds == [true] + [Bool](repeating: false, count: 60))
  }

  @Test("Without references of layer 0 a key frame comes in time", arguments: [0, 1])
  func withoutAnchor(layer: Int) throws {
    let kinds = try keyFrames([10_000, 20_000, 30_000, 32_767, 32_768, 0, 0]) { n in
      var options = HEVCFrameOptions()
      if n == 0 {
        options.longTermSlot = 0
      } else {
        options.temporalLayer = layer
        options.isReference = layer == 1
      }
      return options
    }
    #expect(kinds == [true, false, false, false, false, true, false, false])
  }
}
