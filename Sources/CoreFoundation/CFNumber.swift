// SPDX-License-Identifier: Apache-2.0
/// A number type: the type of a stored number, or the type to convert a number to.
public enum CFNumberType: CFIndex, Sendable {
  case sInt8Type = 1
  case sInt16Type = 2
  case sInt32Type = 3
  case sInt64Type = 4
  case float32Type = 5
  case float64Type = 6
  case charType = 7
  case shortType = 8
  case intType = 9
  case longType = 10
  case longLongType = 11
  case floatType = 12
  case doubleType = 13
  case cfIndexType = 14
  case nsIntegerType = 15
  case cgFloatType = 16

  public static var maxType: CFNumberType { .cgFloatType }
}

public let kCFNumberPositiveInfinity: CFNumber! = NSNumber(value: Double.infinity)
public let kCFNumberNegativeInfinity: CFNumber! = NSNumber(value: -Double.infinity)
public let kCFNumberNaN: CFNumber! = NSNumber(value: Double.nan)

/// Creates a number object from the number at an address.
@discardableResult
public func CFNumberCreate(
  _ allocator: CFAllocator!, _ theType: CFNumberType, _ valuePtr: UnsafeRawPointer!
) -> CFNumber! {
  guard let valuePtr else { return nil }
  return switch theType.fixed {
  case .sInt8Type: NSNumber(value: valuePtr.loadUnaligned(as: Int8.self))
  case .sInt16Type: NSNumber(value: valuePtr.loadUnaligned(as: Int16.self))
  case .sInt32Type: NSNumber(value: valuePtr.loadUnaligned(as: Int32.self))
  case .float32Type: NSNumber(value: valuePtr.loadUnaligned(as: Float.self))
  case .float64Type: NSNumber(value: valuePtr.loadUnaligned(as: Double.self))
  default: NSNumber(value: valuePtr.loadUnaligned(as: Int64.self))
  }
}

/// Converts a number to a type and writes it to an address.
///
/// A number that does not fit is written all the same. A floating-point number loses its fraction
/// and becomes the nearest integer that fits. An integer keeps its low-order bits.
/// - Returns: Whether the written number equals the original.
@discardableResult
public func CFNumberGetValue(
  _ number: CFNumber!, _ theType: CFNumberType, _ valuePtr: UnsafeMutableRawPointer!
) -> Bool {
  guard let number, let valuePtr else { return false }
  func store<T: FixedWidthInteger>(_ type: T.Type) -> Bool {
    if CFNumberIsFloatType(number) {
      let value = number.doubleValue
      let whole: T =
        value.isNaN ? 0 : T(exactly: value.rounded(.towardZero)) ?? (value < 0 ? T.min : T.max)
      valuePtr.storeBytes(of: whole, as: T.self)
      return Double(whole) == value
    }
    if UInt8(bitPattern: number.objCType.pointee) == UInt8(ascii: "Q") {
      valuePtr.storeBytes(of: T(truncatingIfNeeded: number.uint64Value), as: T.self)
      return T(exactly: number.uint64Value) != nil
    }
    valuePtr.storeBytes(of: T(truncatingIfNeeded: number.int64Value), as: T.self)
    return T(exactly: number.int64Value) != nil
  }
  switch theType.fixed {
  case .sInt8Type: return store(Int8.self)
  case .sInt16Type: return store(Int16.self)
  case .sInt32Type: return store(Int32.self)
  case .float32Type:
    valuePtr.storeBytes(of: number.floatValue, as: Float.self)
    return isKept(number, as: Double(number.floatValue))
  case .float64Type:
    valuePtr.storeBytes(of: number.doubleValue, as: Double.self)
    return isKept(number, as: number.doubleValue)
  default: return store(Int64.self)
  }
}

/// Returns whether a number equals the floating-point number that it was converted to.
private func isKept(_ number: CFNumber, as value: Double) -> Bool {
  if CFNumberIsFloatType(number) { return number.doubleValue == value || number.doubleValue.isNaN }
  return Int64(exactly: value) == number.int64Value
}

/// Returns the type of a stored number.
@discardableResult
public func CFNumberGetType(_ number: CFNumber!) -> CFNumberType {
  guard let number else { return .sInt32Type }
  return switch UInt8(bitPattern: number.objCType.pointee) {
  case UInt8(ascii: "c"), UInt8(ascii: "C"), UInt8(ascii: "B"): .sInt8Type
  case UInt8(ascii: "s"), UInt8(ascii: "S"): .sInt16Type
  case UInt8(ascii: "i"), UInt8(ascii: "I"): .sInt32Type
  case UInt8(ascii: "f"): .float32Type
  case UInt8(ascii: "d"): .float64Type
  default: .sInt64Type
  }
}

/// Returns whether a number is a floating-point number.
@discardableResult
public func CFNumberIsFloatType(_ number: CFNumber!) -> Bool {
  switch CFNumberGetType(number) {
  case .float32Type, .float64Type: true
  default: false
  }
}

/// Returns the size in bytes of a number's type.
@discardableResult
public func CFNumberGetByteSize(_ number: CFNumber!) -> CFIndex {
  switch CFNumberGetType(number) {
  case .sInt8Type: 1
  case .sInt16Type: 2
  case .sInt32Type, .float32Type: 4
  default: 8
  }
}

/// Compares two numbers.
@discardableResult
public func CFNumberCompare(
  _ number: CFNumber!, _ otherNumber: CFNumber!, _ context: UnsafeMutableRawPointer!
) -> CFComparisonResult {
  guard let number, let otherNumber else { return .compareEqualTo }
  return CFComparisonResult(rawValue: number.compare(otherNumber).rawValue) ?? .compareEqualTo
}

/// Returns whether a boolean is true.
@discardableResult
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean?.boolValue ?? false }

extension CFNumberType {
  /// The type of fixed size that is equivalent to this type on 64-bit systems.
  fileprivate var fixed: CFNumberType {
    switch self {
    case .charType: .sInt8Type
    case .shortType: .sInt16Type
    case .intType: .sInt32Type
    case .longType, .longLongType, .cfIndexType, .nsIntegerType: .sInt64Type
    case .floatType: .float32Type
    case .doubleType, .cgFloatType: .float64Type
    default: self
    }
  }
}
