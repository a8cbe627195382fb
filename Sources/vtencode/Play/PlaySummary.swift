// SPDX-License-Identifier: Apache-2.0
import Foundation
import OpenVideoToolboxDisplay

/// The results of playing a movie.
struct PlaySummary {
  let name: String
  let seconds: Double
  let result: (shown: Int, dropped: Int, errors: [Double], note: String)
  let offsets: [Double]
  let damage: SourceDamage

  var text: String {
    var lines = [
      "\(name): \(TextFormat.plural(result.shown, "frame")) shown, \(TextFormat.grouped(result.dropped)) dropped, "
        + "in \(TextFormat.fixed(seconds, 1)) s (\(result.note))"
    ]
    if !result.errors.isEmpty {
      lines.append("presentation error    \(Self.percentiles(result.errors.map(abs)))")
    }
    if !offsets.isEmpty {
      lines.append("audio offset from picture  \(Self.percentiles(offsets.map(abs)))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The summary as JSON, in seconds: percentiles of the presentation errors and of the offset
  /// between audio and picture, the counts, and the duration.
  func json() throws -> String {
    var figures = ["shown": Double(result.shown), "dropped": Double(result.dropped), "seconds": seconds]
    (figures["damagedPictures"], figures["lostPictures"]) = (Double(damage.concealed), Double(damage.lost))
    for (name, values) in [("presentationError", result.errors), ("soundOffset", offsets)] {
      let distances = values.map(abs)
      for (label, share) in Self.shares {
        figures[name + label.uppercased()] = OVTDisplayStatistics.percentile(share, of: distances)
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(figures), as: UTF8.self) + "\n"
  }

  private static let shares = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)]

  /// Percentiles in milliseconds, from values in seconds.
  private static func percentiles(_ values: [Double]) -> String {
    shares.map { name, share in
      let value = OVTDisplayStatistics.percentile(share, of: values) ?? 0
      return "\(name) \(TextFormat.fixed(value * 1000, 2)) ms"
    }.joined(separator: ", ")
  }
}
