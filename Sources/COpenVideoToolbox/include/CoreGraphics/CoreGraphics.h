// SPDX-License-Identifier: Apache-2.0
// The types of Core Graphics that Core Media's and Core Video's functions take and return.
#ifndef OVT_COREGRAPHICS_COREGRAPHICS_H
#define OVT_COREGRAPHICS_COREGRAPHICS_H
#include <CoreGraphics/CGGeometry.h>
#endif
