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
  private let began: Double
  private var lastShown: Double
  private var isDrawn = false
  /// The pass that is under way, of how many at most; when it began; how many frames it has, if not all.
  private var pass: (number: Int, most: Int, began: Double, frames: Int?)?
  private let lock = Lock()

  /// - Parameter total: frames that are expected, if known.
  init(total: Int?, style: ProgressStyle) {
    self.total = total
    self.style = style
    isTerminal = Console.standardErrorIsTerminal
    began = SessionTime.now
    lastShown = began
  }

  /// Frames are counted from 0 again, over the same pictures.
  /// - Parameter frames: how many it has; nil for all.
  func begin(pass number: Int, of most: Int, frames: Int? = nil) {
    let now = SessionTime.now
    lock.withLock { pass = (number, most, now, frames) }
    guard style != .none else { return }
    show(isDue: true) { share(of: 0, now: $0) }
  }

  /// Shows the state now and then; cheap to call for each frame.
  func update(frames: Int) {
    guard style != .none else { return }
    show { share(of: frames, now: $0) }
  }

  /// The same for work that is not counted in frames.
  ///
  /// - Parameters:
  ///   - done: from 0 to 1.
  ///   - isDue: a program that reads along is told in any case, however short the work was.
  func update(share done: Double, isDue: Bool = false) {
    guard style != .none else { return }
    show(isDue: isDue && style == .json) { now in
      let elapsed = now - began
      let left = elapsed >= 1 && done > 0.01 ? elapsed / done - elapsed : nil
      guard style == .auto else {
        ShareEvent(share: done, seconds: elapsed, secondsLeft: left).write()
        return nil
      }
      return bar(done, left.map { "\(Wording.clock($0)) left" } ?? "")
    }
  }

  /// - Parameter text: what to show at a time; nil if it has been written.
  private func show(isDue: Bool = false, _ text: (Double) -> String?) {
    lock.withLock {
      let now = SessionTime.now
      let pause = style == .json ? 0.5 : isTerminal ? 0.1 : 5
      guard isDue || now - lastShown >= pause else { return }
      lastShown = now
      guard let text = text(now) else { return }
      if isTerminal {
        Console.write("\r\u{1B}[K" + text.prefix(Console.columns - 1), to: STDERR_FILENO)
        isDrawn = true
      } else {
        Console.note(text)
      }
    }
  }

  private func share(of frames: Int, now: Double) -> String? {
    let elapsed = now - (pass?.began ?? began)
    guard style == .auto else {
      var event = ProgressEvent(frames: frames, total: pass?.frames ?? total, seconds: elapsed)
      event.seconds = now - began
      (event.pass, event.passes) = (pass?.number, pass?.most)
      event.write()
      return nil
    }
    let text = describe(frames: frames, elapsed: elapsed)
    return pass.map { "pass \($0.number) of \($0.most)  \(text)" } ?? text
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
    guard let total = pass?.frames ?? total, total > 0 else {
      return "\(Wording.plural(frames, "frame"))  \(speedText)"
    }
    let share = min(Double(frames) / Double(total), 1)
    // The first second tells little about the rest.
    let left =
      elapsed >= 1 && speed > 0
      ? "  \(Wording.clock(Double(max(total - frames, 0)) / speed)) left" : ""
    let counts = "\(frames)/\(total)  \(speedText)\(left)"
    return bar(share, counts)
  }

  private func bar(_ share: Double, _ text: String) -> String {
    let percent = "\(Int(share * 100)) %"
    guard isTerminal else { return text.isEmpty ? percent : "\(percent)  \(text)" }
    // What tells most stays on a narrow terminal; the pass stands before it.
    let width = min(24, Console.columns - percent.count - text.count - (pass == nil ? 6 : 20))
    guard width >= 4 else { return "\(percent)  \(text)" }
    let filled = Int(min(max(share, 0), 1) * Double(width))
    let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
    return "[\(bar)] \(percent)  \(text)"
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
  /// To the end, as far as can be told; of several passes, to the end of this one.
  var secondsLeft: Double?
  /// From 1, of so many at most; where there are several.
  var pass: Int?
  var passes: Int?

  init(frames: Int, total: Int?, seconds: Double) {
    self.frames = frames
    self.total = total
    self.seconds = seconds
    framesPerSecond = seconds > 0 ? Double(frames) / seconds : 0
    if let total, framesPerSecond > 0 { secondsLeft = Double(max(total - frames, 0)) / framesPerSecond }
  }

  func write() { Console.note(json: self) }
}

/// What `--progress json` writes where there are no frames to count.
struct ShareEvent: Encodable {
  var event = "progress"
  /// Of all that is to be done, from 0 to 1.
  var share: Double
  /// Since the beginning.
  var seconds: Double
  /// To the end, as far as can be told.
  var secondsLeft: Double?

  func write() { Console.note(json: self) }
}
