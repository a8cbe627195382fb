// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The format of an integer.
public struct OSLogIntegerFormatting: Sendable {
  var radix = 10
  var isUppercase = false
  var hasPlus = false
  var hasPrefix = false
  var minDigits = 0

  public static var decimal: OSLogIntegerFormatting { .init() }
  public static func decimal(explicitPositiveSign: Bool = false, minDigits: Int = 0) -> OSLogIntegerFormatting
  {
    .init(hasPlus: explicitPositiveSign, minDigits: minDigits)
  }
  public static var hex: OSLogIntegerFormatting { .init(radix: 16) }
  public static func hex(
    explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
    minDigits: Int = 0
  ) -> OSLogIntegerFormatting {
    .init(
      radix: 16, isUppercase: uppercase, hasPlus: explicitPositiveSign, hasPrefix: includePrefix,
      minDigits: minDigits)
  }
  public static var octal: OSLogIntegerFormatting { .init(radix: 8) }
  public static func octal(
    explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
    minDigits: Int = 0
  ) -> OSLogIntegerFormatting {
    .init(
      radix: 8, isUppercase: uppercase, hasPlus: explicitPositiveSign, hasPrefix: includePrefix,
      minDigits: minDigits)
  }

  func text<Number: FixedWidthInteger>(_ number: Number) -> String {
    var digits = String(number.magnitude, radix: radix, uppercase: isUppercase)
    if digits.count < minDigits {
      digits = String(repeating: "0", count: min(minDigits, 1024) - digits.count) + digits
    }
    if hasPrefix { digits = (radix == 16 ? "0x" : radix == 8 ? "0o" : "") + digits }
    return (number < 0 ? "-" : hasPlus ? "+" : "") + digits
  }
}

/// The format of a floating-point number.
public struct OSLogFloatFormatting: Sendable {
  var specifier: Character = "f"
  var precision: Int?
  var hasPlus = false

  private static func make(_ specifier: Character, _ precision: Int?, _ plus: Bool, _ uppercase: Bool) -> Self
  {
    Self(
      specifier: uppercase ? Character(specifier.uppercased()) : specifier, precision: precision,
      hasPlus: plus)
  }

  /// Decimal notation with six digits after the point.
  public static var fixed: OSLogFloatFormatting { .init() }
  public static func fixed(
    precision: @autoclosure () -> Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
  ) -> OSLogFloatFormatting { make("f", precision(), explicitPositiveSign, uppercase) }
  public static var hex: OSLogFloatFormatting { .init(specifier: "a") }
  public static func hex(explicitPositiveSign: Bool = false, uppercase: Bool = false) -> OSLogFloatFormatting
  {
    make("a", nil, explicitPositiveSign, uppercase)
  }
  public static var exponential: OSLogFloatFormatting { .init(specifier: "e") }
  public static func exponential(
    precision: @autoclosure () -> Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
  ) -> OSLogFloatFormatting { make("e", precision(), explicitPositiveSign, uppercase) }
  /// Decimal or exponential notation, whichever is shorter.
  public static var hybrid: OSLogFloatFormatting { .init(specifier: "g") }
  public static func hybrid(
    precision: @autoclosure () -> Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
  ) -> OSLogFloatFormatting { make("g", precision(), explicitPositiveSign, uppercase) }

  func text(_ number: Double) -> String {
    let digits = precision.map { ".\(max(0, min($0, 1024)))" } ?? ""
    return String(format: "%\(hasPlus ? "+" : "")\(digits)\(specifier)", number)
  }
}

/// The format of a Boolean value.
public enum OSLogBoolFormat: Sendable {
  /// The value is written as "true" or "false".
  case truth
  /// The value is written as "yes" or "no".
  case answer
}

/// The alignment of a value in a column of fixed width.
public struct OSLogStringAlignment: Sendable {
  private var width = 0
  private var isRight = false

  public static var none: OSLogStringAlignment { .init() }
  public static func left(columns: @autoclosure () -> Int) -> OSLogStringAlignment { .init(width: columns()) }
  public static func right(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
    .init(width: columns(), isRight: true)
  }

  func pad(_ text: String) -> String {
    let missing = max(0, min(width, 1024)) - text.count
    guard missing > 0 else { return text }
    let spaces = String(repeating: " ", count: missing)
    return isRight ? spaces + text : text + spaces
  }
}
