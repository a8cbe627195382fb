// SPDX-License-Identifier: Apache-2.0
import Logging

/// Writes the messages of one subsystem and category.
///
/// The text of a message is only computed if its level is enabled.
public struct Logger: Sendable {
  private let log: OSLog

  /// Creates a logger without a subsystem and a category.
  public init() { log = .default }
  public init(_ logObj: OSLog) { log = logObj }
  public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

  /// The log object that signposts use.
  var handle: OSLog { log }

  public func log(level: OSLogType, _ message: @autoclosure () -> OSLogMessage) {
    log.write(level, message().text)
  }

  /// Writes a message at the default level.
  public func log(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message().text) }
  /// Writes a message at the debug level.
  public func trace(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message().text) }
  public func debug(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message().text) }
  public func info(_ message: @autoclosure () -> OSLogMessage) { log.write(.info, message().text) }
  /// Writes a message at the default level.
  public func notice(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message().text) }
  /// Writes a message at the error level.
  public func warning(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message().text) }
  public func error(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message().text) }
  /// Writes a message at the fault level.
  public func critical(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message().text) }
  public func fault(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message().text) }
}
