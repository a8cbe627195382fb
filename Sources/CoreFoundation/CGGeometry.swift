// SPDX-License-Identifier: Apache-2.0
// What the geometry of Core Graphics has on Apple's systems beyond Foundation's on Linux.

extension CGPoint {
  /// Whether both coordinates are the same.
  public func equalTo(_ point2: CGPoint) -> Bool { self == point2 }

  /// The point for a property list: `X` and `Y`, numbers.
  public var dictionaryRepresentation: CFDictionary {
    ["X": NSNumber(value: Double(x)), "Y": NSNumber(value: Double(y))] as NSDictionary
  }

  /// A point from `dictionaryRepresentation`; nil for a dictionary that has no such numbers.
  public init?(dictionaryRepresentation dict: CFDictionary) {
    guard let x = dict.coordinate("X"), let y = dict.coordinate("Y") else { return nil }
    self.init(x: x, y: y)
  }
}

extension CGSize {
  /// Whether both sides are the same.
  public func equalTo(_ size2: CGSize) -> Bool { self == size2 }

  /// The size for a property list: `Width` and `Height`, numbers.
  public var dictionaryRepresentation: CFDictionary {
    ["Width": NSNumber(value: Double(width)), "Height": NSNumber(value: Double(height))] as NSDictionary
  }

  /// A size from `dictionaryRepresentation`; nil for a dictionary that has no such numbers.
  public init?(dictionaryRepresentation dict: CFDictionary) {
    guard let width = dict.coordinate("Width"), let height = dict.coordinate("Height") else { return nil }
    self.init(width: width, height: height)
  }
}

extension CGRect {
  /// Whether origin and size are the same once both rectangles have sides that are not negative.
  public func equalTo(_ rect2: CGRect) -> Bool { standardized == rect2.standardized }

  /// The rectangle for a property list: `X`, `Y`, `Width` and `Height`, numbers.
  public var dictionaryRepresentation: CFDictionary {
    let rect = standardized
    return [
      "X": NSNumber(value: Double(rect.origin.x)), "Y": NSNumber(value: Double(rect.origin.y)),
      "Width": NSNumber(value: Double(rect.width)), "Height": NSNumber(value: Double(rect.height)),
    ] as NSDictionary
  }

  /// A rectangle from `dictionaryRepresentation`; nil for a dictionary that has no such numbers.
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

/// A direction with a length.
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

// As numbers in brackets: points, sizes and vectors have two, rectangles four.

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
