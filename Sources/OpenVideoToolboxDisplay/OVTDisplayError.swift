// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An error of a window or an audio device.
public struct OVTDisplayError: LocalizedError, Sendable {
  public enum Code: Sendable {
    /// The package was built without the trait `Display`.
    case notBuilt
    /// SDL 2 is not installed.
    case libraryMissing
    /// There is no screen, or none that SDL can use.
    case noScreen
    case noAudioDevice
    case windowClosed
    case other
  }

  public let code: Code
  /// A description of the error in one line.
  public let reason: String

  init(_ code: Code, _ reason: String) { (self.code, self.reason) = (code, reason) }

  public var errorDescription: String? { reason }
  public var failureReason: String? { reason }
}
