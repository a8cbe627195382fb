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

  /// What is to be said of something else.
  static let advice = "it takes width and height, such as 640 360 or 640x360"

  func validate() throws {
    if let reason = refusal {
      throw ValidationError("--dimensions \(width) \(height) is not possible: \(reason).")
    }
  }

  /// Why it is not possible, and what is; nil if it is.
  var refusal: String? {
    guard Self.allowed.contains(width), Self.allowed.contains(height) else {
      return "width and height go from \(Self.allowed.lowerBound) to \(Self.allowed.upperBound)"
    }
    guard width % 2 == 0, height % 2 == 0 else {
      return "both must be even; try \(width & ~1)x\(height & ~1)"
    }
    return nil
  }
}

extension Dimensions {
  /// Sizes that a movie may have of itself: small ones are encoded as they are.
  static let encodable = 16...8192
}
