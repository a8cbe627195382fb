// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Who may read a value in a message.
///
/// Text and objects are private unless they are said to be public, and written as `<private>`; numbers are public.
/// The environment variable `OVT_LOG_PRIVATE_DATA=1` shows all but what is sensitive.
public struct OSLogPrivacy: Sendable {
  /// What stands for a private value.
  public enum Mask: Sendable {
    /// A number that is the same for equal values while the program runs.
    case hash
    /// Nothing of the value.
    case none
  }

  enum Audience: Sendable { case auto, open, hidden, sensitive }
  let audience: Audience
  let mask: Mask

  /// Public for numbers, private for text and objects.
  public static var auto: OSLogPrivacy { OSLogPrivacy(audience: .auto, mask: .none) }
  public static var `public`: OSLogPrivacy { OSLogPrivacy(audience: .open, mask: .none) }
  public static var `private`: OSLogPrivacy { OSLogPrivacy(audience: .hidden, mask: .none) }
  public static var sensitive: OSLogPrivacy { OSLogPrivacy(audience: .sensitive, mask: .none) }
  public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(audience: .auto, mask: mask) }
  public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(audience: .hidden, mask: mask) }
  public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(audience: .sensitive, mask: mask) }

  private static let showsPrivate = ProcessInfo.processInfo.environment["OVT_LOG_PRIVATE_DATA"] == "1"

  /// The value as it is written.
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
