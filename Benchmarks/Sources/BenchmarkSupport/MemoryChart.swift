// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The resources in use at regular intervals of one kind of work.
public struct MemoryCurve: Sendable {
  public var name: String
  /// The resident memory in bytes.
  public var resident: [Int] = []
  /// The number of open descriptors; empty if they are not counted.
  public var files: [Int] = []

  public init(name: String) { self.name = name }
}

/// A chart of the memory in use, with one row for each curve; a row's axis ends at 1.25 times the
/// curve's maximum.
public struct MemoryChart: Sendable {
  public var title: String
  public var curves: [MemoryCurve]

  private static let (width, row, left, top) = (760, 84, 190, 44)

  public init(title: String, curves: [MemoryCurve]) { (self.title, self.curves) = (title, curves) }

  public var svg: String {
    let (width, left) = (Self.width, Self.left)
    let height = Self.top + curves.count * Self.row + 30
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" font-family=\"sans-serif\" "
        + "font-size=\"12\">",
      "<rect width=\"\(width)\" height=\"\(height)\" fill=\"white\"/>",
      "<text x=\"10\" y=\"22\" font-size=\"15\">\(title)</text>",
    ]
    for (index, curve) in curves.enumerated() { lines += Self.lines(curve, row: index) }
    lines.append(
      "<text x=\"\(left)\" y=\"\(height - 10)\" fill=\"#666\">memory in use, from the first part of the work to the last</text>"
    )
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private static func lines(_ curve: MemoryCurve, row number: Int) -> [String] {
    let base = top + (number + 1) * row - 14
    let maximum = Double(max(curve.resident.max() ?? 1, 1)) * 1.25
    let (drawn, tall) = (Double(width - left - 90), Double(row - 24))
    let points = curve.resident.enumerated().map { x, y in
      String(
        format: "%.1f,%.1f", Double(left) + drawn * Double(x) / Double(max(curve.resident.count - 1, 1)),
        Double(base) - tall * Double(y) / maximum)
    }
    var lines = ["<text x=\"10\" y=\"\(base - 26)\">\(curve.name)</text>"]
    if let files = curve.files.last {
      lines.append("<text x=\"10\" y=\"\(base - 10)\" fill=\"#666\">\(files) files open</text>")
    }
    return lines + [
      "<path d=\"M\(left),\(base - row + 24)V\(base)H\(width - 90)\" fill=\"none\" stroke=\"#bbb\"/>",
      "<polyline points=\"\(points.joined(separator: " "))\" fill=\"none\" stroke=\"#0a58ca\" stroke-width=\"1.5\"/>",
      "<text x=\"\(width - 84)\" y=\"\(base - 26)\">\((curve.resident.last ?? 0) / 1_000_000) MB</text>",
    ]
  }
}
