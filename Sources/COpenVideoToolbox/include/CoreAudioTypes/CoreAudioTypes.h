// SPDX-License-Identifier: Apache-2.0
// The audio types.

#ifndef OVT_COREAUDIOTYPES_COREAUDIOTYPES_UMBRELLA_H
#define OVT_COREAUDIOTYPES_COREAUDIOTYPES_UMBRELLA_H

#include <CoreAudioTypes/CoreAudioBaseTypes.h>

#endif
