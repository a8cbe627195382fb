// SPDX-License-Identifier: Apache-2.0
// Ranges of time, and their mapping to others.

#ifndef OVT_COREMEDIA_CMTIMERANGE_H
#define OVT_COREMEDIA_CMTIMERANGE_H

#include <CoreMedia/CMTime.h>

OVT_HEADER_BEGIN

typedef struct {
  CMTime start;
  CMTime duration;
} CMTimeRange;

typedef struct {
  CMTimeRange source;
  CMTimeRange target;
} CMTimeMapping;

OVT_EXPORT const CMTimeRange kCMTimeRangeZero;
OVT_EXPORT const CMTimeRange kCMTimeRangeInvalid;
OVT_EXPORT const CMTimeMapping kCMTimeMappingInvalid;

#define CMTIMERANGE_IS_VALID(range)                                                                          \
  ((Boolean)(CMTIME_IS_VALID((range).start) && CMTIME_IS_VALID((range).duration)                             \
             && (range).duration.epoch == 0 && (range).duration.value >= 0))
#define CMTIMERANGE_IS_INVALID(range) ((Boolean)(!CMTIMERANGE_IS_VALID(range)))
#define CMTIMERANGE_IS_INDEFINITE(range)                                                                     \
  ((Boolean)(CMTIMERANGE_IS_VALID(range)                                                                     \
             && (CMTIME_IS_INDEFINITE((range).start) || CMTIME_IS_INDEFINITE((range).duration))))
#define CMTIMERANGE_IS_EMPTY(range)                                                                          \
  ((Boolean)(CMTIMERANGE_IS_VALID(range) && CMTIME_COMPARE_INLINE((range).duration, ==, kCMTimeZero)))
#define CMTIMEMAPPING_IS_VALID(mapping) ((Boolean)(CMTIMERANGE_IS_VALID((mapping).target)))
#define CMTIMEMAPPING_IS_INVALID(mapping) ((Boolean)(!CMTIMEMAPPING_IS_VALID(mapping)))
#define CMTIMEMAPPING_IS_EMPTY(mapping)                                                                      \
  ((Boolean)(!CMTIME_IS_NUMERIC((mapping).source.start) && CMTIMERANGE_IS_VALID((mapping).target)))

OVT_EXPORT const CFStringRef kCMTimeMappingSourceKey;
OVT_EXPORT const CFStringRef kCMTimeMappingTargetKey;
OVT_EXPORT const CFStringRef kCMTimeRangeStartKey;
OVT_EXPORT const CFStringRef kCMTimeRangeDurationKey;

/// A time carried over from one range to another, so that start falls on start and end on end.
///
/// If both ranges are endless the time is moved by the distance of their starts.
/// - Returns: an invalid time if either range is empty or invalid, or the time is not in the epoch
///   of
///   `fromRange.start`.
OVT_EXPORT CMTime CMTimeMapTimeFromRangeToRange(
    CMTime t, CMTimeRange fromRange, CMTimeRange toRange);

/// A duration scaled by the ratio of two ranges' durations.
/// - Returns: an invalid time if either range is empty or invalid, or the duration is not in epoch
///   zero.
OVT_EXPORT CMTime CMTimeMapDurationFromRangeToRange(
    CMTime dur, CMTimeRange fromRange, CMTimeRange toRange);

/// The time in a range that is nearest to a time.
/// - Returns: an invalid time if the time is invalid or the range is empty or invalid.
OVT_EXPORT CMTime CMTimeClampToRange(CMTime time, CMTimeRange range);

/// A time of an endless repetition of a range, folded back into it: its offset from the range's
/// start modulo
/// the range's duration.
/// - Returns: an invalid time if the range is empty, invalid or not finite, or the time is not a
///   number.
OVT_EXPORT CMTime CMTimeFoldIntoRange(CMTime time, CMTimeRange foldRange);

///
OVT_EXPORT CMTimeMapping CMTimeMappingMake(CMTimeRange source, CMTimeRange target);

/// A mapping that shows nothing in a range.
OVT_EXPORT CMTimeMapping CMTimeMappingMakeEmpty(CMTimeRange target);

/// A mapping as a dictionary of two ranges' dictionaries.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CMTimeMappingCopyAsDictionary(
    CMTimeMapping mapping, CFAllocatorRef OVT_NULLABLE allocator);

/// The mapping in a dictionary that `CMTimeMappingCopyAsDictionary` made; an invalid one if there
/// is none in it.
OVT_EXPORT CMTimeMapping CMTimeMappingMakeFromDictionary(CFDictionaryRef dictionaryRepresentation);

/// A mapping in words.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFStringRef OVT_NULLABLE CMTimeMappingCopyDescription(
    CFAllocatorRef OVT_NULLABLE allocator, CMTimeMapping mapping);

/// Writes a mapping to the standard error stream.
OVT_EXPORT void CMTimeMappingShow(CMTimeMapping mapping);

///
OVT_EXPORT CMTimeRange CMTimeRangeMake(CMTime start, CMTime duration);

/// The range from one time to another; invalid if the second is earlier or the epochs differ.
OVT_EXPORT CMTimeRange CMTimeRangeFromTimeToTime(CMTime start, CMTime end);

/// The first time after a range. A range without a beginning and without an end ends at positive
/// infinity.
OVT_EXPORT CMTime CMTimeRangeGetEnd(CMTimeRange range);

/// The shortest range that contains both; invalid if either is.
OVT_EXPORT CMTimeRange CMTimeRangeGetUnion(CMTimeRange range, CMTimeRange otherRange);

/// The intersection of two ranges: `CMTimeRange.zero` if nothing; invalid if either is.
OVT_EXPORT CMTimeRange CMTimeRangeGetIntersection(CMTimeRange range, CMTimeRange otherRange);

/// Whether start and duration are equal.
OVT_EXPORT Boolean CMTimeRangeEqual(CMTimeRange range1, CMTimeRange range2);

/// Whether a time lies in a range: at its start or after it, and before its end.
OVT_EXPORT Boolean CMTimeRangeContainsTime(CMTimeRange range, CMTime time);

/// Whether all of another range lies in a range.
OVT_EXPORT Boolean CMTimeRangeContainsTimeRange(CMTimeRange range, CMTimeRange otherRange);

/// A range as a dictionary of two times' dictionaries.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CMTimeRangeCopyAsDictionary(
    CMTimeRange range, CFAllocatorRef OVT_NULLABLE allocator);

/// The range in a dictionary that `CMTimeRangeCopyAsDictionary` made; an invalid one if there is
/// none in it.
OVT_EXPORT CMTimeRange CMTimeRangeMakeFromDictionary(CFDictionaryRef dictionaryRepresentation);

/// A range in words: `{{0/1 = 0.000}, {3000/600 = 5.000}}`.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFStringRef OVT_NULLABLE CMTimeRangeCopyDescription(
    CFAllocatorRef OVT_NULLABLE allocator, CMTimeRange range);

/// Writes a range to the standard error stream.
OVT_EXPORT void CMTimeRangeShow(CMTimeRange range);

OVT_HEADER_END

#endif
