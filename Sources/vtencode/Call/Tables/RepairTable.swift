import Foundation
import VideoToolbox

/// What a refresh from a long-term reference takes beside a key frame of the same picture at the same QP.
enum RepairTable {
  private static let qp = 30
  /// Frames from the one that the receiver has acknowledged to the refresh.
  private static let ages = [4, 10, 30]

  static func markdown(_ sources: [MovieSource], limit: Int) throws -> String {
    var table = MarkdownTable(
      "A repair at QP \(qp): bytes, means over the movie, and share of a key frame",
      ["movie", "key frame", "usual frame"]
        + ages.map { "refresh, reference \($0) frames old or more" })
    for source in sources {
      let clip = try TableClip(source, limit: limit)
      let places = Array(stride(from: 36, to: min(clip.pictures.buffers.count * 2, 300), by: 24))
      let usual = try sizes(clip, at: places, age: nil, isKeyFrame: false)
      let key = try sizes(clip, at: places, age: nil, isKeyFrame: true)
      let refreshes = try ages.map { try sizes(clip, at: places, age: $0, isKeyFrame: false) }
      table.add(
        [clip.name, Wording.bytes(key), Wording.bytes(usual)]
          + refreshes.map { "\(Wording.bytes($0)), \(Wording.percent(Double($0) / Double(max(key, 1)), 0))" })
    }
    return table.text
  }

  /// Mean bytes of the frames at `places`: key frames, refreshes from a reference of an age, or neither.
  private static func sizes(_ clip: TableClip, at places: [Int], age: Int?, isKeyFrame: Bool) throws -> Int {
    var plan = clip.plan(rate: 200_000_000)
    plan.recovery = .ltr
    plan.measuresQuality = false
    let encoder = try CallEncoder(plan)
    var source = clip.pictures
    var total = 0
    var tokens: [(frame: Int, token: Int64)] = []
    for index in 0...(places.last ?? 0) {
      guard let picture = source.next() else { break }
      var options: [CFString: Any] = [kVTEncodeFrameOptionKey_BaseFrameQP: qp]
      let isMeasured = places.contains(index)
      if isMeasured, isKeyFrame { options[kVTEncodeFrameOptionKey_ForceKeyFrame] = true }
      if let age {
        if isMeasured { options[kVTEncodeFrameOptionKey_ForceLTRRefresh] = true }
        // The word comes `age` frames later, and with every frame anew: the encoder never has newer than that.
        let known = tokens.filter { $0.frame + age <= index }.map { NSNumber(value: $0.token) }
        options[kVTEncodeFrameOptionKey_AcknowledgedLTRTokens] = known
        tokens.removeAll { $0.frame + 200 < index }
      }
      guard let output = try encoder.encode(picture, options: options) else { continue }
      if let token = output.token { tokens.append((index, token)) }
      guard isMeasured else { continue }
      if age != nil, output.isKeyFrame {
        throw Failure("a refresh became a key frame: no long-term reference was acknowledged")
      }
      total += output.units.reduce(0) { $0 + $1.count }
    }
    return total / max(places.count, 1)
  }
}
