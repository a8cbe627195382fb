// SPDX-License-Identifier: Apache-2.0
import Logging

/// Writes messages of a part of a program.
///
/// A message is put together only if its level is written.
public struct Logger: Sendable {
  private let log: OSLog

  /// The log of what has no part.
  public init() { log = .default }
  public init(_ logObj: OSLog) { log = logObj }
  public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

  /// The log for signposts.
  var handle: OSLog { log }

  public func log(level: OSLogType, _ message: @autoclosure () -> OSLogMessage) {
    log.write(level, message().text)
  }

  /// At the default level.
  public func log(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message().text) }
  /// At the level of debugging.
  public func trace(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message().text) }
  public func debug(_ message: @autoclosure () -> OSLogMessage) { log.write(.debug, message().text) }
  public func info(_ message: @autoclosure () -> OSLogMessage) { log.write(.info, message().text) }
  /// At the default level.
  public func notice(_ message: @autoclosure () -> OSLogMessage) { log.write(.default, message().text) }
  /// At the level of errors.
  public func warning(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message().text) }
  public func error(_ message: @autoclosure () -> OSLogMessage) { log.write(.error, message().text) }
  /// At the level of faults.
  public func critical(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message().text) }
  public func fault(_ message: @autoclosure () -> OSLogMessage) { log.write(.fault, message().text) }
}
