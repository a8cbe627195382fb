// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A chart of speed and bit rate as SVG. Encoders further to the right and further down are better.
struct Chart {
  struct Point {
    var label: String
    /// Points of the same family are connected by a line.
    var family: String
    /// The speed relative to x264 superfast.
    var speed: Double
    /// The BD-rate relative to x264 superfast, in percent.
    var bits: Double
  }

  var name: String
  var title: String
  var points: [Point]

  private static let size = (width: 760.0, height: 460.0)
  private static let margin = (left: 64.0, top: 40.0, right: 110.0, bottom: 48.0)
  private static let colours = ["#1f6feb", "#d1242f", "#57606a", "#1a7f37"]

  var svg: String {
    let size = Self.size
    let margin = Self.margin
    var families: [String] = []
    for p in points where !families.contains(p.family) { families.append(p.family) }
    let speeds = points.map { log2($0.speed) }
    let low = floor(((speeds.min() ?? -1) - 0.1) * 2) / 2
    let high = ceil(((speeds.max() ?? 1) + 0.1) * 2) / 2
    let bottom = floor(((points.map(\.bits).min() ?? -10) - 2) / 10) * 10
    let top = ceil(((points.map(\.bits).max() ?? 10) + 2) / 10) * 10
    func x(_ speed: Double) -> Double {
      margin.left + (log2(speed) - low) / (high - low) * (size.width - margin.left - margin.right)
    }
    func y(_ bits: Double) -> Double {
      margin.top + (top - bits) / (top - bottom) * (size.height - margin.top - margin.bottom)
    }
    func number(_ value: Double) -> String { String(format: "%.1f", value) }
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Int(size.width))\" height=\"\(Int(size.height))\" "
        + "font-family=\"sans-serif\" font-size=\"12\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
      "<text x=\"\(number(margin.left))\" y=\"22\" font-size=\"14\">\(title)</text>",
    ]
    func grid(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
      lines.append(
        "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" stroke=\"#d0d7de\"/>"
      )
    }
    for speed in stride(from: low, through: high, by: 0.5) {
      let at = x(pow(2, speed))
      grid(at, margin.top, at, size.height - margin.bottom)
      lines.append(
        "<text x=\"\(number(at))\" y=\"\(number(size.height - margin.bottom + 16))\" text-anchor=\"middle\">"
          + String(format: "%.2f", pow(2, speed)) + "</text>")
    }
    let step = top - bottom > 100 ? 20.0 : top - bottom > 40 ? 10 : 5
    for bits in stride(from: bottom, through: top, by: step) {
      grid(margin.left, y(bits), size.width - margin.right, y(bits))
      lines.append(
        "<text x=\"\(number(margin.left - 6))\" y=\"\(number(y(bits) + 4))\" text-anchor=\"end\">"
          + String(format: "%+.0f %%", bits) + "</text>")
    }
    lines.append(
      "<text x=\"\(number(size.width / 2))\" y=\"\(number(size.height - 10))\" text-anchor=\"middle\">"
        + "speed, x264 superfast = 1</text>")
    for (i, family) in families.enumerated() {
      let colour = Self.colours[i % Self.colours.count]
      let own = points.filter { $0.family == family }.sorted { $0.speed < $1.speed }
      let path = own.map { "\(number(x($0.speed))),\(number(y($0.bits)))" }.joined(separator: " ")
      lines.append("<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"1.5\"/>")
      for p in own {
        lines.append(
          "<circle cx=\"\(number(x(p.speed)))\" cy=\"\(number(y(p.bits)))\" r=\"3.5\" fill=\"\(colour)\"/>")
        lines.append(
          "<text x=\"\(number(x(p.speed) + 6))\" y=\"\(number(y(p.bits) - 5))\" fill=\"\(colour)\">\(p.label)</text>"
        )
      }
    }
    return lines.joined(separator: "\n") + "\n</svg>\n"
  }
}
