// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging

/// Where messages go: a part of a program, by the program's and the part's names.
///
/// Messages are written through swift-log: a program chooses with `LoggingSystem.bootstrap` where to, and gets the
/// standard error stream if it does not. The subsystem is the label, the category a piece of metadata.
public final class OSLog: NSObject, Sendable {
  /// A category with a meaning of its own.
  public struct Category: Sendable {
    let name: String
    /// For signposts that a profiler shows by themselves.
    public static let pointsOfInterest = Category(name: "PointsOfInterest")
    /// For signposts that are on while a profiler watches.
    public static let dynamicTracing = Category(name: "DynamicTracing")
    /// The same, with the stack of each.
    public static let dynamicStackTracing = Category(name: "DynamicStackTracing")
  }

  /// The log of what has no part.
  public static let `default` = OSLog(label: ProcessInfo.processInfo.processName, category: nil)
  /// Takes nothing.
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

  /// Whether messages of a type are written.
  public func isEnabled(type: OSLogType) -> Bool { sink.map { $0.logLevel <= type.level } ?? false }

  /// Whether somebody records signposts: nobody.
  public var signpostsEnabled: Bool { false }

  func write(_ type: OSLogType, _ text: @autoclosure () -> String) {
    guard let sink else { return }
    sink.log(level: type.level, "\(text())")
  }
}

extension OSLogType {
  /// The same in swift-log's terms.
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
