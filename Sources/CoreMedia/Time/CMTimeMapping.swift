// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Which part of a source is shown when: a range of media time, and the range of track time it is mapped to.
///
/// An empty edit, a gap, has an invalid source.
public struct CMTimeMapping: Sendable, BitwiseCopyable {
  public var source: CMTimeRange
  public var target: CMTimeRange

  /// An invalid mapping.
  public init() {
    source = .invalid
    target = .invalid
  }

  public init(source: CMTimeRange, target: CMTimeRange) {
    self.source = source
    self.target = target
  }

  public static let invalid = CMTimeMapping()
}

public let kCMTimeMappingInvalid = CMTimeMapping.invalid

public func CMTIMEMAPPING_IS_VALID(_ mapping: CMTimeMapping) -> Bool { mapping.target.isValid }
public func CMTIMEMAPPING_IS_INVALID(_ mapping: CMTimeMapping) -> Bool { !mapping.target.isValid }
/// Whether the mapping is valid and shows nothing.
public func CMTIMEMAPPING_IS_EMPTY(_ mapping: CMTimeMapping) -> Bool {
  !mapping.source.start.isNumeric && mapping.target.isValid
}

@discardableResult
public func CMTimeMappingMake(source: CMTimeRange, target: CMTimeRange) -> CMTimeMapping {
  CMTimeMapping(source: source, target: target)
}

/// A mapping that shows nothing in a range.
@discardableResult
public func CMTimeMappingMakeEmpty(target: CMTimeRange) -> CMTimeMapping {
  CMTimeMapping(source: .invalid, target: target)
}

public nonisolated(unsafe) let kCMTimeMappingSourceKey: CFString = "source"
public nonisolated(unsafe) let kCMTimeMappingTargetKey: CFString = "target"

/// A mapping as a dictionary of two ranges' dictionaries.
@discardableResult
public func CMTimeMappingCopyAsDictionary(_ mapping: CMTimeMapping, allocator: CFAllocator?) -> CFDictionary?
{
  guard let source = CMTimeRangeCopyAsDictionary(mapping.source, allocator: allocator),
    let target = CMTimeRangeCopyAsDictionary(mapping.target, allocator: allocator)
  else { return nil }
  return [kCMTimeMappingSourceKey: source, kCMTimeMappingTargetKey: target] as NSDictionary
}

/// The mapping in a dictionary that `CMTimeMappingCopyAsDictionary` made; an invalid one if there is none in it.
@discardableResult
public func CMTimeMappingMakeFromDictionary(_ dictionaryRepresentation: CFDictionary) -> CMTimeMapping {
  func range(_ key: CFString) -> CMTimeRange {
    (dictionaryRepresentation[key] as? NSDictionary).map(CMTimeRangeMakeFromDictionary) ?? .invalid
  }
  return CMTimeMapping(source: range(kCMTimeMappingSourceKey), target: range(kCMTimeMappingTargetKey))
}

/// A mapping in words.
@discardableResult
public func CMTimeMappingCopyDescription(allocator: CFAllocator?, mapping: CMTimeMapping) -> CFString? {
  mapping.text as CFString
}

/// Writes a mapping to the standard error stream.
public func CMTimeMappingShow(_ mapping: CMTimeMapping) { writeLine(mapping.text) }

extension CMTimeMapping {
  var text: String { "{source: \(source.text), target: \(target.text)}" }
}

extension CMTimeMapping: Hashable {}
