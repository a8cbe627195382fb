// SPDX-License-Identifier: Apache-2.0
// The results of Core Video's functions.

#ifndef OVT_COREVIDEO_CVRETURN_H
#define OVT_COREVIDEO_CVRETURN_H

#include <CoreFoundation/CoreFoundation.h>

OVT_HEADER_BEGIN

/// `kCVReturnSuccess` or one of the errors below.
typedef int32_t CVReturn;

enum {
  kCVReturnSuccess = 0,
  kCVReturnFirst = -6660,
  kCVReturnError = kCVReturnFirst,
  kCVReturnInvalidArgument = -6661,
  kCVReturnAllocationFailed = -6662,
  kCVReturnUnsupported = -6663,
  kCVReturnInvalidDisplay = -6670,
  kCVReturnDisplayLinkAlreadyRunning = -6671,
  kCVReturnDisplayLinkNotRunning = -6672,
  kCVReturnDisplayLinkCallbacksNotSet = -6673,
  /// The pixel format is not known.
  kCVReturnInvalidPixelFormat = -6680,
  /// The width or the height is zero, negative or too large.
  kCVReturnInvalidSize = -6681,
  /// An attribute has a value of the wrong type or outside its range, or contradicts another.
  kCVReturnInvalidPixelBufferAttributes = -6682,
  kCVReturnPixelBufferNotOpenGLCompatible = -6683,
  kCVReturnPixelBufferNotMetalCompatible = -6684,
  /// The pool has created as many buffers as the allocation threshold of the call allows.
  kCVReturnWouldExceedAllocationThreshold = -6689,
  kCVReturnPoolAllocationFailed = -6690,
  kCVReturnInvalidPoolAttributes = -6691,
  kCVReturnRetry = -6692,
  kCVReturnLast = -6699
};

OVT_HEADER_END

#endif
