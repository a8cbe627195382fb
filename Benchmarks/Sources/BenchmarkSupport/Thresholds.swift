// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Maximum values for measurements, read from a JSON object of names and numbers in
/// `Benchmarks/Thresholds`. When a value improves, the commit that improves it also lowers the
/// threshold.
public struct Thresholds: Sendable {
  private let maximum: [String: Double]
  private let path: String

  public init(path: String) throws {
    self.path = path
    do {
      maximum = try JSONDecoder().decode(
        [String: Double].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw BenchmarkError(description: "cannot read the thresholds '\(path)': \(error.localizedDescription)")
    }
  }

  /// Problems with the measurements, one line each. The result is empty if all values are within
  /// their limits. A value without a threshold and a threshold without a value are also problems.
  public func complaints(about figures: [String: Double]) -> [String] {
    figures.sorted { $0.key < $1.key }.compactMap { name, value -> String? in
      guard let maximum = maximum[name] else {
        return "\(name) is \(Self.text(value)); \(path) does not have it"
      }
      return value <= maximum
        ? nil : "\(name) is \(Self.text(value)); \(path) allows \(Self.text(maximum)) at most"
    }
      + maximum.keys.filter { figures[$0] == nil }.sorted().map { "\($0) was not measured; \(path) has it" }
  }

  private static func text(_ value: Double) -> String {
    value == value.rounded() ? String(Int(value)) : Figure.fixed(value, 2)
  }
}
