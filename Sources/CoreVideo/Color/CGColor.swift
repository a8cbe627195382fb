// SPDX-License-Identifier: Apache-2.0
/// A colour with alpha.
public final class CGColor: Sendable, Hashable {
  /// The components from 0.0 to 1.0: red, green, blue and alpha, or grey and alpha.
  private let values: [CGFloat]
  public let colorSpace: CGColorSpace?

  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    values = [red, green, blue, alpha]
    colorSpace = CGColorSpaceCreateDeviceRGB()
  }

  public convenience init(srgbRed red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    self.init(red: red, green: green, blue: blue, alpha: alpha)
  }

  public init(gray: CGFloat, alpha: CGFloat) {
    values = [gray, alpha]
    colorSpace = CGColorSpaceCreateDeviceGray()
  }

  /// Creates a colour in a colour space.
  /// - Parameters:
  ///   - colorSpace: A grey space, or one of three components.
  ///   - components: As many values as the space has components, followed by alpha.
  /// - Returns: Nil for a space that is neither grey nor of three components.
  public init?(colorSpace: CGColorSpace, components: UnsafePointer<CGFloat>) {
    let count = colorSpace.numberOfComponents
    guard count == 1 || count == 3 else { return nil }
    values = Array(UnsafeBufferPointer(start: components, count: count + 1))
    self.colorSpace = colorSpace
  }

  public static let white = CGColor(gray: 1, alpha: 1)
  public static let black = CGColor(gray: 0, alpha: 1)
  public static let clear = CGColor(gray: 0, alpha: 0)

  /// The components, alpha last.
  public var components: [CGFloat]? { values }
  /// The number of components, including alpha.
  public var numberOfComponents: Int { values.count }
  public var alpha: CGFloat { values[values.count - 1] }

  /// The same colour with another alpha.
  public func copy(alpha: CGFloat) -> CGColor? {
    values.count == 2
      ? CGColor(gray: values[0], alpha: alpha)
      : CGColor(red: values[0], green: values[1], blue: values[2], alpha: alpha)
  }

  public static func == (a: CGColor, b: CGColor) -> Bool {
    a.values == b.values && a.colorSpace == b.colorSpace
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

/// The colour space that is assumed for pictures without one: sRGB.
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace {
  guard let space = CGColorSpace(name: CGColorSpace.sRGB) else { preconditionFailure("sRGB is known") }
  return space
}

/// The space of linear grey values, which need no conversion.
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace {
  guard let space = CGColorSpace(name: CGColorSpace.linearGray) else { preconditionFailure("grey is known") }
  return space
}
