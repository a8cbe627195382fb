// SPDX-License-Identifier: Apache-2.0
// The older names of Availability.h.

#ifndef OVT_AVAILABILITYMACROS_H
#define OVT_AVAILABILITYMACROS_H

#include <Availability.h>

#define MAC_OS_X_VERSION_MIN_REQUIRED __MAC_OS_X_VERSION_MIN_REQUIRED
#define MAC_OS_X_VERSION_MAX_ALLOWED __MAC_OS_X_VERSION_MAX_ALLOWED
#define DEPRECATED_ATTRIBUTE __attribute__((deprecated))
#define UNAVAILABLE_ATTRIBUTE __attribute__((unavailable))
#define WEAK_IMPORT_ATTRIBUTE __attribute__((weak))

#endif
