// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A chart over time, drawn as SVG.
struct SVGChart {
  private static let width = 960.0
  private static let height = 240.0
  private static let left = 64.0
  private static let bottom = 36.0
  private static let top = 18.0

  private let seconds: Double
  private let most: Double
  private let unit: String
  private var shapes = ""

  /// - Parameters:
  ///   - seconds: the length of the time axis, from 0.
  ///   - most: the largest value to show; the axis goes up to a round number at or above it.
  init(seconds: Double, most: Double, unit: String) {
    self.seconds = max(seconds, 0.001)
    let step = Self.roundStep(max(most, 1e-6) / 4)
    self.most = (max(most, 1e-6) / step).rounded(.up) * step
    self.unit = unit
  }

  private func x(_ time: Double) -> Double {
    Self.left + time / seconds * (Self.width - Self.left - 10)
  }
  private func y(_ value: Double) -> Double {
    Self.height - Self.bottom - value / most * (Self.height - Self.bottom - Self.top)
  }
  private func text(_ value: Double) -> String { Wording.fixed(value, 2) }

  mutating func bar(at time: Double, width: Double, height: Double, color: String) {
    let pixels = max((x(time + width) - x(time)) * 0.85, 0.6)
    shapes +=
      "<rect x=\"\(text(x(time)))\" y=\"\(text(y(height)))\" width=\"\(text(pixels))\" "
      + "height=\"\(text(y(0) - y(height)))\" fill=\"\(color)\"/>\n"
  }

  mutating func dot(at time: Double, height: Double, color: String) {
    shapes += "<circle cx=\"\(text(x(time)))\" cy=\"\(text(y(height)))\" r=\"1.8\" fill=\"\(color)\"/>\n"
  }

  /// A stretch of time, over the whole height.
  mutating func band(from start: Double, to end: Double, color: String) {
    shapes +=
      "<rect x=\"\(text(x(start)))\" y=\"\(text(Self.top))\" width=\"\(text(max(x(end) - x(start), 1)))\" "
      + "height=\"\(text(y(0) - Self.top))\" fill=\"\(color)\"/>\n"
  }

  /// A mark on the time axis.
  mutating func cross(at time: Double, color: String) {
    let (cx, cy) = (x(time), y(0) - 4)
    shapes +=
      "<path d=\"M\(text(cx - 3)) \(text(cy - 3))l6 6m0 -6l-6 6\" stroke=\"\(color)\" stroke-width=\"1.4\"/>\n"
  }

  mutating func line(_ points: [(Double, Double)], color: String, isStepped: Bool = false) {
    var path = ""
    for (time, value) in points {
      if path.isEmpty {
        path = "M\(text(x(time))) \(text(y(value)))"
      } else {
        path += isStepped ? "H\(text(x(time)))V\(text(y(value)))" : "L\(text(x(time))) \(text(y(value)))"
      }
    }
    shapes += "<path d=\"\(path)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.6\"/>\n"
  }

  var svg: String {
    var axes = ""
    let step = Self.roundStep(most / 4)
    for i in 0...max(Int((most / step).rounded()), 1) {
      let value = Double(i) * step
      axes +=
        "<line x1=\"\(Self.left)\" x2=\"\(Self.width - 10)\" y1=\"\(text(y(value)))\" y2=\"\(text(y(value)))\" "
        + "stroke=\"#ddd\"/><text x=\"\(Self.left - 8)\" y=\"\(text(y(value) + 4))\" text-anchor=\"end\">"
        + "\(label(value, step))</text>\n"
    }
    let timeStep = Self.roundStep(seconds / 8)
    for i in 0...Int(seconds / timeStep) {
      let time = Double(i) * timeStep
      axes +=
        "<text x=\"\(text(x(time)))\" y=\"\(Self.height - 18)\" text-anchor=\"middle\">"
        + "\(label(time, timeStep))</text>\n"
    }
    return """
      <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img">
      \(axes)\(shapes)<text x="4" y="12">\(unit)</text>
      <text x="\(Self.width - 10)" y="\(Self.height - 3)" text-anchor="end">seconds</text>
      </svg>
      """
  }

  private func label(_ value: Double, _ step: Double) -> String {
    Wording.fixed(value, step >= 1 ? 0 : step >= 0.1 ? 1 : 2)
  }

  /// 1, 2 or 5 times a power of ten, at or above a value.
  private static func roundStep(_ value: Double) -> Double {
    let power = pow(10, log10(value).rounded(.down))
    for factor in [1.0, 2, 5, 10] where factor * power >= value * 0.999 { return factor * power }
    return 10 * power
  }
}
