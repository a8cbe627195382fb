// SPDX-License-Identifier: Apache-2.0
// Members of Core Graphics' geometry types that Foundation on Linux lacks.

extension CGPoint {
  /// Returns whether both coordinates are equal.
  public func equalTo(_ point2: CGPoint) -> Bool { self == point2 }

  /// The point as a dictionary for a property list, with the numbers `X` and `Y`.
  public var dictionaryRepresentation: CFDictionary {
    ["X": NSNumber(value: Double(x)), "Y": NSNumber(value: Double(y))] as NSDictionary
  }

  /// Creates a point from a dictionary like `dictionaryRepresentation`. It is nil if the dictionary
  /// lacks one of the numbers.
  public init?(dictionaryRepresentation dict: CFDictionary) {
    guard let x = dict.coordinate("X"), let y = dict.coordinate("Y") else { return nil }
    self.init(x: x, y: y)
  }
}

extension CGSize {
  /// Returns whether width and height are equal.
  public func equalTo(_ size2: CGSize) -> Bool { self == size2 }

  /// The size as a dictionary for a property list, with the numbers `Width` and `Height`.
  public var dictionaryRepresentation: CFDictionary {
    ["Width": NSNumber(value: Double(width)), "Height": NSNumber(value: Double(height))] as NSDictionary
  }

  /// Creates a size from a dictionary like `dictionaryRepresentation`. It is nil if the dictionary
  /// lacks one of the numbers.
  public init?(dictionaryRepresentation dict: CFDictionary) {
    guard let width = dict.coordinate("Width"), let height = dict.coordinate("Height") else { return nil }
    self.init(width: width, height: height)
  }
}

extension CGRect {
  /// Returns whether origin and size are equal after both rectangles are standardized, so that no
  /// side is negative.
  public func equalTo(_ rect2: CGRect) -> Bool { standardized == rect2.standardized }

  /// The standardized rectangle as a dictionary for a property list, with the numbers `X`, `Y`,
  /// `Width` and `Height`.
  public var dictionaryRepresentation: CFDictionary {
    let rect = standardized
    return [
      "X": NSNumber(value: Double(rect.origin.x)), "Y": NSNumber(value: Double(rect.origin.y)),
      "Width": NSNumber(value: Double(rect.width)), "Height": NSNumber(value: Double(rect.height)),
    ] as NSDictionary
  }

  /// Creates a rectangle from a dictionary like `dictionaryRepresentation`. It is nil if the
  /// dictionary lacks one of the numbers.
  public init?(dictionaryRepresentation dict: CFDictionary) {
    guard let origin = CGPoint(dictionaryRepresentation: dict),
      let size = CGSize(dictionaryRepresentation: dict)
    else { return nil }
    self.init(origin: origin, size: size)
  }
}

extension CFDictionary {
  fileprivate func coordinate(_ key: String) -> CGFloat? {
    (object(forKey: key) as? NSNumber).map { CGFloat($0.doubleValue) }
  }
}

/// A two-dimensional vector.
public struct CGVector: Hashable, Sendable, Codable {
  public var dx: CGFloat
  public var dy: CGFloat

  public init() {
    dx = 0
    dy = 0
  }

  public init(dx: CGFloat, dy: CGFloat) {
    self.dx = dx
    self.dy = dy
  }

  public init(dx: Double, dy: Double) { self.init(dx: CGFloat(dx), dy: CGFloat(dy)) }
  public init(dx: Int, dy: Int) { self.init(dx: CGFloat(dx), dy: CGFloat(dy)) }

  public static var zero: CGVector { CGVector() }
}

// The debug descriptions are lists of numbers in parentheses: two for points, sizes and vectors,
// four for rectangles.

extension CGPoint: @retroactive CustomDebugStringConvertible {
  public var debugDescription: String { "(\(Double(x)), \(Double(y)))" }
}

extension CGSize: @retroactive CustomDebugStringConvertible {
  public var debugDescription: String { "(\(Double(width)), \(Double(height)))" }
}

extension CGRect: @retroactive CustomDebugStringConvertible {
  public var debugDescription: String {
    "(\(Double(origin.x)), \(Double(origin.y)), \(Double(size.width)), \(Double(size.height)))"
  }
}

extension CGVector: CustomDebugStringConvertible {
  public var debugDescription: String { "(\(Double(dx)), \(Double(dy)))" }
}
