// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The privacy of an interpolated value.
///
/// By default, strings and objects are private and written as `<private>`, while numbers are
/// public. The environment variable `OVT_LOG_PRIVATE_DATA=1` shows private values, but not
/// sensitive ones.
public struct OSLogPrivacy: Sendable {
  /// The replacement of a private value.
  public enum Mask: Sendable {
    /// A hash, which is the same for equal values within a process.
    case hash
    /// The fixed text `<private>`.
    case none
  }

  enum Audience: Sendable { case auto, open, hidden, sensitive }
  let audience: Audience
  let mask: Mask

  /// Numbers are public, strings and objects are private.
  public static var auto: OSLogPrivacy { OSLogPrivacy(audience: .auto, mask: .none) }
  public static var `public`: OSLogPrivacy { OSLogPrivacy(audience: .open, mask: .none) }
  public static var `private`: OSLogPrivacy { OSLogPrivacy(audience: .hidden, mask: .none) }
  public static var sensitive: OSLogPrivacy { OSLogPrivacy(audience: .sensitive, mask: .none) }
  public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(audience: .auto, mask: mask) }
  public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(audience: .hidden, mask: mask) }
  public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(audience: .sensitive, mask: mask) }

  private static let showsPrivate = ProcessInfo.processInfo.environment["OVT_LOG_PRIVATE_DATA"] == "1"

  /// Returns the value as it appears in the message.
  func text(_ value: @autoclosure () -> String, isPublicByNature: Bool) -> String {
    let isOpen =
      switch audience {
      case .open: true
      case .auto: isPublicByNature || Self.showsPrivate
      case .hidden: Self.showsPrivate
      case .sensitive: false
      }
    if isOpen { return value() }
    guard mask == .hash else { return "<private>" }
    var hasher = Hasher()
    hasher.combine(value())
    return "<mask.hash: '\(String(UInt(bitPattern: hasher.finalize()), radix: 36))'>"
  }
}
