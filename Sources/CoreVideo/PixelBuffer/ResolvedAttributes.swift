// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Merges the requirements of several users of a buffer.
///
/// Sizes must agree. Pixel formats are those that all accept, in the order of the first dictionary.
/// Extended pixels and alignments are the largest that are named. A Boolean is true if it is true
/// in any dictionary. Dictionaries are merged; of all other values the first is taken.
/// - Returns: `kCVReturnInvalidPixelBufferAttributes` if no buffer can meet all requirements;
///   `kCVReturnInvalidArgument` if an element of the array is not a dictionary.
@discardableResult
public func CVPixelBufferCreateResolvedAttributesDictionary(
  _ allocator: CFAllocator?, _ attributes: CFArray?,
  _ resolvedDictionaryOut: UnsafeMutablePointer<CFDictionary?>
) -> CVReturn {
  resolvedDictionaryOut.pointee = nil
  let resolved = NSMutableDictionary()
  for item in attributes ?? [] {
    guard let dictionary = item as? NSDictionary else { return kCVReturnInvalidArgument }
    do throws(PixelBufferAttributes.Failure) { _ = try PixelBufferAttributes(dictionary) } catch {
      return error.code
    }
    for (key, value) in dictionary {
      guard let key = key as? String else { return kCVReturnInvalidArgument }
      guard let merged = merge(key, resolved[key], value) else {
        return kCVReturnInvalidPixelBufferAttributes
      }
      resolved[key] = merged
    }
  }
  resolvedDictionaryOut.pointee = (resolved.copy() as! NSDictionary)
  return kCVReturnSuccess
}

/// Merges two values of a key; nil if they contradict each other.
private func merge(_ key: String, _ old: Any?, _ new: Any) -> Any? {
  guard let old else { return new }
  switch key as NSString {
  case kCVPixelBufferPixelFormatTypeKey:
    let accepted = Set(numbers(new).map(\.uint32Value))
    let common = numbers(old).filter { accepted.contains($0.uint32Value) }
    return common.isEmpty ? nil : common.count == 1 ? common[0] : common as NSArray
  case kCVPixelBufferWidthKey, kCVPixelBufferHeightKey:
    return (old as? NSNumber) == (new as? NSNumber) ? old : nil
  case kCVPixelBufferExtendedPixelsLeftKey, kCVPixelBufferExtendedPixelsRightKey,
    kCVPixelBufferExtendedPixelsTopKey, kCVPixelBufferExtendedPixelsBottomKey,
    kCVPixelBufferBytesPerRowAlignmentKey, kCVPixelBufferPlaneAlignmentKey:
    // Alignments are powers of two, so that the larger one meets both.
    guard let a = old as? NSNumber, let b = new as? NSNumber else { return nil }
    return a.intValue >= b.intValue ? a : b
  default: break
  }
  if let a = old as? NSDictionary, let b = new as? NSDictionary {
    let all = NSMutableDictionary()
    for dictionary in [b, a] {
      for case (let key as AnyHashable, let value) in dictionary { all.setObject(value, forKey: key) }
    }
    return all
  }
  if let a = old as? NSNumber, let b = new as? NSNumber, isBoolean(a), isBoolean(b) {
    return NSNumber(value: a.boolValue || b.boolValue)
  }
  return old
}

private func numbers(_ value: Any) -> [NSNumber] {
  if let number = value as? NSNumber { return [number] }
  return (value as? NSArray)?.compactMap { $0 as? NSNumber } ?? []
}
