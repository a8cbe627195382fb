// SPDX-License-Identifier: Apache-2.0
/// A structure that an `NSValue` stores by its bytes.
public protocol OVTValueType {
  /// The type encoding that `NSValue.objCType` returns for a value that holds this structure.
  static var ovtValueEncoding: String { get }
}

extension NSValue {
  /// Returns the stored value as a type, for example `time.value(of: CMTime.self)`.
  ///
  /// It supports points, sizes, rectangles, ranges, times, time ranges, time mappings, and numbers
  /// that the type represents exactly.
  /// - Parameter type: The type of the stored value.
  /// - Returns: The value. It is nil if the object stores a value of another type, or if the type
  ///   is not supported.
  public func value<StoredType>(of type: StoredType.Type) -> StoredType? {
    // Foundation on Linux does not record the type that a number was created from.
    if let number = self as? NSNumber { return number as? StoredType }
    guard let known = type as? any OVTValueType.Type, String(cString: objCType) == known.ovtValueEncoding
    else { return nil }
    return withUnsafeTemporaryAllocation(of: StoredType.self, capacity: 1) { buffer in
      guard let pointer = buffer.baseAddress else { return nil }
      // These types contain no references, so that copying their bytes is enough.
      getValue(pointer)
      return pointer.pointee
    }
  }
}

extension CGPoint: OVTValueType {
  public static var ovtValueEncoding: String { String(cString: NSValue(point: .zero).objCType) }
}
extension CGSize: OVTValueType {
  public static var ovtValueEncoding: String { String(cString: NSValue(size: .zero).objCType) }
}
extension CGRect: OVTValueType {
  public static var ovtValueEncoding: String { String(cString: NSValue(rect: .zero).objCType) }
}
extension NSRange: OVTValueType {
  public static var ovtValueEncoding: String { String(cString: NSValue(range: NSRange()).objCType) }
}
