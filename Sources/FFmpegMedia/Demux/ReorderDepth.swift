// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import VideoBitstream

/// How many pictures an H.264 decoder has to hold before it gives one out in the order of presentation.
///
/// libavcodec guesses the depth of a stream that does not say it from the pictures that it has seen, and
/// drops those that turn out to be too late. A decoder that begins with the depth that clause C.4.5.3 of
/// H.264 waits for drops none.
struct ReorderDepth {
  /// Frames, 0 to 16.
  let frames: Int
  /// libavcodec may infer the depth of parameter sets that come later from their level, as E.2.1 says. It
  /// does so for streams whose output order is their decoding order, too, which then come late for nothing.
  let infersFromLevel: Bool

  /// - Parameters:
  ///   - record: an `avcC`, or parameter sets behind start codes; empty if they come with the samples.
  ///   - known: what a container's times tell, 0 for nothing.
  init(h264 record: [UInt8], known: Int) {
    let data = Data(record)
    let units =
      (try? CoreMedia.DecoderConfiguration(avcC: data))?.parameterSets
      ?? NALCodec.h264.parameterSets(in: data)
    let type = H264NALUnitType.sequenceParameterSet.rawValue
    let sets = units.filter { $0.first.map { NALCodec.h264.unitType($0) } == type }
      .compactMap { try? H264SequenceParameterSet(nalUnit: $0) }
    let told = sets.map(\.maxReorderFrames).max() ?? 16
    frames = min(max(told, known), 16)
    infersFromLevel = !sets.contains { $0.vui?.restriction == nil && $0.inferredMaxReorderFrames == 0 }
  }
}
