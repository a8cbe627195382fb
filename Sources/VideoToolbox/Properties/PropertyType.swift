// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The value of a property as a Swift value, parsed from a Core Foundation object.
enum PropertyValue: Sendable, Equatable {
  case boolean(Bool)
  case number(Double)
  case text(String)
  case numbers([Double])
  case dictionary([String: Double])
  case data([UInt8])
  case storage(VTMultiPassStorage)
  /// Properties of a pixel transfer.
  case transfer([String: PropertyValue])

  /// The value as the object that `VTSessionCopyProperty` returns.
  var object: AnyObject {
    switch self {
    case .boolean(let value): NSNumber(value: value)
    case .number(let value): Self.boxed(value)
    case .text(let value): value as NSString
    case .numbers(let values): NSArray(array: values.map(Self.boxed))
    case .dictionary(let values): NSDictionary(dictionary: values.mapValues(Self.boxed))
    case .data(let bytes): NSData(data: Data(bytes))
    case .storage(let storage): storage
    case .transfer(let values): NSDictionary(dictionary: values.mapValues(\.object))
    }
  }

  /// Makes an integer NSNumber of a value without a fraction. (Not named `number`: `map` would take
  /// the case of that name.)
  private static func boxed(_ value: Double) -> NSNumber {
    if let whole = Int(exactly: value) { return NSNumber(value: whole) }
    return NSNumber(value: value)
  }

  var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  var number: Double? { if case .number(let value) = self { value } else { nil } }
  var integer: Int? { number.flatMap { Int(exactly: $0.rounded()) } }
  var text: String? { if case .text(let value) = self { value } else { nil } }
  var numbers: [Double]? { if case .numbers(let values) = self { values } else { nil } }
  var dictionary: [String: Double]? { if case .dictionary(let values) = self { values } else { nil } }
  var data: [UInt8]? { if case .data(let bytes) = self { bytes } else { nil } }
}

/// The type and the allowed values of a property.
enum PropertyType: Sendable {
  case boolean
  case number(ClosedRange<Double>)
  /// A whole number; the fraction of any other number is dropped.
  case integer(ClosedRange<Int>)
  /// One of these numbers.
  case choice([Int])
  /// One of these strings.
  case enumeration([String])
  case text
  /// An array of numbers.
  case numbers
  /// A dictionary of numbers, with these keys and no others; the required ones must be there. A
  /// number may also be given as an array of two numbers, numerator and denominator, under the key
  /// with `Rational` appended, as in a format description's clean aperture.
  case dictionary(required: [String], optional: [String])
  /// Data of this length in bytes.
  case data(count: Int)
  case multiPassStorage
  /// A dictionary of `kVTPixelTransferPropertyKey_` keys.
  case pixelTransfer
  /// An object or a collection that the session makes, for read-only properties.
  case other

  /// Parses an object; nil if it has another type or its value is not allowed.
  func parse(_ object: AnyObject) -> PropertyValue? {
    switch self {
    case .boolean:
      guard let number = object as? NSNumber, isBoolean(number) || [0, 1].contains(number.doubleValue) else {
        return nil
      }
      return .boolean(number.boolValue)
    case .number(let range):
      guard let value = Self.plainNumber(object), range.contains(value) else { return nil }
      return .number(value)
    case .integer(let range):
      guard let whole = Self.wholeNumber(object), range.contains(whole) else { return nil }
      return .number(Double(whole))
    case .choice(let values):
      guard let whole = Self.wholeNumber(object), values.contains(whole) else { return nil }
      return .number(Double(whole))
    case .enumeration(let values):
      guard let text = (object as? NSString) as String?, values.contains(text) else { return nil }
      return .text(text)
    case .text:
      guard let text = (object as? NSString) as String? else { return nil }
      return .text(text)
    case .numbers:
      guard let array = object as? NSArray else { return nil }
      let values = array.compactMap { Self.plainNumber($0 as AnyObject) }
      return values.count == array.count ? .numbers(values) : nil
    case .dictionary(let required, let optional):
      guard let dictionary = object as? NSDictionary else { return nil }
      var values: [String: Double] = [:]
      for (key, value) in dictionary {
        guard let key = key as? String else { return nil }
        let plain = key.hasSuffix(Self.rational) ? String(key.dropLast(Self.rational.count)) : key
        guard required.contains(plain) || optional.contains(plain),
          let number = plain == key
            ? Self.plainNumber(value as AnyObject) : Self.quotient(value as AnyObject)
        else { return nil }
        if plain == key || dictionary[plain] == nil { values[plain] = number }
      }
      return required.allSatisfy { values[$0] != nil } ? .dictionary(values) : nil
    case .data(let count):
      guard let data = object as? NSData, data.length == count else { return nil }
      return .data([UInt8](data as Data))
    case .multiPassStorage: return (object as? VTMultiPassStorage).map { .storage($0) }
    case .pixelTransfer:
      return (object as? NSDictionary).flatMap { PixelTransferProperties.values($0) }.map { .transfer($0) }
    case .other: return nil
    }
  }

  /// A finite number that is not a Boolean.
  private static func plainNumber(_ object: AnyObject) -> Double? {
    guard let number = object as? NSNumber, !isBoolean(number), number.doubleValue.isFinite else {
      return nil
    }
    return number.doubleValue
  }

  private static let rational = "Rational"

  /// An array of numerator and denominator.
  private static func quotient(_ object: AnyObject) -> Double? {
    guard let parts = object as? NSArray, parts.count == 2,
      let numerator = plainNumber(parts[0] as AnyObject),
      let denominator = plainNumber(parts[1] as AnyObject), denominator != 0
    else { return nil }
    let quotient = numerator / denominator
    return quotient.isFinite ? quotient : nil
  }

  /// A number without its fraction, which is dropped as `CFNumberGetValue` does.
  private static func wholeNumber(_ object: AnyObject) -> Int? {
    plainNumber(object).flatMap { Int(exactly: $0.rounded(.towardZero)) }
  }

  /// The entries of the type in the dictionaries of `VTSessionCopySupportedPropertyDictionary`.
  var description: [String: Any] {
    let type = kVTPropertyTypeKey as String
    let minimum = kVTPropertySupportedValueMinimumKey as String
    let maximum = kVTPropertySupportedValueMaximumKey as String
    let list = kVTPropertySupportedValueListKey as String
    switch self {
    case .boolean: return [type: kVTPropertyType_Boolean]
    case .number(let range):
      var result: [String: Any] = [type: kVTPropertyType_Number, minimum: NSNumber(value: range.lowerBound)]
      if range.upperBound < 1e12 { result[maximum] = NSNumber(value: range.upperBound) }
      return result
    case .integer(let range):
      var result: [String: Any] = [type: kVTPropertyType_Number, minimum: NSNumber(value: range.lowerBound)]
      if range.upperBound < Int(Int32.max) { result[maximum] = NSNumber(value: range.upperBound) }
      return result
    case .choice(let values):
      return [type: kVTPropertyType_Enumeration, list: values.map { NSNumber(value: $0) } as NSArray]
    case .enumeration(let values): return [type: kVTPropertyType_Enumeration, list: values as NSArray]
    case .text, .numbers, .dictionary, .data, .multiPassStorage, .pixelTransfer, .other: return [:]
    }
  }
}

extension NSDictionary {
  /// The entries whose keys are strings.
  var entries: [String: AnyObject] {
    var result: [String: AnyObject] = [:]
    for (key, value) in self {
      if let key = key as? String { result[key] = value as AnyObject }
    }
    return result
  }
}
