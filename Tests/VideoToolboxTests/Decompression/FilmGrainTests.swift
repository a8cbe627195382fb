// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing
import VideoToolbox

/// Streams that tell of film grain (H.274, 8.5), which a display may put on: pictures are those of
/// the decoding process, however they are asked for, and never uninitialised memory.
/// libavcodec by itself puts grain on in a picture of its own, which it fills only where it knows
/// the kind.
@Suite struct FilmGrainTests {
  /// Strings of bits.
  private struct Bits {
    private(set) var bytes: [UInt8] = []
    private var count = 0

    mutating func u(_ value: Int, _ width: Int) {
      for bit in (0..<width).reversed() {
        if count % 8 == 0 { bytes.append(0) }
        if value >> bit & 1 != 0 { bytes[bytes.count - 1] |= 0x80 >> UInt8(count % 8) }
        count += 1
      }
    }
    mutating func ue(_ value: Int) {
      let width = (value + 1).bitWidth - (value + 1).leadingZeroBitCount
      u(0, width - 1)
      u(value + 1, width)
    }
    mutating func se(_ value: Int) { ue(value > 0 ? 2 * value - 1 : -2 * value) }
    mutating func finish() {
      u(1, 1)
      while count % 8 != 0 { u(0, 1) }
    }
  }

  /// A SEI unit with the film grain of one picture: strong, in luma, at all intensities.
  ///
  /// - Parameter model: 0: frequency filtering, 1: auto-regression, which libavcodec does not know.
  private func grain(model: Int) -> [UInt8] {
    var payload = Bits()
    payload.u(0, 1)  // film_grain_characteristics_cancel_flag
    payload.u(model, 2)  // film_grain_model_id
    payload.u(0, 1)  // separate_colour_description_present_flag
    payload.u(0, 2)  // blending_mode_id: additive
    payload.u(2, 4)  // log2_scale_factor
    payload.u(0b100, 3)  // comp_model_present_flag: luma
    payload.u(0, 8)  // num_intensity_intervals_minus1
    payload.u(2, 3)  // num_model_values_minus1
    payload.u(0, 8)
    payload.u(255, 8)
    payload.se(100)
    payload.se(8)
    payload.se(8)
    payload.ue(0)  // film_grain_characteristics_repetition_period: this picture
    payload.finish()
    var unit: [UInt8] = [6, 19, UInt8(payload.bytes.count)]
    var zeros = 0
    for byte in payload.bytes {
      if zeros >= 2, byte <= 3 { unit.append(3) }
      zeros = byte == 0 ? zeros + 1 : 0
      unit.append(byte)
    }
    return unit + [0x80]
  }

  private static let grained = [0, 3]

  private func samples(grainModel: Int?) throws -> [CMSampleBuffer] {
    let session = try makeSession(
      width: 128, height: 96, properties: [kVTCompressionPropertyKey_AllowFrameReordering: false])
    let samples = try encode(session, TestClip(width: 128, height: 96), count: 6)
    guard let grainModel else { return samples }
    return try samples.enumerated().map { index, sample in
      guard Self.grained.contains(index) else { return sample }
      var data = Data()
      for unit in [grain(model: grainModel)] + sample.nalUnits {
        withUnsafeBytes(of: UInt32(unit.count).bigEndian) { data.append(contentsOf: $0) }
        data += unit
      }
      return try SampleMovie.sample(
        data, try #require(sample.formatDescription), time: sample.presentationTimeStamp,
        isSync: sample.isSync)
    }
  }

  @Test(arguments: [VTDecodeFrameFlags(), ._EnableTemporalProcessing, ._EnableAsynchronousDecompression])
  func picturesAreThoseOfTheDecodingProcess(flags: VTDecodeFrameFlags) throws {
    for isRealTime in [false, true] {
      let pictures = try [nil, 0, 1].map { (model: Int?) in
        let samples = try samples(grainModel: model)
        let session = try makeDecoder(
          try #require(samples[0].formatDescription),
          properties: [kVTDecompressionPropertyKey_RealTime: isRealTime])
        let collector = ImageCollector()
        try decode(session, samples, flags, into: collector)
        try check(VTDecompressionSessionFinishDelayedFrames(session), "finish")
        try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
        #expect(collector.all.allSatisfy { $0.status == noErr })
        return collector.all.sorted { $0.time < $1.time }.compactMap { $0.image.map(planar) }
      }
      #expect(pictures[0].count == 6)
      // Models that are known and such as are not.
      #expect(pictures[1] == pictures[0] && pictures[2] == pictures[0], "real time: \(isRealTime)")
    }
  }
}
