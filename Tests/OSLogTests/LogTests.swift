// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import OSLog
import struct OSLog.Logger
import Synchronization
import Testing

/// The messages of all loggers that were created after it was installed.
final class LogKeeper: Sendable {
  struct Entry: Equatable {
    var level: Logging.Logger.Level
    var label: String
    var category: String?
    var text: String
  }

  static let shared = LogKeeper()
  private let entries = Mutex<[Entry]>([])
  private static let installed: Void = LoggingSystem.bootstrap { Handler(label: $0) }

  private init() {}

  static func install() { _ = installed }

  func take(label: String) -> [Entry] {
    entries.withLock { all in
      defer { all.removeAll { $0.label == label } }
      return all.filter { $0.label == label }
    }
  }

  private struct Handler: LogHandler {
    let label: String
    var metadata: Logging.Logger.Metadata = [:]
    var logLevel = Logging.Logger.Level.info

    subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let entry = Entry(
        level: event.level, label: label, category: metadata["category"].map { "\($0)" },
        text: event.message.description)
      LogKeeper.shared.entries.withLock { $0.append(entry) }
    }
  }
}

@Suite struct LogTests {
  init() { LogKeeper.install() }

  @Test func levels() {
    let logger = Logger(subsystem: "levels", category: "test")
    logger.log("default")
    logger.debug("not written at this level")
    logger.trace("nor this")
    logger.info("info")
    logger.notice("notice")
    logger.warning("warning")
    logger.error("error")
    logger.critical("critical")
    logger.fault("fault")
    logger.log(level: .info, "by type")
    let entries = LogKeeper.shared.take(label: "levels")
    #expect(entries.map(\.level) == [.notice, .info, .notice, .error, .error, .critical, .critical, .info])
    #expect(entries.allSatisfy { $0.category == "test" })
    #expect(entries.first?.text == "default")
  }

  @Test func whatIsNotWrittenIsNotComputed() {
    let logger = Logger(subsystem: "lazy", category: "test")
    var computed = 0
    func value() -> Int {
      computed += 1
      return computed
    }
    logger.debug("\(value())")
    Logger(.disabled).fault("\(value())")
    #expect(computed == 0)
    logger.error("\(value())")
    #expect(computed == 1 && LogKeeper.shared.take(label: "lazy").map(\.text) == ["1"])
  }

  @Test func privacy() {
    let logger = Logger(subsystem: "privacy", category: "test")
    let name = "Ada"
    logger.info("\(name) \(name, privacy: .public) \(name, privacy: .private) \(7) \(7, privacy: .private)")
    logger.info("\(name, privacy: .private(mask: .hash))")
    logger.info("\(name, privacy: .sensitive(mask: .hash))")
    logger.info("\(Date?.none.map { "\($0)" } ?? "none", privacy: .public)")
    let texts = LogKeeper.shared.take(label: "privacy").map(\.text)
    #expect(texts[0] == "<private> Ada <private> 7 <private>")
    #expect(texts[1].hasPrefix("<mask.hash: '") && texts[1] == texts[2] && !texts[1].contains("Ada"))
    #expect(texts[3] == "none")
  }

  @Test func formats() {
    let logger = Logger(subsystem: "formats", category: "test")
    logger.info(
      "\(255, format: .hex(includePrefix: true)) \(-3) \(8, format: .octal) \(5, format: .decimal(minDigits: 3))"
    )
    logger.info(
      "\(2.5) \(2.5, format: .fixed(precision: 1)) \(CGFloat(0.25), format: .hybrid) \(Float(1), format: .exponential(precision: 2))"
    )
    logger.info(
      "[\(true) \(false, format: .answer) \("x", align: .right(columns: 3), privacy: .public) \(7, align: .left(columns: 3))]"
    )
    logger.info("\(UInt8.max) \(Int.self, privacy: .public) \([1, 2], privacy: .public)")
    let texts = LogKeeper.shared.take(label: "formats").map(\.text)
    #expect(texts[0] == "0xff -3 10 005")
    #expect(texts[1] == "2.500000 2.5 0.25 1.00e+00")
    #expect(texts[2] == "[true no   x 7  ]")
    #expect(texts[3] == "255 Swift.Int [1, 2]")
  }

  @Test func columnsOfAnyNumber() {
    let logger = Logger(subsystem: "columns", category: "test")
    for columns in [Int.min, -1, 0] {
      logger.info(
        "[\(7, align: .right(columns: columns))\("x", align: .left(columns: columns), privacy: .public)]")
    }
    logger.info("\(7, align: .right(columns: .max))")
    let texts = LogKeeper.shared.take(label: "columns").map(\.text)
    #expect(texts == ["[7x]", "[7x]", "[7x]", String(repeating: " ", count: 1023) + "7"])
  }

  @Test func printfManner() {
    let log = OSLog(subsystem: "printf", category: "test")
    os_log("plain", log: log)
    os_log(
      "%d of %u, %.2f, %{public}@, %@, 100%%", log: log, type: .error, 3, UInt32(5), 2.5, "open" as NSString,
      "shut" as NSString)
    os_log("%{private}d %x %05d %s %@", log: log, 1, 255, 42)
    os_log(.info, log: log, "value \(3)")
    let entries = LogKeeper.shared.take(label: "printf")
    #expect(entries.map(\.level) == [.notice, .error, .notice, .info])
    #expect(
      entries.map(\.text) == [
        "plain", "3 of 5, 2.50, open, <private>, 100%", "<private> ff 00042 <missing> <missing>", "value 3",
      ])
    #expect(log.isEnabled(type: .info) && !log.isEnabled(type: .debug))
    #expect(!OSLog.disabled.isEnabled(type: .fault))
  }

  @Test func signpostsCostNothing() {
    let signposter = OSSignposter(subsystem: "s", category: .pointsOfInterest)
    var computed = false
    func message() -> String {
      computed = true
      return "x"
    }
    let id = signposter.makeSignpostID()
    let state = signposter.beginInterval("work", id: id, "\(message())")
    signposter.emitEvent("event", "\(message())")
    signposter.endInterval("work", state, "\(message())")
    #expect(signposter.withIntervalSignpost("inner") { 5 } == 5)
    os_signpost(.begin, log: .default, name: "old", signpostID: id, "%d", 1)
    #expect(!signposter.isEnabled && !computed)
  }

  @Test func locks() {
    let lock = OSAllocatedUnfairLock(initialState: 0)
    var plain = os_unfair_lock()
    withUnsafeMutablePointer(to: &plain) { plain in
      nonisolated(unsafe) let address = plain
      nonisolated(unsafe) var sum = 0
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        for _ in 0..<1000 {
          lock.withLock { $0 += 1 }
          os_unfair_lock_lock(address)
          sum += 1
          os_unfair_lock_unlock(address)
        }
      }
      #expect(sum == 8000)
      #expect(os_unfair_lock_trylock(address) && !os_unfair_lock_trylock(address))
      os_unfair_lock_unlock(address)
    }
    #expect(lock.withLock { $0 } == 8000)
    let bare = OSAllocatedUnfairLock()
    bare.lock()
    #expect(!bare.lockIfAvailable() && bare.withLockIfAvailableUnchecked { 1 } == nil)
    bare.unlock()
    #expect(bare.withLock { 3 } == 3)
    let copy = lock
    #expect(
      copy.withLockIfAvailable { value -> Int in
        value += 1; return value
      } == 8001)
  }
}
