// SPDX-License-Identifier: Apache-2.0
// Bitmaps: what thumbnailers and tests of pictures need of Core Graphics. Images and colour spaces are Core Video's.

@_exported import CoreFoundation
@_exported import CoreVideo

/// The colour space of pictures that say nothing of theirs: sRGB.
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace {
  guard let space = CGColorSpace(name: CGColorSpace.sRGB) else { preconditionFailure("sRGB is known") }
  return space
}

/// The space of grey values that are taken as they are.
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace {
  guard let space = CGColorSpace(name: CGColorSpace.linearGray) else { preconditionFailure("grey is known") }
  return space
}

/// How carefully an image is scaled.
public enum CGInterpolationQuality: Int32, Sendable {
  case `default` = 0
  /// The nearest pixel.
  case none = 1
  case low = 2
  case high = 3
  case medium = 4
}

extension CGRect {
  /// What two rectangles have in common; null if one is not of numbers, which `intersection` does not survive.
  func common(with other: CGRect) -> CGRect {
    for rect in [self, other] {
      guard rect.minX <= rect.maxX, rect.minY <= rect.maxY else { return .null }
    }
    return intersection(other)
  }
}
