// SPDX-License-Identifier: Apache-2.0
// The constants of the headers that are structures.

#include <VideoToolbox/VideoToolbox.h>

#define OVT_TIME_INVALID {0, 0, 0, 0}
#define OVT_TIME_ZERO {0, 1, kCMTimeFlags_Valid, 0}

const CMTime kCMTimeInvalid = OVT_TIME_INVALID;
const CMTime kCMTimeIndefinite = {0, 0, kCMTimeFlags_Valid | kCMTimeFlags_Indefinite, 0};
const CMTime kCMTimePositiveInfinity = {0, 0, kCMTimeFlags_Valid | kCMTimeFlags_PositiveInfinity, 0};
const CMTime kCMTimeNegativeInfinity = {0, 0, kCMTimeFlags_Valid | kCMTimeFlags_NegativeInfinity, 0};
const CMTime kCMTimeZero = OVT_TIME_ZERO;

const CMTimeRange kCMTimeRangeZero = {OVT_TIME_ZERO, OVT_TIME_ZERO};
const CMTimeRange kCMTimeRangeInvalid = {OVT_TIME_INVALID, OVT_TIME_INVALID};
const CMTimeMapping kCMTimeMappingInvalid = {
    {OVT_TIME_INVALID, OVT_TIME_INVALID}, {OVT_TIME_INVALID, OVT_TIME_INVALID}};

const CVTime kCVZeroTime = {0, 0, 0};
const CVTime kCVIndefiniteTime = {0, 0, kCVTimeIsIndefinite};
