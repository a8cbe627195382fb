// SPDX-License-Identifier: Apache-2.0
internal import CCoreFoundation

// Arrays are accessed through raw pointers. A value is the address of an object, unless the array
// was created without callbacks.

/// The callbacks of an array. They say whether its values are objects (`kCFTypeArrayCallBacks`) or
/// plain pointers (`init()`).
public struct CFArrayCallBacks: Sendable {
  public let version: CFIndex = 0
  let holdsObjects: Bool
  public init() { holdsObjects = false }
  fileprivate init(holdsObjects: Bool) { self.holdsObjects = holdsObjects }
}

// This is a variable so that its address can be taken with `&`.
public nonisolated(unsafe) var kCFTypeArrayCallBacks = CFArrayCallBacks(holdsObjects: true)

public typealias CFArrayApplierFunction =
  @convention(c) (_ value: UnsafeRawPointer?, _ context: UnsafeMutableRawPointer?) -> Void

// MARK: - Creation

/// Creates an array of `numValues` values. An array of objects skips values that are nil.
@discardableResult
public func CFArrayCreate(
  _ allocator: CFAllocator!, _ values: UnsafeMutablePointer<UnsafeRawPointer?>!, _ numValues: CFIndex,
  _ callBacks: UnsafePointer<CFArrayCallBacks>!
) -> CFArray! {
  guard let result = CFArrayCreateMutable(allocator, numValues, callBacks) else { return nil }
  if numValues > 0, values != nil {
    for i in 0..<numValues { CFArrayAppendValue(result, values[i]) }
  }
  return holdsObjects(result) ? (result.copy() as! CFArray) : result
}

/// Creates an empty array that can be changed.
/// - Parameters:
///   - allocator: Ignored.
///   - capacity: Ignored. The array grows as needed.
///   - callBacks: Whether the values are objects; nil for plain pointers.
@discardableResult
public func CFArrayCreateMutable(
  _ allocator: CFAllocator!, _ capacity: CFIndex, _ callBacks: UnsafePointer<CFArrayCallBacks>!
) -> CFMutableArray! {
  if callBacks?.pointee.holdsObjects == true { return CFMutableArray() }
  guard let made = OVTArrayCreateMutable(nil, 0, nil) else { return nil }
  return Unmanaged<CFMutableArray>.fromOpaque(made).takeRetainedValue()
}

/// Returns a copy of an array. The copy of an array of objects is immutable.
@discardableResult
public func CFArrayCreateCopy(_ allocator: CFAllocator!, _ theArray: CFArray!) -> CFArray! {
  guard let theArray else { return nil }
  return holdsObjects(theArray) ? (theArray.copy() as! CFArray) : CFArrayCreateMutableCopy(nil, 0, theArray)
}

/// Returns a mutable copy of an array. The capacity is ignored.
@discardableResult
public func CFArrayCreateMutableCopy(
  _ allocator: CFAllocator!, _ capacity: CFIndex, _ theArray: CFArray!
) -> CFMutableArray! {
  guard let theArray else { return nil }
  if holdsObjects(theArray) { return (theArray.mutableCopy() as! CFMutableArray) }
  guard let copy = CFArrayCreateMutable(allocator, capacity, nil) else { return nil }
  for i in 0..<CFArrayGetCount(theArray) { CFArrayAppendValue(copy, CFArrayGetValueAtIndex(theArray, i)) }
  return copy
}

// MARK: - Reading

@discardableResult
public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex {
  theArray.map { OVTArrayGetCount(raw($0)) } ?? 0
}

/// Returns the address of a value, which stays valid as long as the value is in the array, or nil
/// if there is no such index.
@discardableResult
public func CFArrayGetValueAtIndex(_ theArray: CFArray!, _ idx: CFIndex) -> UnsafeRawPointer! {
  guard let theArray, idx >= 0, idx < OVTArrayGetCount(raw(theArray)) else { return nil }
  return unboxed(OVTArrayGetValueAtIndex(raw(theArray), idx), in: theArray)
}

/// Copies the values of a range to a buffer. It does nothing if the range is not entirely within
/// the array.
public func CFArrayGetValues(
  _ theArray: CFArray!, _ range: CFRange, _ values: UnsafeMutablePointer<UnsafeRawPointer?>!
) {
  guard let values, let range = indices(range, in: theArray) else { return }
  for (i, index) in range.enumerated() { values[i] = CFArrayGetValueAtIndex(theArray, index) }
}

/// Returns whether a range contains a value. Objects are compared by `CFEqual`, plain pointers by
/// address.
@discardableResult
public func CFArrayContainsValue(_ theArray: CFArray!, _ range: CFRange, _ value: UnsafeRawPointer!) -> Bool {
  CFArrayGetFirstIndexOfValue(theArray, range, value) != kCFNotFound
}

/// Returns the first index of a value in a range, or `kCFNotFound` if the value is not in the range
/// or the range is not entirely within the array.
@discardableResult
public func CFArrayGetFirstIndexOfValue(_ theArray: CFArray!, _ range: CFRange, _ value: UnsafeRawPointer!)
  -> CFIndex
{
  guard let theArray, let range = indices(range, in: theArray) else { return kCFNotFound }
  return range.first { same(CFArrayGetValueAtIndex(theArray, $0), value, in: theArray) } ?? kCFNotFound
}

/// Calls a function for every value of a range. It does nothing if the range is not entirely within
/// the array.
public func CFArrayApplyFunction(
  _ theArray: CFArray!, _ range: CFRange, _ applier: CFArrayApplierFunction!,
  _ context: UnsafeMutableRawPointer!
) {
  guard let applier, let range = indices(range, in: theArray) else { return }
  for index in range { applier(CFArrayGetValueAtIndex(theArray, index), context) }
}

// MARK: - Changing

public func CFArrayAppendValue(_ theArray: CFMutableArray!, _ value: UnsafeRawPointer!) {
  guard let theArray, isStorable(value, in: theArray) else { return }
  OVTArrayAppendValue(raw(theArray), value)
}

/// Appends the values of a range of another array. It does nothing if the range is not entirely
/// within that array.
public func CFArrayAppendArray(_ theArray: CFMutableArray!, _ otherArray: CFArray!, _ otherRange: CFRange) {
  guard let range = indices(otherRange, in: otherArray) else { return }
  for index in range { CFArrayAppendValue(theArray, CFArrayGetValueAtIndex(otherArray, index)) }
}

/// Inserts a value before an index from 0 to the count. It does nothing for another index.
public func CFArrayInsertValueAtIndex(_ theArray: CFMutableArray!, _ idx: CFIndex, _ value: UnsafeRawPointer!)
{
  guard let theArray, isStorable(value, in: theArray), 0...CFArrayGetCount(theArray) ~= idx else { return }
  OVTArrayInsertValueAtIndex(raw(theArray), idx, value)
}

/// Replaces the value at an index. At an index equal to the count, it appends the value.
public func CFArraySetValueAtIndex(_ theArray: CFMutableArray!, _ idx: CFIndex, _ value: UnsafeRawPointer!) {
  guard let theArray, isStorable(value, in: theArray), 0...CFArrayGetCount(theArray) ~= idx else { return }
  if idx == CFArrayGetCount(theArray) {
    OVTArrayAppendValue(raw(theArray), value)
  } else {
    OVTArraySetValueAtIndex(raw(theArray), idx, value)
  }
}

public func CFArrayRemoveValueAtIndex(_ theArray: CFMutableArray!, _ idx: CFIndex) {
  guard let theArray, idx >= 0, idx < CFArrayGetCount(theArray) else { return }
  OVTArrayRemoveValueAtIndex(raw(theArray), idx)
}

public func CFArrayRemoveAllValues(_ theArray: CFMutableArray!) {
  guard let theArray else { return }
  OVTArrayRemoveAllValues(raw(theArray))
}

// MARK: - Private

private func isStorable(_ value: UnsafeRawPointer?, in container: AnyObject) -> Bool {
  value != nil || !holdsObjects(container)
}

/// Returns the indices of a range, or nil if they are not all in the array.
private func indices(_ range: CFRange, in array: CFArray?) -> Range<Int>? {
  guard let array, range.location >= 0, range.length >= 0,
    range.length <= CFArrayGetCount(array), range.location <= CFArrayGetCount(array) - range.length
  else { return nil }
  return range.location..<range.location + range.length
}
