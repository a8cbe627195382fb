// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Collects what libav logs, so that it becomes part of an error instead of a line on the user's
/// terminal.
///
/// A library must not print. Warnings and errors that are logged on a thread inside `collect` are
/// kept for that call; all others are dropped.
package enum LibavLog {
  private final class Collector {
    var messages: [String] = []
  }

  private static let key = "OpenVideoToolbox.LibavLog"

  private static let install: Void = {
    av_log_set_callback { context, level, format, arguments in
      // The level's upper bits hold a tint.
      let level = level & 0xFF
      if level == AV_LOG_INFO, let context, let format, strncmp(format, "concealing ", 11) == 0 {
        DecoderMemory.recordConcealment(context)
      }
      // AV_LOG_ERROR and graver, and the warnings of an RTMP listener whose sender names something
      // else.
      guard let format, let arguments, level <= AV_LOG_ERROR || isRefusal(format, level) else { return }
      guard let collector = Thread.current.threadDictionary[LibavLog.key] as? Collector else { return }
      var line = [CChar](repeating: 0, count: 1024)
      var prefix: Int32 = 0
      guard av_log_format_line2(context, level, format, arguments, &line, Int32(line.count), &prefix) >= 0
      else {
        return
      }
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if collector.messages.count < 32 {
        collector.messages.append(strippingPrefix(text))
      }
    }
  }()

  /// The beginnings of the warnings that libavformat's RTMP listener logs, and otherwise ignores,
  /// if a sender names another application or stream than the listener's address.
  static let wrongStream = ["App field don't match", "Unexpected stream"]

  private static func isRefusal(_ format: UnsafePointer<CChar>, _ level: Int32) -> Bool {
    level == AV_LOG_WARNING && wrongStream.contains { strncmp(format, $0, $0.utf8.count) == 0 }
  }

  /// Takes libav's log over. Call it before the first libav call that may log.
  package static func takeOver() { _ = install }

  /// Runs `body` and gives back what libav logged on this thread meanwhile.
  package static func collect<T>(_ body: () throws -> T) rethrows -> (T, [String]) {
    takeOver()
    let dictionary = Thread.current.threadDictionary
    let outer = dictionary[key]
    let collector = Collector()
    dictionary[key] = collector
    defer { dictionary[key] = outer }
    let value = try body()
    return (value, collector.messages)
  }

  /// "[mov,mp4 @ 0x5581] moov atom not found\n" → "moov atom not found"
  private static func strippingPrefix(_ line: String) -> String {
    var text = Substring(line.trimmingCharacters(in: .whitespacesAndNewlines))
    while text.hasPrefix("["), let close = text.firstIndex(of: "]") {
      text = text[text.index(after: close)...].drop { $0 == " " }
    }
    return String(text)
  }
}
