// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A tag of a buffer or channel: a category and a value of 64 bits.
public class CMTag: @unchecked Sendable, Equatable, CustomStringConvertible {
  // Sendable: the properties are immutable, and the subclass adds only constants.

  /// The category as a four-character code.
  public typealias RawCategory = FourCharCode

  /// The value of a tag, with its type.
  public enum Value: Hashable, Sendable {
    case int64(Int64)
    case float64(Float64)
    case flags(UInt64)
    case osType(OSType)
  }

  public final let rawCategory: RawCategory
  public final let rawTagValue: Value

  public init(rawCategory: RawCategory, rawTagValue: Value) {
    self.rawCategory = rawCategory
    self.rawTagValue = rawTagValue
  }

  /// Returns the value if the tag has that category and its value is valid in it; otherwise nil.
  public final func value<T: Sendable>(onlyIfMatching category: CMTypedTag<T>.Category) -> T? {
    rawCategory == category.rawCategory ? category.value(for: rawTagValue) : nil
  }

  /// Tags are equal if they have the same category and the same value of the same type.
  public static func == (a: CMTag, b: CMTag) -> Bool {
    a.rawCategory == b.rawCategory && a.rawTagValue == b.rawTagValue
  }

  public var description: String {
    let value =
      switch rawTagValue {
      case .int64(let number): "\(number)"
      case .float64(let number): "\(number)"
      case .flags(let flags): "0x\(String(flags, radix: 16))"
      case .osType(let code): "'\(fourCharacters(code))'"
      }
    return "{category:'\(fourCharacters(rawCategory))', value:\(value)}"
  }
}

/// A tag whose value has a Swift type.
public final class CMTypedTag<TypedValue: Sendable>: CMTag, @unchecked Sendable {
  // Sendable: immutable.
  public let category: Category
  public let value: TypedValue

  public init(category: Category, value: TypedValue) {
    self.category = category
    self.value = value
    super.init(rawCategory: category.rawCategory, rawTagValue: category.tagValue(for: value))
  }

  /// A category of tags, and the conversion of its values to and from their stored form.
  public struct Category: Sendable {
    public let rawCategory: CMTag.RawCategory
    private let valueForTagValue: @Sendable (CMTag.Value) -> TypedValue?
    private let tagValueForValue: @Sendable (TypedValue) -> CMTag.Value

    public init(
      rawCategory: CMTag.RawCategory,
      valueForTagValue: @escaping @Sendable (CMTag.Value) -> TypedValue?,
      tagValueForValue: @escaping @Sendable (TypedValue) -> CMTag.Value
    ) {
      self.rawCategory = rawCategory
      self.valueForTagValue = valueForTagValue
      self.tagValueForValue = tagValueForValue
    }

    public func tagValue(for value: TypedValue) -> CMTag.Value { tagValueForValue(value) }

    /// Converts a tag's value; nil for one that is invalid in this category.
    public func value(for tagValue: CMTag.Value) -> TypedValue? { valueForTagValue(tagValue) }
  }
}

extension Sequence where Element == CMTag {
  /// Returns the first tag of a category with a valid value; nil if there is none.
  public func first<T: Sendable>(matchingCategory category: CMTypedTag<T>.Category) -> CMTypedTag<T>? {
    firstValue(matchingCategory: category).map { CMTypedTag(category: category, value: $0) }
  }

  /// Returns the value of the first tag of a category with a valid value; nil if there is none.
  public func firstValue<T: Sendable>(matchingCategory category: CMTypedTag<T>.Category) -> T? {
    for tag in self {
      if let value = tag.value(onlyIfMatching: category) { return value }
    }
    return nil
  }

  /// Returns the tags of a category with valid values.
  public func filter<T: Sendable>(matchingCategory category: CMTypedTag<T>.Category) -> [CMTypedTag<T>] {
    compactMap { tag in
      tag.value(onlyIfMatching: category).map { CMTypedTag(category: category, value: $0) }
    }
  }
}
