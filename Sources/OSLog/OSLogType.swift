// SPDX-License-Identifier: Apache-2.0
/// The level of a message.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// Messages about normal operation.
  public static let `default` = OSLogType(0)
  /// Additional information that helps to diagnose errors.
  public static let info = OSLogType(1)
  /// Information for debugging during development.
  public static let debug = OSLogType(2)
  /// An error.
  public static let error = OSLogType(16)
  /// A fault, which indicates a defect in the program.
  public static let fault = OSLogType(17)
}
