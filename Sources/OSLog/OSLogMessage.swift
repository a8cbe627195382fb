// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A message with interpolated values, each of which has a format and a privacy.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  let text: String

  public init(stringLiteral value: String) { text = value }
  public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// The interpolation that builds the text of a message.
public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
  var text = ""

  public init(literalCapacity: Int, interpolationCount: Int) {
    text.reserveCapacity(literalCapacity + 8 * interpolationCount)
  }

  public mutating func appendLiteral(_ literal: String) { text += literal }

  private mutating func append(
    _ privacy: OSLogPrivacy, _ align: OSLogStringAlignment = .none, isPublic: Bool,
    _ value: @autoclosure () -> String
  ) {
    text += align.pad(privacy.text(value(), isPublicByNature: isPublic))
  }

  public mutating func appendInterpolation(
    _ argumentString: @autoclosure () -> String, align: OSLogStringAlignment = .none,
    privacy: OSLogPrivacy = .auto
  ) { append(privacy, align, isPublic: false, argumentString()) }

  /// This overload is disfavored because numbers have their own, with a format and public by
  /// default.
  @_disfavoredOverload
  public mutating func appendInterpolation<Value: CustomStringConvertible>(
    _ value: @autoclosure () -> Value, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { append(privacy, align, isPublic: false, value().description) }

  public mutating func appendInterpolation(
    _ value: @autoclosure () -> Any.Type, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { append(privacy, align, isPublic: true, String(reflecting: value())) }

  public mutating func appendInterpolation(
    _ error: @autoclosure () -> any Error, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { append(privacy, align, isPublic: false, String(describing: error())) }

  public mutating func appendInterpolation(
    _ argumentObject: @autoclosure () -> NSObject?, privacy: OSLogPrivacy = .auto
  ) { append(privacy, isPublic: false, argumentObject()?.description ?? "(null)") }

  public mutating func appendInterpolation<Number: FixedWidthInteger>(
    _ number: @autoclosure () -> Number, format: OSLogIntegerFormatting = .decimal,
    align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { append(privacy, align, isPublic: true, format.text(number())) }

  public mutating func appendInterpolation(
    _ number: @autoclosure () -> Double, format: OSLogFloatFormatting = .fixed,
    align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { append(privacy, align, isPublic: true, format.text(number())) }

  public mutating func appendInterpolation(
    _ number: @autoclosure () -> Float, format: OSLogFloatFormatting = .fixed,
    align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { append(privacy, align, isPublic: true, format.text(Double(number()))) }

  public mutating func appendInterpolation(
    _ number: @autoclosure () -> CGFloat, format: OSLogFloatFormatting = .fixed,
    align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { append(privacy, align, isPublic: true, format.text(Double(number()))) }

  public mutating func appendInterpolation(
    _ boolean: @autoclosure () -> Bool, format: OSLogBoolFormat = .truth, privacy: OSLogPrivacy = .auto
  ) {
    append(
      privacy, isPublic: true, format == .truth ? (boolean() ? "true" : "false") : boolean() ? "yes" : "no")
  }
}
