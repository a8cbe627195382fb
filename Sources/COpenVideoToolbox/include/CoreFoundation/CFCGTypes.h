// SPDX-License-Identifier: Apache-2.0
// The types of Core Graphics that Core Foundation declares.
#ifndef OVT_COREFOUNDATION_CFCGTYPES_H
#define OVT_COREFOUNDATION_CFCGTYPES_H

#include <OpenVideoToolbox/Base.h>

#define CGFLOAT_IS_DOUBLE 1
typedef double CGFloat;

typedef struct CGPoint {
  CGFloat x;
  CGFloat y;
} CGPoint;

typedef struct CGSize {
  CGFloat width;
  CGFloat height;
} CGSize;

typedef struct CGRect {
  CGPoint origin;
  CGSize size;
} CGRect;

#endif
