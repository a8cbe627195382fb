// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging

/// A log for the messages of one subsystem and category.
///
/// Messages are written through swift-log. A program chooses their destination with
/// `LoggingSystem.bootstrap`; without that, they go to the standard error stream. The subsystem is
/// the label of the swift-log logger, and the category is its metadata value "category".
public final class OSLog: NSObject, Sendable {
  /// A category with a predefined meaning.
  public struct Category: Sendable {
    let name: String
    /// The category of signposts that a profiler displays by default.
    public static let pointsOfInterest = Category(name: "PointsOfInterest")
    /// The category of signposts that are only enabled while a profiler records.
    public static let dynamicTracing = Category(name: "DynamicTracing")
    /// A category like ``dynamicTracing`` that also records the call stack of each signpost.
    public static let dynamicStackTracing = Category(name: "DynamicStackTracing")
  }

  /// The log without a subsystem and a category. Its label is the name of the process.
  public static let `default` = OSLog(label: ProcessInfo.processInfo.processName, category: nil)
  /// The log that discards all messages.
  public static let disabled = OSLog()

  let sink: Logging.Logger?

  private init(label: String, category: String?) {
    var sink = Logging.Logger(label: label)
    if let category { sink[metadataKey: "category"] = .string(category) }
    self.sink = sink
    super.init()
  }

  private override init() {
    sink = nil
    super.init()
  }

  public convenience init(subsystem: String, category: String) {
    self.init(label: subsystem, category: category)
  }

  public convenience init(subsystem: String, category: Category) {
    self.init(label: subsystem, category: category.name)
  }

  /// Returns whether messages of a type are written.
  public func isEnabled(type: OSLogType) -> Bool { sink.map { $0.logLevel <= type.level } ?? false }

  /// Whether signposts are recorded. It is always false, because no profiler is supported.
  public var signpostsEnabled: Bool { false }

  func write(_ type: OSLogType, _ text: @autoclosure () -> String) {
    guard let sink else { return }
    sink.log(level: type.level, "\(text())")
  }
}

extension OSLogType {
  /// The corresponding level of swift-log.
  var level: Logging.Logger.Level {
    switch self {
    case .debug: .debug
    case .info: .info
    case .error: .error
    case .fault: .critical
    default: .notice
    }
  }
}
