// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A table of results. It contains the cells as they are printed. The first column is a name and
/// the others are numbers.
public struct ResultTable: Codable, Sendable {
  public var title: String
  public var columns: [String]
  public var rows: [[String]] = []

  public init(_ title: String, _ columns: [String], rows: [[String]] = []) {
    self.title = title
    self.columns = columns
    self.rows = rows
  }

  public mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The table with padded columns, for a terminal.
  public var text: String {
    let cells = [columns] + rows
    let widths = columns.indices.map { i in cells.map { i < $0.count ? $0[i].count : 0 }.max() ?? 0 }
    let lines = cells.map { line in
      zip(line, widths).enumerated().map { i, cell in
        let space = String(repeating: " ", count: cell.1 - cell.0.count)
        return i == 0 ? cell.0 + space : space + cell.0
      }.joined(separator: "  ")
    }
    return "\n\(title)\n" + lines.joined(separator: "\n") + "\n"
  }

  public var markdown: String {
    "### \(title)\n\n\(Self.line(columns))\n\(Self.line(columns.indices.map { $0 == 0 ? "---" : "---:" }))\n"
      + rows.map { Self.line($0) + "\n" }.joined()
  }

  /// The table with its title at the start of each row, so that one file can contain several
  /// tables.
  public var csv: String {
    ([["table"] + columns] + rows.map { [title] + $0 })
      .map { $0.map(Self.quoted).joined(separator: ",") + "\n" }.joined()
  }

  private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

  private static func quoted(_ cell: String) -> String {
    guard cell.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return cell }
    return "\"" + cell.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }
}

/// Formats numbers for tables, in the same way for every locale.
public enum Figure {
  public static func fixed(_ value: Double, _ places: Int = 1) -> String {
    String(format: "%.\(places)f", value)
  }

  /// Formats a fraction of 1 as a percentage.
  public static func percent(_ share: Double, _ places: Int = 1) -> String {
    fixed(share * 100, places) + " %"
  }

  /// Formats bits per second, for example `1500k`.
  public static func kilobits(_ rate: Int) -> String { "\(rate / 1000)k" }

  /// Formats seconds as milliseconds, without the unit; nil is `-`.
  public static func milliseconds(_ seconds: Double?, _ places: Int = 0) -> String {
    seconds.map { fixed($0 * 1000, places) } ?? "-"
  }

  /// The quantile of the values for a fraction `share`, or nil if there are no values.
  public static func quantile(_ share: Double, of values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let place = Int((share * Double(values.count)).rounded(.up)) - 1
    return values.sorted()[min(max(place, 0), values.count - 1)]
  }
}
