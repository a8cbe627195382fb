// SPDX-License-Identifier: Apache-2.0
/// A structure that `NSValue` holds by its bytes, and what it says of their type then.
public protocol OVTValueType {
  /// What `NSValue.objCType` is for a value that holds one.
  static var ovtValueEncoding: String { get }
}

extension NSValue {
  /// The value as a type, if it holds one of that type: `time.value(of: CMTime.self)`.
  ///
  /// Points, sizes, rectangles, ranges, times, time ranges and mappings, and numbers that the type holds exactly.
  /// - Parameter type: What to look for.
  /// - Returns: nil if it holds something else, or if values of this type are not stored by their bytes.
  public func value<StoredType>(of type: StoredType.Type) -> StoredType? {
    // Foundation on Linux does not tell of a number what type it was made of.
    if let number = self as? NSNumber { return number as? StoredType }
    guard let known = type as? any OVTValueType.Type, String(cString: objCType) == known.ovtValueEncoding
    else { return nil }
    return withUnsafeTemporaryAllocation(of: StoredType.self, capacity: 1) { buffer in
      guard let place = buffer.baseAddress else { return nil }
      // These types have no references: bytes are all there is to them.
      getValue(place)
      return place.pointee
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
