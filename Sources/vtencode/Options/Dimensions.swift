// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A picture's size in samples, written `640 360` or `640x360`.
struct Dimensions: ExpressibleByArgument, Sendable, Equatable {
  static let allowed = 64...8192

  var width: Int
  var height: Int

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  init?(argument: String) {
    let parts = argument.split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]) else { return nil }
    self.init(width: width, height: height)
  }

  func validate() throws {
    guard Self.allowed.contains(width), Self.allowed.contains(height) else {
      throw ValidationError(
        "--dimensions \(width) \(height) is not possible: width and height go from "
          + "\(Self.allowed.lowerBound) to \(Self.allowed.upperBound).")
    }
    guard width % 2 == 0, height % 2 == 0 else {
      let even = Dimensions(width: width & ~1, height: height & ~1)
      throw ValidationError(
        "--dimensions \(width) \(height) is not possible: both must be even; try --dimensions "
          + "\(even.width) \(even.height).")
    }
  }
}

extension Dimensions {
  /// Sizes that a movie may have of itself: small ones are encoded as they are.
  static let encodable = 16...8192
}
