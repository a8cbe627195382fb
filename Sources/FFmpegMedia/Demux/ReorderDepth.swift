// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import VideoBitstream

/// The number of pictures that an H.264 decoder must hold before it outputs one in presentation
/// order.
///
/// If the stream does not signal it, libavcodec infers the depth from the pictures decoded so far,
/// and drops pictures that turn out to be too late. A decoder that starts with the depth for which
/// the bumping process of clause C.4.5.3 of H.264 waits drops none.
struct ReorderDepth {
  /// The depth in frames, 0 to 16.
  let frames: Int
  /// Whether libavcodec may infer the depth of later parameter sets from their level, as clause
  /// E.2.1 says. It would do so also for streams whose output order is their decoding order, and
  /// delay their pictures for nothing.
  let infersFromLevel: Bool

  /// - Parameters:
  ///   - record: An `avcC` record, or parameter sets with start codes; empty if they are in the
  ///     samples.
  ///   - known: The depth that the container's times show, in frames; 0 if they show none.
  init(h264 record: [UInt8], known: Int) {
    let data = Data(record)
    let units =
      (try? CoreMedia.DecoderConfiguration(avcC: data))?.parameterSets
      ?? NALCodec.h264.parameterSets(in: data)
    let type = H264NALUnitType.sequenceParameterSet.rawValue
    let sets = units.filter { $0.first.map { NALCodec.h264.unitType($0) } == type }
      .compactMap { try? H264SequenceParameterSet(nalUnit: $0) }
    let signalled = sets.map(\.maxReorderFrames).max() ?? 16
    frames = min(max(signalled, known), 16)
    infersFromLevel = !sets.contains { $0.vui?.restriction == nil && $0.inferredMaxReorderFrames == 0 }
  }
}
