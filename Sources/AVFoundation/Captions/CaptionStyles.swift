// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The values of an attribute for parts of a caption's text. Offsets are in UTF-16 code units, as
/// in `NSRange`.
struct StyleRuns<Value: Equatable & Sendable>: Equatable, Sendable {
  private struct Run: Equatable, Sendable {
    var range: Range<Int>
    var value: Value
  }
  /// The runs, ordered and without overlap.
  private var runs: [Run] = []

  var isEmpty: Bool { runs.isEmpty }
  var values: [Value] { runs.map(\.value) }

  /// Sets the attribute of a part; nil removes it.
  mutating func set(_ value: Value?, in range: Range<Int>) {
    guard !range.isEmpty else { return }
    // A run after all others is appended in constant time, since a file may have thousands of them.
    if let value, (runs.last?.range.upperBound ?? 0) <= range.lowerBound {
      runs.append(Run(range: range, value: value))
      return
    }
    var made: [Run] = []
    for run in runs {
      if run.range.lowerBound < range.lowerBound {
        let end = min(run.range.upperBound, range.lowerBound)
        made.append(Run(range: run.range.lowerBound..<end, value: run.value))
      }
      if run.range.upperBound > range.upperBound {
        let start = max(run.range.lowerBound, range.upperBound)
        made.append(Run(range: start..<run.range.upperBound, value: run.value))
      }
    }
    if let value { made.append(Run(range: range, value: value)) }
    runs = made.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// Returns the value at an offset, and the range in which it is the same.
  func at(_ offset: Int, in length: Int) -> (value: Value?, range: Range<Int>) {
    if let run = runs.first(where: { $0.range.contains(offset) }) { return (run.value, run.range) }
    let start = runs.last { $0.range.upperBound <= offset }?.range.upperBound ?? 0
    let end = runs.first { $0.range.lowerBound > offset }?.range.lowerBound ?? length
    return (nil, start..<max(start, end))
  }

  /// The offsets at which the value changes.
  var bounds: [Int] { runs.flatMap { [$0.range.lowerBound, $0.range.upperBound] } }
}

/// The attributes of a caption's text. The player chooses those that are not set.
struct CaptionStyles: Equatable, Sendable {
  var textColor = StyleRuns<CGColor>()
  var backgroundColor = StyleRuns<CGColor>()
  var weight = StyleRuns<AVCaption.FontWeight>()
  var style = StyleRuns<AVCaption.FontStyle>()
  var decoration = StyleRuns<AVCaption.Decoration>()
  var combine = StyleRuns<AVCaption.TextCombine>()
  var ruby = StyleRuns<AVCaption.Ruby>()
}
