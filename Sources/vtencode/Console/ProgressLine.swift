// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// Shows the progress of a run: a progress bar on a terminal, a line every few seconds elsewhere,
/// or one JSON object per line for programs.
final class ProgressLine: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let total: Int?
  private let isTerminal: Bool
  private let style: ProgressStyle
  private let began: Double
  private var lastShown: Double
  private var isDrawn = false
  /// The current pass: its number, the largest number of passes, when it began, and the number of
  /// its frames if it does not cover all.
  private var pass: (number: Int, maximum: Int, began: Double, frames: Int?)?
  private let lock = Lock()
  /// The servers that the run sends to; nil if it sends to none.
  private let servers: ServerMonitor?

  /// - Parameters:
  ///   - total: the expected number of frames; nil if it is not known.
  ///   - style: how progress is reported.
  ///   - servers: the servers that the run sends to.
  init(total: Int?, style: ProgressStyle, servers: ServerMonitor? = nil) {
    self.total = total
    self.servers = servers
    self.style = style
    isTerminal = Console.standardErrorIsTerminal
    began = SessionTime.now
    lastShown = began
  }

  /// Begins a pass, whose frames are counted from 0.
  /// - Parameters:
  ///   - number: the number of the pass, from 1.
  ///   - maximum: the largest number of passes.
  ///   - frames: the number of its frames; nil for all.
  func begin(pass number: Int, of maximum: Int, frames: Int? = nil) {
    let now = SessionTime.now
    lock.withLock { pass = (number, maximum, now, frames) }
    guard style != .none else { return }
    show(isDue: true) { share(of: 0, now: $0) }
  }

  /// Shows the progress at intervals. It can be called for each frame.
  func update(frames: Int) {
    guard style != .none else { return }
    show { share(of: frames, now: $0) }
  }

  /// Shows the progress of work that is not counted in frames.
  ///
  /// - Parameters:
  ///   - done: the fraction that is done, 0 to 1.
  ///   - isDue: writes the JSON object even if the last one was written just before.
  func update(share done: Double, isDue: Bool = false) {
    guard style != .none else { return }
    show(isDue: isDue && style == .json) { now in
      let elapsed = now - began
      let left = elapsed >= 1 && done > 0.01 ? elapsed / done - elapsed : nil
      guard style == .auto else {
        ShareEvent(share: done, seconds: elapsed, secondsLeft: left).write()
        return nil
      }
      return bar(done, left.map { "\(TextFormat.clock($0)) left" } ?? "")
    }
  }

  /// Shows a text if enough time has passed since the last one.
  /// - Parameter text: makes the text at a time; nil if it has already been written.
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
      (event.pass, event.passes) = (pass?.number, pass?.maximum)
      if let reports = servers?.reports, !reports.isEmpty { event.servers = reports }
      event.write()
      return nil
    }
    let reports = servers?.reports ?? []
    let text = ([describe(frames: frames, elapsed: elapsed)] + reports.map(\.status)).joined(separator: "  ")
    return pass.map { "pass \($0.number) of \($0.maximum)  \(text)" } ?? text
  }

  /// Removes the progress bar from the terminal.
  func finish() {
    lock.withLock {
      if isDrawn { Console.write("\r\u{1B}[K", to: STDERR_FILENO) }
      isDrawn = false
    }
  }

  private func describe(frames: Int, elapsed: Double) -> String {
    let speed = elapsed > 0 ? Double(frames) / elapsed : 0
    let speedText = "\(TextFormat.fixed(speed, 1)) fps"
    guard let total = pass?.frames ?? total, total > 0 else {
      return "\(TextFormat.plural(frames, "frame"))  \(speedText)"
    }
    let share = min(Double(frames) / Double(total), 1)
    // The speed of the first second is too imprecise for an estimate.
    let left =
      elapsed >= 1 && speed > 0
      ? "  \(TextFormat.clock(Double(max(total - frames, 0)) / speed)) left" : ""
    let counts = "\(frames)/\(total)  \(speedText)\(left)"
    return bar(share, counts)
  }

  private func bar(_ share: Double, _ text: String) -> String {
    let percent = "\(Int(share * 100)) %"
    guard isTerminal else { return text.isEmpty ? percent : "\(percent)  \(text)" }
    // On a narrow terminal the bar is shortened or left out first. `pass` is written before it.
    let width = min(24, Console.columns - percent.count - text.count - (pass == nil ? 6 : 20))
    guard width >= 4 else { return "\(percent)  \(text)" }
    let filled = Int(min(max(share, 0), 1) * Double(width))
    let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
    return "[\(bar)] \(percent)  \(text)"
  }
}

/// The object that `--progress json` writes during a run, one per line on standard error.
struct ProgressEvent: Encodable {
  var event = "progress"
  /// The number of frames encoded so far.
  var frames: Int
  /// The number of frames to encode; nil if it is not known.
  var total: Int?
  /// The time since the run began, in seconds.
  var seconds: Double
  var framesPerSecond: Double
  /// The estimated time to the end of the run, or of the current pass, in seconds.
  var secondsLeft: Double?
  /// The number of the pass, from 1, and the largest number of passes; nil for a single pass.
  var pass: Int?
  var passes: Int?
  /// The reports about the servers so far; nil without servers.
  var servers: [ServerReport]?

  init(frames: Int, total: Int?, seconds: Double) {
    self.frames = frames
    self.total = total
    self.seconds = seconds
    framesPerSecond = seconds > 0 ? Double(frames) / seconds : 0
    if let total, framesPerSecond > 0 { secondsLeft = Double(max(total - frames, 0)) / framesPerSecond }
  }

  func write() { Console.note(json: self) }
}

/// The object that `--progress json` writes during work that is not counted in frames.
struct ShareEvent: Encodable {
  var event = "progress"
  /// The fraction of the work that is done, 0 to 1.
  var share: Double
  /// The time since the run began, in seconds.
  var seconds: Double
  /// The estimated time to the end, in seconds.
  var secondsLeft: Double?

  func write() { Console.note(json: self) }
}
