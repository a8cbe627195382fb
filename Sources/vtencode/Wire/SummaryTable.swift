// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The summary of a session, as text and as a JSON object.
struct SummaryTable {
  var title: String
  private var rows: [(name: String, value: String)] = []
  private var figures: [String: Double] = [:]

  init(_ title: String) { self.title = title }

  mutating func row(_ name: String, _ value: String) { rows.append((name, value)) }
  mutating func figure(_ name: String, _ value: Double?) { figures[name] = value }
  mutating func figure(_ name: String, _ value: Int) { figures[name] = Double(value) }

  /// Appends another summary. Its figures get the prefix `receiver`.
  mutating func append(_ other: SummaryTable) {
    rows += other.rows
    for (name, value) in other.figures {
      figures["receiver" + name.prefix(1).uppercased() + name.dropFirst()] = value
    }
  }

  var text: String {
    ([title] + rows.map { "  \($0.name.padding(toLength: 14, withPad: " ", startingAt: 0))\($0.value)" })
      .joined(separator: "\n") + "\n"
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(figures), as: UTF8.self) + "\n"
  }

  func print(asJSON: Bool) throws { try Console.print(asJSON ? json() : text) }
}
