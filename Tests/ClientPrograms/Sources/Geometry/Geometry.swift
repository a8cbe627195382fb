// SPDX-License-Identifier: Apache-2.0
import Foundation

// A module that knows nothing of video: it imports Foundation alone, and hands numbers on in
// dictionaries.

public struct Geometry {
  public var size: CGSize
  public init(size: CGSize) { self.size = size }

  public var settings: [String: Any] {
    ["width": size.width / 2, "height": size.height / 2, "bits": size.width * size.height * 4]
  }

  /// The values of another module's dictionary.
  public static func number(_ key: String, in settings: [String: Any]) -> Double? {
    (settings[key] as? NSNumber)?.doubleValue
  }
}
