// SPDX-License-Identifier: Apache-2.0
/// How much a message matters.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// What happens in the ordinary course of things.
  public static let `default` = OSLogType(0)
  /// What helps to understand an error.
  public static let info = OSLogType(1)
  /// What helps while a program is made.
  public static let debug = OSLogType(2)
  /// Something failed.
  public static let error = OSLogType(16)
  /// The program itself is wrong.
  public static let fault = OSLogType(17)
}
