// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A mapping of a range of media time to a range of track time. An empty edit, which is a gap, has
/// an invalid source.
public struct CMTimeMapping: Sendable, BitwiseCopyable {
  public var source: CMTimeRange
  public var target: CMTimeRange

  /// Creates an invalid mapping.
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
/// Returns whether the mapping is valid and has no source.
public func CMTIMEMAPPING_IS_EMPTY(_ mapping: CMTimeMapping) -> Bool {
  !mapping.source.start.isNumeric && mapping.target.isValid
}

@discardableResult
public func CMTimeMappingMake(source: CMTimeRange, target: CMTimeRange) -> CMTimeMapping {
  CMTimeMapping(source: source, target: target)
}

/// Returns a mapping without a source, for a gap.
@discardableResult
public func CMTimeMappingMakeEmpty(target: CMTimeRange) -> CMTimeMapping {
  CMTimeMapping(source: .invalid, target: target)
}

public nonisolated(unsafe) let kCMTimeMappingSourceKey: CFString = "source"
public nonisolated(unsafe) let kCMTimeMappingTargetKey: CFString = "target"

/// Returns a mapping as a dictionary with the dictionaries of the two ranges.
@discardableResult
public func CMTimeMappingCopyAsDictionary(_ mapping: CMTimeMapping, allocator: CFAllocator?) -> CFDictionary?
{
  guard let source = CMTimeRangeCopyAsDictionary(mapping.source, allocator: allocator),
    let target = CMTimeRangeCopyAsDictionary(mapping.target, allocator: allocator)
  else { return nil }
  return [kCMTimeMappingSourceKey: source, kCMTimeMappingTargetKey: target] as NSDictionary
}

/// Returns the mapping in a dictionary that `CMTimeMappingCopyAsDictionary` made; invalid if it
/// contains none.
@discardableResult
public func CMTimeMappingMakeFromDictionary(_ dictionaryRepresentation: CFDictionary) -> CMTimeMapping {
  func range(_ key: CFString) -> CMTimeRange {
    (dictionaryRepresentation[key] as? NSDictionary).map(CMTimeRangeMakeFromDictionary) ?? .invalid
  }
  return CMTimeMapping(source: range(kCMTimeMappingSourceKey), target: range(kCMTimeMappingTargetKey))
}

/// Returns a description of a mapping.
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
