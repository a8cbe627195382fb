// SPDX-License-Identifier: Apache-2.0
// libx265's public header, and what Swift cannot import from it, as functions.
#ifndef CX265_SHIM_H
#define CX265_SHIM_H

#include <stdint.h>
#include <x265.h>

// The functions for a bit depth, or null if the library was built without it. Their name carries
// the build number through a macro.
static inline const x265_api *ovt_x265_api(int bitDepth) { return x265_api_get(bitDepth); }

#endif
