// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// How far a run is: a bar that redraws itself on a terminal, a plain line every few seconds elsewhere, or a JSON object
/// a line for a program.
final class ProgressLine: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let total: Int?
  private let isTerminal: Bool
  private let style: ProgressStyle
  private let began: Date
  private var lastShown: Date
  private var isDrawn = false
  private let lock = Lock()

  /// - Parameter total: frames that are expected, if known.
  init(total: Int?, style: ProgressStyle) {
    self.total = total
    self.style = style
    isTerminal = Console.standardErrorIsTerminal
    began = Date()
    lastShown = began
  }

  /// Shows the state now and then; cheap to call for each frame.
  func update(frames: Int) {
    guard style != .none else { return }
    lock.withLock {
      let now = Date()
      let pause = style == .json ? 0.5 : isTerminal ? 0.1 : 5
      guard now.timeIntervalSince(lastShown) >= pause else { return }
      lastShown = now
      guard style == .auto else {
        return ProgressEvent(frames: frames, total: total, seconds: now.timeIntervalSince(began)).write()
      }
      let text = describe(frames: frames, elapsed: now.timeIntervalSince(began))
      if isTerminal {
        Console.write("\r\u{1B}[K" + text.prefix(Console.columns - 1), to: STDERR_FILENO)
        isDrawn = true
      } else {
        Console.note(text)
      }
    }
  }

  /// Takes the bar off the terminal.
  func finish() {
    lock.withLock {
      if isDrawn { Console.write("\r\u{1B}[K", to: STDERR_FILENO) }
      isDrawn = false
    }
  }

  private func describe(frames: Int, elapsed: Double) -> String {
    let speed = elapsed > 0 ? Double(frames) / elapsed : 0
    let speedText = "\(Wording.fixed(speed, 1)) fps"
    guard let total, total > 0 else { return "\(Wording.plural(frames, "frame"))  \(speedText)" }
    let share = min(Double(frames) / Double(total), 1)
    let percent = "\(Int(share * 100)) %"
    // The first second tells little about the rest.
    let left =
      elapsed >= 1 && speed > 0
      ? "  \(Wording.clock(Double(max(total - frames, 0)) / speed)) left" : ""
    let counts = "\(frames)/\(total)  \(speedText)\(left)"
    guard isTerminal else { return "\(percent)  \(counts)" }
    let width = 24
    let filled = Int(share * Double(width))
    let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
    return "[\(bar)] \(percent)  \(counts)"
  }
}

/// What `--progress json` writes while a run goes on, one object a line on standard error.
struct ProgressEvent: Encodable {
  var event = "progress"
  /// Encoded so far.
  var frames: Int
  /// To be encoded, if the movie says so.
  var total: Int?
  /// Since the beginning.
  var seconds: Double
  var framesPerSecond: Double
  /// To the end, as far as can be told.
  var secondsLeft: Double?

  init(frames: Int, total: Int?, seconds: Double) {
    self.frames = frames
    self.total = total
    self.seconds = seconds
    framesPerSecond = seconds > 0 ? Double(frames) / seconds : 0
    if let total, framesPerSecond > 0 { secondsLeft = Double(max(total - frames, 0)) / framesPerSecond }
  }

  func write() { Console.note(json: self) }
}
