// SPDX-License-Identifier: Apache-2.0

/// A hard limit of the data rate: no part of a stream that is `seconds` long may have more than
/// `bytes`.
public struct DataRateLimit: Hashable, Sendable {
  /// The most bytes in the window.
  public var bytes: Int
  /// The length of the window in seconds.
  public var seconds: Double

  /// Creates a limit.
  /// - Parameters:
  ///   - bytes: the most bytes in the window.
  ///   - seconds: the length of the window in seconds.
  public init(bytes: Int, seconds: Double) {
    self.bytes = bytes
    self.seconds = seconds
  }
}
