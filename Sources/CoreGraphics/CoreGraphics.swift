// SPDX-License-Identifier: Apache-2.0
// The part of Core Graphics that thumbnail generators and tests of images need: bitmaps. `CGImage`,
// `CGColor` and `CGColorSpace` are declared in the module CoreVideo.

@_exported import CoreFoundation
@_exported import CoreVideo

/// The quality of the interpolation when an image is scaled.
public enum CGInterpolationQuality: Int32, Sendable {
  case `default` = 0
  /// The nearest pixel, without interpolation.
  case none = 1
  case low = 2
  case high = 3
  case medium = 4
}
