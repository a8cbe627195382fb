// SPDX-License-Identifier: Apache-2.0
// The older place of the audio types.

#ifndef OVT_COREAUDIO_COREAUDIOTYPES_UMBRELLA_H
#define OVT_COREAUDIO_COREAUDIOTYPES_UMBRELLA_H

#include <CoreAudioTypes/CoreAudioTypes.h>

#endif
