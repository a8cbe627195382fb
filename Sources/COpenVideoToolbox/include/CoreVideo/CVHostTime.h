// SPDX-License-Identifier: Apache-2.0
// The clock of the machine.

#ifndef OVT_COREVIDEO_CVHOSTTIME_H
#define OVT_COREVIDEO_CVHOSTTIME_H

#include <CoreVideo/CVBase.h>

OVT_HEADER_BEGIN

/// The current host time, in units of 1 / `CVGetHostClockFrequency()` s.
OVT_EXPORT uint64_t CVGetCurrentHostTime(void);

/// The number of units of host time per second.
OVT_EXPORT double CVGetHostClockFrequency(void);

/// The resolution of host time, in its units.
OVT_EXPORT uint32_t CVGetHostClockMinimumTimeDelta(void);

OVT_HEADER_END

#endif
