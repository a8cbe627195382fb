// SPDX-License-Identifier: Apache-2.0
// Points, sizes and rectangles.
#ifndef OVT_COREGRAPHICS_CGGEOMETRY_H
#define OVT_COREGRAPHICS_CGGEOMETRY_H

#include <CoreGraphics/CGBase.h>

#if !defined(__swift__)
/// A point of two coordinates.
static inline CGPoint CGPointMake(CGFloat x, CGFloat y) {
  CGPoint point;
  point.x = x;
  point.y = y;
  return point;
}

/// A size of a width and a height.
static inline CGSize CGSizeMake(CGFloat width, CGFloat height) {
  CGSize size;
  size.width = width;
  size.height = height;
  return size;
}

/// A rectangle of an origin and a size.
static inline CGRect CGRectMake(CGFloat x, CGFloat y, CGFloat width, CGFloat height) {
  CGRect rect;
  rect.origin = CGPointMake(x, y);
  rect.size = CGSizeMake(width, height);
  return rect;
}
#endif

#endif
