// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A chart with a time axis, as SVG.
struct SVGChart {
  private static let width = 960.0
  private static let height = 240.0
  private static let left = 64.0
  private static let bottom = 36.0
  private static let top = 18.0

  private let seconds: Double
  private let maximum: Double
  private let unit: String
  /// The description of the chart for screen readers.
  private let label: String
  private var shapes = ""

  /// - Parameters:
  ///   - seconds: the length of the time axis, from 0.
  ///   - maximum: the largest value to show; the axis ends at a round number at or above it.
  ///   - unit: the unit of the values.
  ///   - label: a sentence that describes the chart.
  init(seconds: Double, maximum: Double, unit: String, label: String) {
    self.label = label
    self.seconds = max(seconds, 0.001)
    let step = Self.roundStep(max(maximum, 1e-6) / 4)
    self.maximum = (max(maximum, 1e-6) / step).rounded(.up) * step
    self.unit = unit
  }

  private func x(_ time: Double) -> Double {
    Self.left + time / seconds * (Self.width - Self.left - 10)
  }
  private func y(_ value: Double) -> Double {
    Self.height - Self.bottom - value / maximum * (Self.height - Self.bottom - Self.top)
  }
  private func text(_ value: Double) -> String { TextFormat.fixed(value, 2) }

  mutating func bar(at time: Double, width: Double, height: Double, _ mark: ChartMark) {
    let pixels = max((x(time + width) - x(time)) * 0.85, 0.6)
    shapes +=
      "<rect x=\"\(text(x(time)))\" y=\"\(text(y(height)))\" width=\"\(text(pixels))\" "
      + "height=\"\(text(y(0) - y(height)))\" fill=\"\(mark.fill)\"/>\n"
  }

  /// Draws a filled circle, or an empty square for the second series.
  mutating func dot(at time: Double, height: Double, _ mark: ChartMark) {
    let (cx, cy) = (x(time), y(height))
    shapes +=
      mark == .second
      ? "<rect x=\"\(text(cx - 1.9))\" y=\"\(text(cy - 1.9))\" width=\"3.8\" height=\"3.8\" fill=\"none\" "
        + "stroke=\"\(mark.color)\"/>\n"
      : "<circle cx=\"\(text(cx))\" cy=\"\(text(cy))\" r=\"1.8\" fill=\"\(mark.color)\"/>\n"
  }

  /// Draws a band over the whole height.
  mutating func band(from start: Double, to end: Double, _ mark: ChartMark) {
    shapes +=
      "<rect x=\"\(text(x(start)))\" y=\"\(text(Self.top))\" width=\"\(text(max(x(end) - x(start), 1)))\" "
      + "height=\"\(text(y(0) - Self.top))\" fill=\"\(mark.color)\"/>\n"
  }

  /// Draws a cross on the time axis.
  mutating func cross(at time: Double, _ mark: ChartMark) {
    let (cx, cy) = (x(time), y(0) - 4)
    shapes +=
      "<path d=\"M\(text(cx - 3)) \(text(cy - 3))l6 6m0 -6l-6 6\" stroke=\"\(mark.color)\" stroke-width=\"1.4\"/>\n"
  }

  mutating func line(_ points: [(Double, Double)], _ mark: ChartMark, isStepped: Bool = false) {
    var path = ""
    for (time, value) in points {
      if path.isEmpty {
        path = "M\(text(x(time))) \(text(y(value)))"
      } else {
        path += isStepped ? "H\(text(x(time)))V\(text(y(value)))" : "L\(text(x(time))) \(text(y(value)))"
      }
    }
    shapes +=
      "<path d=\"\(path)\" fill=\"none\" stroke=\"\(mark.color)\"\(mark.dashAttribute) stroke-width=\"1.8\"/>\n"
  }

  var svg: String {
    var axes = ""
    let step = Self.roundStep(maximum / 4)
    for i in 0...max(Int((maximum / step).rounded()), 1) {
      let value = Double(i) * step
      axes +=
        "<line x1=\"\(Self.left)\" x2=\"\(Self.width - 10)\" y1=\"\(text(y(value)))\" y2=\"\(text(y(value)))\" "
        + "stroke=\"var(--grid)\"/><text x=\"\(Self.left - 8)\" y=\"\(text(y(value) + 4))\" text-anchor=\"end\">"
        + "\(mark(value, step))</text>\n"
    }
    let timeStep = Self.roundStep(seconds / 8)
    for i in 0...Int(seconds / timeStep) {
      let time = Double(i) * timeStep
      axes +=
        "<text x=\"\(text(x(time)))\" y=\"\(Self.height - 18)\" text-anchor=\"middle\">"
        + "\(mark(time, timeStep))</text>\n"
    }
    return """
      <div class="scroll"><svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" \
      aria-label="\(ReportHTML.escaped(label))">
      \(ChartMark.patterns)\(axes)\(shapes)<text x="4" y="12">\(unit)</text>
      <text x="\(Self.width - 10)" y="\(Self.height - 3)" text-anchor="end">seconds</text>
      </svg></div>
      """
  }

  private func mark(_ value: Double, _ step: Double) -> String {
    TextFormat.fixed(value, step >= 1 ? 0 : step >= 0.1 ? 1 : 2)
  }

  /// The least number at or above a value that is 1, 2 or 5 times a power of ten.
  private static func roundStep(_ value: Double) -> Double {
    let power = pow(10, log10(value).rounded(.down))
    for factor in [1.0, 2, 5, 10] where factor * power >= value * 0.999 { return factor * power }
    return 10 * power
  }
}
