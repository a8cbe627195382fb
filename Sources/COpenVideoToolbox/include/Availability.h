// SPDX-License-Identifier: Apache-2.0
// When a declaration came and went on Apple's systems. Here whatever is declared is there: the
// macros
// for declarations are empty. The version for the conditions of programs is that of macOS whose
// functions
// this library has.

#ifndef OVT_AVAILABILITY_H
#define OVT_AVAILABILITY_H

#include <AvailabilityVersions.h>

#define __MAC_OS_X_VERSION_MIN_REQUIRED __MAC_15_0
#define __MAC_OS_X_VERSION_MAX_ALLOWED __MAC_15_0

// Clang asks for the versions of Apple's systems only where it compiles for them; other compilers
// cannot ask.
#if !defined(__clang__) && !defined(__builtin_available)
#define __builtin_available(...) 1
#endif

#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define API_AVAILABLE_BEGIN(...)
#define API_AVAILABLE_END
#define API_UNAVAILABLE_BEGIN(...)
#define API_UNAVAILABLE_END
#define API_DEPRECATED_BEGIN(...)
#define API_DEPRECATED_END
#define __OSX_AVAILABLE(...)
#define __OSX_AVAILABLE_STARTING(...)
#define __OSX_AVAILABLE_BUT_DEPRECATED(...)
#define __OSX_DEPRECATED(...)
#define __IOS_AVAILABLE(...)
#define __TVOS_AVAILABLE(...)
#define __WATCHOS_AVAILABLE(...)
#define SPI_AVAILABLE(...)

#endif
