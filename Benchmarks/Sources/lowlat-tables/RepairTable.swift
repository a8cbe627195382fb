// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import SessionSupport
import VideoToolbox

/// Compares the size of a refresh from a long-term reference with that of a key frame for the same
/// picture and QP.
enum RepairTable {
  private static let qp = 30
  /// The number of frames between the acknowledged frame and the refresh.
  private static let ages = [4, 10, 30]

  static func table(_ clips: [TableClip]) throws -> ResultTable {
    var table = ResultTable(
      "A repair at QP \(qp): bytes, means over the clip, and share of a key frame",
      ["clip", "key frame", "usual frame"] + ages.map { "refresh, reference \($0) frames old or more" })
    for clip in clips {
      let places = Array(stride(from: 36, to: min(clip.pictures.count * 2, 300), by: 24))
      let ordinary = try size(clip, at: places, age: nil, isKeyFrame: false)
      let key = try size(clip, at: places, age: nil, isKeyFrame: true)
      let refreshes = try ages.map { try size(clip, at: places, age: $0, isKeyFrame: false) }
      table.add(
        [clip.name, "\(key)", "\(ordinary)"]
          + refreshes.map { "\($0), \(Figure.percent(Double($0) / Double(max(key, 1)), 0))" })
    }
    return table
  }

  /// The mean size in bytes of the frames at `places`, which are key frames, refreshes from a
  /// reference of the given age, or neither.
  private static func size(_ clip: TableClip, at places: [Int], age: Int?, isKeyFrame: Bool) throws -> Int {
    var configuration = LowLatencySession.Configuration(rate: 200_000_000)
    configuration.hasLongTermReferences = true
    let session = try LowLatencySession(clip.pictures, configuration)
    var total = 0
    var tokens: [(frame: Int, token: Int64)] = []
    for index in 0...(places.last ?? 0) {
      var options: [CFString: Any] = [kVTEncodeFrameOptionKey_BaseFrameQP: qp]
      let isMeasured = places.contains(index)
      if isMeasured, isKeyFrame { options[kVTEncodeFrameOptionKey_ForceKeyFrame] = true }
      if let age {
        if isMeasured { options[kVTEncodeFrameOptionKey_ForceLTRRefresh] = true }
        // Acknowledgments arrive `age` frames later and are repeated with every frame, so the
        // encoder never knows of a newer frame.
        let known = tokens.filter { $0.frame + age <= index }.map { NSNumber(value: $0.token) }
        options[kVTEncodeFrameOptionKey_AcknowledgedLTRTokens] = known
        tokens.removeAll { $0.frame + 200 < index }
      }
      guard let frame = try session.encode(picture: index, options: options) else { continue }
      if let token = frame.token { tokens.append((index, token)) }
      guard isMeasured else { continue }
      if age != nil, frame.isKeyFrame {
        throw BenchmarkError(
          description: "a refresh became a key frame: no long-term reference was acknowledged")
      }
      total += frame.stream.count
    }
    return total / max(places.count, 1)
  }
}
