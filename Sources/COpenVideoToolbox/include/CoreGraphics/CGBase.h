// SPDX-License-Identifier: Apache-2.0
#ifndef OVT_COREGRAPHICS_CGBASE_H
#define OVT_COREGRAPHICS_CGBASE_H
#include <CoreFoundation/CFCGTypes.h>
#endif
