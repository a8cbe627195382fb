// SPDX-License-Identifier: Apache-2.0
import Foundation
import OpenVideoToolboxDisplay

/// What came of playing a movie.
struct PlaySummary {
  let name: String
  let seconds: Double
  let result: (shown: Int, dropped: Int, errors: [Double], note: String)
  let offsets: [Double]

  var text: String {
    var lines = [
      "\(name): \(Wording.plural(result.shown, "frame")) shown, \(Wording.grouped(result.dropped)) dropped, "
        + "in \(Wording.fixed(seconds, 1)) s (\(result.note))"
    ]
    if !result.errors.isEmpty {
      lines.append("presentation error    \(Self.percentiles(result.errors.map(abs)))")
    }
    if !offsets.isEmpty {
      lines.append("sound beside picture  \(Self.percentiles(offsets.map(abs)))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// In milliseconds.
  private static func percentiles(_ values: [Double]) -> String {
    [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)].map { name, share in
      let value = OVTDisplayStatistics.percentile(share, of: values) ?? 0
      return "\(name) \(Wording.fixed(value * 1000, 2)) ms"
    }.joined(separator: ", ")
  }
}
