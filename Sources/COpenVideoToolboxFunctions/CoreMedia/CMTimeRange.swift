// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMTimeMapTimeFromRangeToRange(_ t: C_CMTime, _ fromRange: C_CMTimeRange, _ toRange: C_CMTimeRange)
  -> C_CMTime
{
  ToC.value(
    CoreMedia.CMTimeMapTimeFromRangeToRange(
      FromC.value(t), fromRange: FromC.value(fromRange), toRange: FromC.value(toRange)))
}

@c @implementation
public func CMTimeMapDurationFromRangeToRange(
  _ dur: C_CMTime, _ fromRange: C_CMTimeRange, _ toRange: C_CMTimeRange
) -> C_CMTime {
  ToC.value(
    CoreMedia.CMTimeMapDurationFromRangeToRange(
      FromC.value(dur), fromRange: FromC.value(fromRange), toRange: FromC.value(toRange)))
}

@c @implementation
public func CMTimeClampToRange(_ time: C_CMTime, _ range: C_CMTimeRange) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeClampToRange(FromC.value(time), range: FromC.value(range)))
}

@c @implementation
public func CMTimeFoldIntoRange(_ time: C_CMTime, _ foldRange: C_CMTimeRange) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeFoldIntoRange(FromC.value(time), foldRange: FromC.value(foldRange)))
}

@c @implementation
public func CMTimeMappingMake(_ source: C_CMTimeRange, _ target: C_CMTimeRange) -> C_CMTimeMapping {
  ToC.value(CoreMedia.CMTimeMappingMake(source: FromC.value(source), target: FromC.value(target)))
}

@c @implementation
public func CMTimeMappingMakeEmpty(_ target: C_CMTimeRange) -> C_CMTimeMapping {
  ToC.value(CoreMedia.CMTimeMappingMakeEmpty(target: FromC.value(target)))
}

@c @implementation
public func CMTimeMappingCopyAsDictionary(_ mapping: C_CMTimeMapping, _ allocator: OpaquePointer?)
  -> OpaquePointer?
{
  ToC.retained(
    CoreMedia.CMTimeMappingCopyAsDictionary(FromC.value(mapping), allocator: FromC.allocator(allocator)))
}

@c @implementation
public func CMTimeMappingMakeFromDictionary(_ dictionaryRepresentation: OpaquePointer?) -> C_CMTimeMapping {
  guard let dictionaryRepresentation = FromC.dictionary(dictionaryRepresentation) else {
    return ToC.value(CoreMedia.CMTimeMapping.invalid)
  }
  return ToC.value(CoreMedia.CMTimeMappingMakeFromDictionary(dictionaryRepresentation))
}

@c @implementation
public func CMTimeMappingCopyDescription(_ allocator: OpaquePointer?, _ mapping: C_CMTimeMapping)
  -> OpaquePointer?
{
  ToC.retained(
    CoreMedia.CMTimeMappingCopyDescription(
      allocator: FromC.allocator(allocator), mapping: FromC.value(mapping)))
}

@c @implementation
public func CMTimeMappingShow(_ mapping: C_CMTimeMapping) {
  CoreMedia.CMTimeMappingShow(FromC.value(mapping))
}

@c @implementation
public func CMTimeRangeMake(_ start: C_CMTime, _ duration: C_CMTime) -> C_CMTimeRange {
  ToC.value(CoreMedia.CMTimeRangeMake(start: FromC.value(start), duration: FromC.value(duration)))
}

@c @implementation
public func CMTimeRangeFromTimeToTime(_ start: C_CMTime, _ end: C_CMTime) -> C_CMTimeRange {
  ToC.value(CoreMedia.CMTimeRangeFromTimeToTime(start: FromC.value(start), end: FromC.value(end)))
}

@c @implementation
public func CMTimeRangeGetEnd(_ range: C_CMTimeRange) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeRangeGetEnd(FromC.value(range)))
}

@c @implementation
public func CMTimeRangeGetUnion(_ range: C_CMTimeRange, _ otherRange: C_CMTimeRange) -> C_CMTimeRange {
  ToC.value(CoreMedia.CMTimeRangeGetUnion(FromC.value(range), otherRange: FromC.value(otherRange)))
}

@c @implementation
public func CMTimeRangeGetIntersection(_ range: C_CMTimeRange, _ otherRange: C_CMTimeRange) -> C_CMTimeRange {
  ToC.value(CoreMedia.CMTimeRangeGetIntersection(FromC.value(range), otherRange: FromC.value(otherRange)))
}

@c @implementation
public func CMTimeRangeEqual(_ range1: C_CMTimeRange, _ range2: C_CMTimeRange) -> UInt8 {
  CoreMedia.CMTimeRangeEqual(FromC.value(range1), FromC.value(range2)) ? 1 : 0
}

@c @implementation
public func CMTimeRangeContainsTime(_ range: C_CMTimeRange, _ time: C_CMTime) -> UInt8 {
  CoreMedia.CMTimeRangeContainsTime(FromC.value(range), time: FromC.value(time)) ? 1 : 0
}

@c @implementation
public func CMTimeRangeContainsTimeRange(_ range: C_CMTimeRange, _ otherRange: C_CMTimeRange) -> UInt8 {
  CoreMedia.CMTimeRangeContainsTimeRange(FromC.value(range), otherRange: FromC.value(otherRange)) ? 1 : 0
}

@c @implementation
public func CMTimeRangeCopyAsDictionary(_ range: C_CMTimeRange, _ allocator: OpaquePointer?) -> OpaquePointer?
{
  ToC.retained(
    CoreMedia.CMTimeRangeCopyAsDictionary(FromC.value(range), allocator: FromC.allocator(allocator)))
}

@c @implementation
public func CMTimeRangeMakeFromDictionary(_ dictionaryRepresentation: OpaquePointer?) -> C_CMTimeRange {
  guard let dictionaryRepresentation = FromC.dictionary(dictionaryRepresentation) else {
    return ToC.value(CoreMedia.CMTimeRange.invalid)
  }
  return ToC.value(CoreMedia.CMTimeRangeMakeFromDictionary(dictionaryRepresentation))
}

@c @implementation
public func CMTimeRangeCopyDescription(_ allocator: OpaquePointer?, _ range: C_CMTimeRange) -> OpaquePointer?
{
  ToC.retained(
    CoreMedia.CMTimeRangeCopyDescription(allocator: FromC.allocator(allocator), range: FromC.value(range)))
}

@c @implementation
public func CMTimeRangeShow(_ range: C_CMTimeRange) {
  CoreMedia.CMTimeRangeShow(FromC.value(range))
}
