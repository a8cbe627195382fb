// SPDX-License-Identifier: Apache-2.0
// The types and the times that all of Core Video uses.

#ifndef OVT_COREVIDEO_CVBASE_H
#define OVT_COREVIDEO_CVBASE_H

#include <CoreFoundation/CoreFoundation.h>
#include <CoreVideo/CVReturn.h>

OVT_HEADER_BEGIN

#define CV_EXPORT OVT_EXPORT
#define CV_INLINE CF_INLINE
#define CV_NULLABLE OVT_NULLABLE
#define CV_NONNULL
#define CV_RETURNS_RETAINED
#define CV_RETURNS_RETAINED_PARAMETER

/// Options of a Core Video call.
typedef uint64_t CVOptionFlags;

/// The number of frames per second of a time code, and whether frame numbers are dropped.
typedef uint32_t CVSMPTETimeType;
enum {
  kCVSMPTETimeType24 = 0,
  kCVSMPTETimeType25 = 1,
  kCVSMPTETimeType30Drop = 2,
  kCVSMPTETimeType30 = 3,
  kCVSMPTETimeType2997 = 4,
  kCVSMPTETimeType2997Drop = 5,
  kCVSMPTETimeType60 = 6,
  kCVSMPTETimeType5994 = 7
};

typedef uint32_t CVSMPTETimeFlags;
enum { kCVSMPTETimeValid = 1 << 0, kCVSMPTETimeRunning = 1 << 1 };

/// An SMPTE time code.
typedef struct {
  SInt16 subframes;
  SInt16 subframeDivisor;
  UInt32 counter;
  /// One of `CVSMPTETimeType`.
  UInt32 type;
  /// Bits of `CVSMPTETimeFlags`.
  UInt32 flags;
  SInt16 hours;
  SInt16 minutes;
  SInt16 seconds;
  SInt16 frames;
} CVSMPTETime;

typedef int32_t CVTimeFlags;
enum { kCVTimeIsIndefinite = 1 << 0 };

/// A time of `timeValue` / `timeScale` seconds.
typedef struct {
  int64_t timeValue;
  int32_t timeScale;
  /// Bits of `CVTimeFlags`.
  int32_t flags;
} CVTime;

typedef uint64_t CVTimeStampFlags;
enum {
  kCVTimeStampVideoTimeValid = 1 << 0,
  kCVTimeStampHostTimeValid = 1 << 1,
  kCVTimeStampSMPTETimeValid = 1 << 2,
  kCVTimeStampVideoRefreshPeriodValid = 1 << 3,
  kCVTimeStampRateScalarValid = 1 << 4,
  kCVTimeStampTopField = 1 << 16,
  kCVTimeStampBottomField = 1 << 17,
  kCVTimeStampVideoHostTimeValid = kCVTimeStampVideoTimeValid | kCVTimeStampHostTimeValid,
  kCVTimeStampIsInterlaced = kCVTimeStampTopField | kCVTimeStampBottomField
};

/// The time at which a frame is shown, on several clocks; `flags` says which of the fields are
/// valid.
typedef struct {
  /// 0.
  uint32_t version;
  /// The number of units of `videoTime` and `videoRefreshPeriod` per second.
  int32_t videoTimeScale;
  int64_t videoTime;
  /// The host time, in units of 1 / `CVGetHostClockFrequency()` s.
  uint64_t hostTime;
  /// The rate of the video clock divided by its nominal rate.
  double rateScalar;
  int64_t videoRefreshPeriod;
  CVSMPTETime smpteTime;
  /// Bits of `CVTimeStampFlags`.
  uint64_t flags;
  uint64_t reserved;
} CVTimeStamp;

OVT_EXPORT const CVTime kCVZeroTime;
OVT_EXPORT const CVTime kCVIndefiniteTime;

#define COREVIDEO_TRUE 1
#define COREVIDEO_FALSE 0
/// The features of this Core Video: buffers are in memory, and there is no graphics hardware.
#define COREVIDEO_SUPPORTS_DIRECT3D 0
#define COREVIDEO_SUPPORTS_OPENGL 0
#define COREVIDEO_SUPPORTS_OPENGLES 0
#define COREVIDEO_SUPPORTS_COLORSPACE 1
#define COREVIDEO_SUPPORTS_DISPLAYLINK 0
#define COREVIDEO_SUPPORTS_IOSURFACE 0
#define COREVIDEO_SUPPORTS_PREFETCH 0
#define COREVIDEO_SUPPORTS_IOSURFACE_PREFETCH 0
#define COREVIDEO_SUPPORTS_GLES_TEX_IMAGE_IOSURFACE 0
#define COREVIDEO_USE_IOSURFACEREF 0
#define COREVIDEO_SUPPORTS_METAL 0
#define COREVIDEO_SUPPORTS_PERMANENT_ALLOCATOR 0
#define COREVIDEO_USE_DERIVED_ENUMS_FOR_CONSTANTS 1
#define COREVIDEO_DECLARE_NULLABILITY 1

OVT_HEADER_END

#endif
