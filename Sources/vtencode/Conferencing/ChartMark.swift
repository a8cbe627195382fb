// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The appearance of a data series in a chart: a colour, which depends on the page's light or dark
/// scheme, and a shape or pattern that distinguishes it without colour.
enum ChartMark: String, CaseIterable, Sendable {
  case first
  case second
  case key
  case repair
  case alarm
  case line
  case freeze

  var color: String { "var(--\(rawValue))" }

  /// The fill of bars: plain for the first series, with a pattern for the others.
  var fill: String { self == .first || self == .freeze ? color : "url(#\(rawValue))" }

  /// The dash pattern of lines, as lengths of dashes and gaps; nil for a solid line.
  var dashes: String? {
    switch self {
    case .first, .key, .repair, .freeze: nil
    case .second: "7 3"
    case .alarm: "2 3"
    case .line: "10 4 2 4"
    }
  }

  var dashAttribute: String { dashes.map { " stroke-dasharray=\"\($0)\"" } ?? "" }

  /// The definitions of the patterns that `fill` refers to.
  static let patterns: String = {
    let drawings: [(ChartMark, String)] = [
      (.second, "<path d=\"M0 0L4 4\" stroke=\"var(--paper)\" stroke-width=\"1\"/>"),
      (.key, "<path d=\"M0 2H4\" stroke=\"var(--paper)\" stroke-width=\"1\"/>"),
      (.repair, "<circle cx=\"2\" cy=\"2\" r=\"1\" fill=\"var(--paper)\"/>"),
      (.alarm, "<path d=\"M0 4L4 0\" stroke=\"var(--paper)\" stroke-width=\"1\"/>"),
      (.line, "<path d=\"M2 0V4\" stroke=\"var(--paper)\" stroke-width=\"1\"/>"),
    ]
    return "<defs>"
      + drawings.map { mark, drawing in
        "<pattern id=\"\(mark.rawValue)\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
          + "<rect width=\"4\" height=\"4\" fill=\"\(mark.color)\"/>\(drawing)</pattern>"
      }.joined() + "</defs>"
  }()

  /// A small picture of the mark for a legend.
  var sample: String {
    "<svg viewBox=\"0 0 24 13\" aria-hidden=\"true\">"
      + (self == .line || self == .alarm
        ? "<path d=\"M1 6.5H23\" stroke=\"\(color)\" stroke-width=\"3\"\(dashAttribute)/>"
        : "<rect x=\"1\" y=\"1\" width=\"22\" height=\"11\" fill=\"\(fill)\"/>") + "</svg>"
  }
}
