// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Shows the current state of a call: a line that is redrawn on a terminal, or a line every five
/// seconds elsewhere.
struct LiveLine {
  private let isTerminal = Console.standardErrorIsTerminal
  private let isQuiet: Bool
  private var next = 0.0
  private var isDrawn = false

  init(isQuiet: Bool) { self.isQuiet = isQuiet }

  mutating func update(at time: Double, _ text: () -> String) {
    guard !isQuiet, time >= next else { return }
    next = time + (isTerminal ? 0.5 : 5)
    guard isTerminal else {
      Console.note(text())
      return
    }
    Console.write("\r\u{1B}[K" + text().prefix(Console.columns - 1), to: STDERR_FILENO)
    isDrawn = true
  }

  mutating func finish() {
    if isDrawn { Console.write("\r\u{1B}[K", to: STDERR_FILENO) }
    isDrawn = false
  }
}

/// Measures a rate over the last second.
struct RateMeter {
  private var samples: [(time: Double, count: Int)] = []

  /// - Parameter count: the total so far.
  /// - Parameter time: the time in seconds.
  mutating func add(_ count: Int, at time: Double) {
    samples.append((time, count))
    while samples.count > 2, samples[1].time <= time - 1 { samples.removeFirst() }
  }

  /// The increase of the count per second.
  var rate: Double {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
    return Double(last.count - first.count) / (last.time - first.time)
  }
}
