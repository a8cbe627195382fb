// SPDX-License-Identifier: Apache-2.0
// Bitmaps: what thumbnailers and tests of pictures need of Core Graphics. Images, colours and colour spaces are Core
// Video's.

@_exported import CoreFoundation
@_exported import CoreVideo

/// How carefully an image is scaled.
public enum CGInterpolationQuality: Int32, Sendable {
  case `default` = 0
  /// The nearest pixel.
  case none = 1
  case low = 2
  case high = 3
  case medium = 4
}
