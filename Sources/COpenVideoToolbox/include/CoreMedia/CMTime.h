// SPDX-License-Identifier: Apache-2.0
// Times as a number of units of a timescale.

#ifndef OVT_COREMEDIA_CMTIME_H
#define OVT_COREMEDIA_CMTIME_H

#include <CoreMedia/CMBase.h>

OVT_HEADER_BEGIN

typedef int64_t CMTimeValue;
typedef int32_t CMTimeScale;
typedef int64_t CMTimeEpoch;

typedef uint32_t CMTimeFlags;
enum {
  /// The time means something.
  kCMTimeFlags_Valid = 1U << 0,
  /// The value was rounded.
  kCMTimeFlags_HasBeenRounded = 1U << 1,
  kCMTimeFlags_PositiveInfinity = 1U << 2,
  kCMTimeFlags_NegativeInfinity = 1U << 3,
  kCMTimeFlags_Indefinite = 1U << 4,
  kCMTimeFlags_ImpliedValueFlagsMask =
      kCMTimeFlags_PositiveInfinity | kCMTimeFlags_NegativeInfinity | kCMTimeFlags_Indefinite
};

/// A time of `value` / `timescale` seconds.
typedef struct {
  CMTimeValue value;
  CMTimeScale timescale;
  CMTimeFlags flags;
  /// Times of different epochs cannot be compared; 0 unless a time line repeats.
  CMTimeEpoch epoch;
} CMTime;

/// How a value between two units of a timescale is rounded.
typedef uint32_t CMTimeRoundingMethod;
enum {
  kCMTimeRoundingMethod_RoundHalfAwayFromZero = 1,
  kCMTimeRoundingMethod_RoundTowardZero = 2,
  kCMTimeRoundingMethod_RoundAwayFromZero = 3,
  /// Toward zero into a coarser timescale, away from zero into a finer one; a negative time never
  /// becomes zero.
  kCMTimeRoundingMethod_QuickTime = 4,
  kCMTimeRoundingMethod_RoundTowardPositiveInfinity = 5,
  kCMTimeRoundingMethod_RoundTowardNegativeInfinity = 6,
  kCMTimeRoundingMethod_Default = kCMTimeRoundingMethod_RoundHalfAwayFromZero
};

OVT_EXPORT const CMTime kCMTimeInvalid;
OVT_EXPORT const CMTime kCMTimeIndefinite;
OVT_EXPORT const CMTime kCMTimePositiveInfinity;
OVT_EXPORT const CMTime kCMTimeNegativeInfinity;
OVT_EXPORT const CMTime kCMTimeZero;

#define CMTIME_IS_VALID(time) ((Boolean)(((time).flags & kCMTimeFlags_Valid) != 0))
#define CMTIME_IS_INVALID(time) ((Boolean)(!CMTIME_IS_VALID(time)))
#define CMTIME_IS_POSITIVE_INFINITY(time)                                                                    \
  ((Boolean)(CMTIME_IS_VALID(time) && ((time).flags & kCMTimeFlags_PositiveInfinity) != 0))
#define CMTIME_IS_NEGATIVE_INFINITY(time)                                                                    \
  ((Boolean)(CMTIME_IS_VALID(time) && ((time).flags & kCMTimeFlags_NegativeInfinity) != 0))
#define CMTIME_IS_INDEFINITE(time)                                                                           \
  ((Boolean)(CMTIME_IS_VALID(time) && ((time).flags & kCMTimeFlags_Indefinite) != 0))
#define CMTIME_IS_NUMERIC(time)                                                                              \
  ((Boolean)(((time).flags & (kCMTimeFlags_Valid | kCMTimeFlags_ImpliedValueFlagsMask)) == kCMTimeFlags_Valid))
#define CMTIME_HAS_BEEN_ROUNDED(time)                                                                        \
  ((Boolean)(CMTIME_IS_NUMERIC(time) && ((time).flags & kCMTimeFlags_HasBeenRounded) != 0))
#define CMTIME_COMPARE_INLINE(time1, comparator, time2)                                                      \
  ((Boolean)(CMTimeCompare(time1, time2) comparator 0))

enum {
  /// The largest timescale that arithmetic chooses by itself.
  kCMTimeMaxTimescale = 2147483647
};

/// Keys of a time's dictionary.
OVT_EXPORT const CFStringRef kCMTimeValueKey;
OVT_EXPORT const CFStringRef kCMTimeScaleKey;
OVT_EXPORT const CFStringRef kCMTimeEpochKey;
OVT_EXPORT const CFStringRef kCMTimeFlagsKey;

/// The sum of two times. Times in different epochs, neither of them zero, cannot be added; of two
/// times in
/// the same epoch the sum is a duration, in epoch zero.
OVT_EXPORT CMTime CMTimeAdd(CMTime lhs, CMTime rhs);

/// The difference of two times, by the rules of `CMTimeAdd`.
OVT_EXPORT CMTime CMTimeSubtract(CMTime lhs, CMTime rhs);

/// -1 if the first time is earlier, 1 if it is later, 0 if they are equal.
///
/// In rising order: negative infinity, numeric times, indefinite, positive infinity, invalid.
/// Among numeric times a smaller epoch is always earlier.
OVT_EXPORT int32_t CMTimeCompare(CMTime time1, CMTime time2);

/// The earlier of two times.
OVT_EXPORT CMTime CMTimeMinimum(CMTime time1, CMTime time2);

/// The later of two times.
OVT_EXPORT CMTime CMTimeMaximum(CMTime time1, CMTime time2);

/// A time as a dictionary of numbers, for annotations and property lists.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFDictionaryRef OVT_NULLABLE CMTimeCopyAsDictionary(
    CMTime time, CFAllocatorRef OVT_NULLABLE allocator);

/// The time in a dictionary that `CMTimeCopyAsDictionary` made; an invalid time if there is none in
/// it.
OVT_EXPORT CMTime CMTimeMakeFromDictionary(CFDictionaryRef OVT_NULLABLE dictionaryRepresentation);

/// A time in words: `{3000/600 = 5.000}`.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CFStringRef OVT_NULLABLE CMTimeCopyDescription(
    CFAllocatorRef OVT_NULLABLE allocator, CMTime time);

/// Writes a time to the standard error stream.
OVT_EXPORT void CMTimeShow(CMTime time);

/// The product of a time and a whole number, in the same timescale unless that overflows: then the
/// timescale is halved until the value fits.
OVT_EXPORT CMTime CMTimeMultiply(CMTime time, int32_t multiplier);

/// `time` x `multiplier` / `divisor`, exact if it can be: the value times `multiplier`, the
/// timescale times
/// `divisor`, and in lowest terms if those do not fit.
///
/// If the exact result cannot be expressed, it is rounded in the finest timescale that holds it.
/// A divisor of zero gives an infinity, or an invalid time if `time` or `multiplier` is zero as
/// well.
OVT_EXPORT CMTime CMTimeMultiplyByRatio(CMTime time, int32_t multiplier, int32_t divisor);

/// The product of a time and a floating-point number.
///
/// The timescale is the time's, doubled until it is at least 65536, then halved until the value
/// fits.
/// The product is the exact one, rounded once.
OVT_EXPORT CMTime CMTimeMultiplyByFloat64(CMTime time, Float64 multiplier);

/// A time in another timescale, rounded as asked, with `hasBeenRounded` set if that changed it.
///
/// A time that is not numeric stays as it is. If the value does not fit, the result is an infinity;
/// if the timescale is not positive, it is invalid.
OVT_EXPORT CMTime CMTimeConvertScale(
    CMTime time, int32_t newTimescale, CMTimeRoundingMethod method);

/// A valid time of `value` / `timescale` seconds in epoch zero.
OVT_EXPORT CMTime CMTimeMake(int64_t value, int32_t timescale);

/// A valid time of `value` / `timescale` seconds in an epoch.
OVT_EXPORT CMTime CMTimeMakeWithEpoch(int64_t value, int32_t timescale, int64_t epoch);

/// A number of seconds as a time: as many whole units of the timescale as there are in it, towards
/// zero.
///
/// The preferred timescale is halved as often as it takes for the value to fit. The flag
/// `hasBeenRounded` is set if the time, turned back into seconds, is not the same number.
/// - Returns: an invalid time if the timescale is not positive or the number is not one; infinity
///   for an infinite number or one that does not fit as whole seconds.
OVT_EXPORT CMTime CMTimeMakeWithSeconds(Float64 seconds, int32_t preferredTimescale);

/// A time in seconds: infinite for an infinite time, NaN for one that is invalid or indefinite.
OVT_EXPORT Float64 CMTimeGetSeconds(CMTime time);

/// The absolute value of a time. A time that is not numeric is returned as it is, except that
/// negative infinity becomes positive.
OVT_EXPORT CMTime CMTimeAbsoluteValue(CMTime time);

OVT_HEADER_END

#endif
