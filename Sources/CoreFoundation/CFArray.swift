// SPDX-License-Identifier: Apache-2.0
internal import CCoreFoundation

// Arrays through raw pointers: a value is the address of an object, unless the array was made without callbacks.

/// What an array's values are: objects with `kCFTypeArrayCallBacks`, plain pointers with `init()`.
public struct CFArrayCallBacks: Sendable {
  public let version: CFIndex = 0
  let holdsObjects: Bool
  public init() { holdsObjects = false }
  fileprivate init(holdsObjects: Bool) { self.holdsObjects = holdsObjects }
}

// A variable, so that its address can be taken with `&`.
public nonisolated(unsafe) var kCFTypeArrayCallBacks = CFArrayCallBacks(holdsObjects: true)

public typealias CFArrayApplierFunction =
  @convention(c) (_ value: UnsafeRawPointer?, _ context: UnsafeMutableRawPointer?) -> Void

// MARK: - Creation

/// An array of `numValues` values.
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

/// An empty array that can be changed. The capacity is a hint.
@discardableResult
public func CFArrayCreateMutable(
  _ allocator: CFAllocator!, _ capacity: CFIndex, _ callBacks: UnsafePointer<CFArrayCallBacks>!
) -> CFMutableArray! {
  if callBacks?.pointee.holdsObjects == true { return CFMutableArray() }
  guard let made = OVTArrayCreateMutable(nil, 0, nil) else { return nil }
  return Unmanaged<CFMutableArray>.fromOpaque(made).takeRetainedValue()
}

/// A copy that cannot be changed.
@discardableResult
public func CFArrayCreateCopy(_ allocator: CFAllocator!, _ theArray: CFArray!) -> CFArray! {
  guard let theArray else { return nil }
  return holdsObjects(theArray) ? (theArray.copy() as! CFArray) : CFArrayCreateMutableCopy(nil, 0, theArray)
}

/// A copy that can be changed.
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

/// The address of a value, nil if there is no such index. It stays valid as long as the value is in the array.
@discardableResult
public func CFArrayGetValueAtIndex(_ theArray: CFArray!, _ idx: CFIndex) -> UnsafeRawPointer! {
  guard let theArray, idx >= 0, idx < OVTArrayGetCount(raw(theArray)) else { return nil }
  return unboxed(OVTArrayGetValueAtIndex(raw(theArray), idx), in: theArray)
}

/// Fills an array with the values of a range.
public func CFArrayGetValues(
  _ theArray: CFArray!, _ range: CFRange, _ values: UnsafeMutablePointer<UnsafeRawPointer?>!
) {
  guard let values, let range = indices(range, in: theArray) else { return }
  for (i, index) in range.enumerated() { values[i] = CFArrayGetValueAtIndex(theArray, index) }
}

/// Whether a value is in a range, by `CFEqual` or, for plain pointers, by address.
@discardableResult
public func CFArrayContainsValue(_ theArray: CFArray!, _ range: CFRange, _ value: UnsafeRawPointer!) -> Bool {
  CFArrayGetFirstIndexOfValue(theArray, range, value) != kCFNotFound
}

/// The first index of a value in a range, or `kCFNotFound`.
@discardableResult
public func CFArrayGetFirstIndexOfValue(_ theArray: CFArray!, _ range: CFRange, _ value: UnsafeRawPointer!)
  -> CFIndex
{
  guard let theArray, let range = indices(range, in: theArray) else { return kCFNotFound }
  return range.first { same(CFArrayGetValueAtIndex(theArray, $0), value, in: theArray) } ?? kCFNotFound
}

/// Calls a function for every value of a range.
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

/// Appends the values of a range of another array.
public func CFArrayAppendArray(_ theArray: CFMutableArray!, _ otherArray: CFArray!, _ otherRange: CFRange) {
  guard let range = indices(otherRange, in: otherArray) else { return }
  for index in range { CFArrayAppendValue(theArray, CFArrayGetValueAtIndex(otherArray, index)) }
}

/// Inserts a value before an index, which may be the count.
public func CFArrayInsertValueAtIndex(_ theArray: CFMutableArray!, _ idx: CFIndex, _ value: UnsafeRawPointer!)
{
  guard let theArray, isStorable(value, in: theArray), 0...CFArrayGetCount(theArray) ~= idx else { return }
  OVTArrayInsertValueAtIndex(raw(theArray), idx, value)
}

/// Replaces the value at an index; at the count it appends.
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

// MARK: - Within

private func isStorable(_ value: UnsafeRawPointer?, in container: AnyObject) -> Bool {
  value != nil || !holdsObjects(container)
}

/// A range's indices if they are all in the array.
private func indices(_ range: CFRange, in array: CFArray?) -> Range<Int>? {
  guard let array, range.location >= 0, range.length >= 0,
    range.length <= CFArrayGetCount(array), range.location <= CFArrayGetCount(array) - range.length
  else { return nil }
  return range.location..<range.location + range.length
}
