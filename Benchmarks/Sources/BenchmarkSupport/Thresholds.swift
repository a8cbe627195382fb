// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Figures that must not get worse: a JSON object of names and the most that each may be, as it stands in
/// `Benchmarks/Thresholds`. A figure that got better is lowered there, in the commit that made it so.
public struct Thresholds: Sendable {
  private let most: [String: Double]
  private let path: String

  public init(path: String) throws {
    self.path = path
    do {
      most = try JSONDecoder().decode(
        [String: Double].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw BenchmarkError(description: "cannot read the thresholds '\(path)': \(error.localizedDescription)")
    }
  }

  /// What is wrong with the figures, a line each; empty if they hold. A figure without a threshold is wrong too, and a
  /// threshold without a figure.
  public func complaints(about figures: [String: Double]) -> [String] {
    figures.sorted { $0.key < $1.key }.compactMap { name, value -> String? in
      guard let most = most[name] else { return "\(name) is \(Self.text(value)); \(path) does not have it" }
      return value <= most
        ? nil : "\(name) is \(Self.text(value)); \(path) allows \(Self.text(most)) at most"
    }
      + most.keys.filter { figures[$0] == nil }.sorted().map { "\($0) was not measured; \(path) has it" }
  }

  private static func text(_ value: Double) -> String {
    value == value.rounded() ? String(Int(value)) : Figure.fixed(value, 2)
  }
}
