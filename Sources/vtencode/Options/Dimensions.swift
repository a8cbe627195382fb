// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import VideoBitstream

/// A picture's size in samples, written `640 360` or `640x360`.
struct Dimensions: ExpressibleByArgument, Sendable, Equatable {
  /// The width and height in samples that `--dimensions` takes: from one chroma sample pair of
  /// 4:2:0 to the longest side that H.264 allows (16,880 samples, level 6.2).
  static let allowed = 2...16_880

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

  /// The advice for an argument that is not a size.
  static let advice = "it takes width and height, such as 640 360 or 640x360"

  func validate() throws {
    if let reason = refusal {
      throw ValidationError("--dimensions \(width) \(height) is not possible: \(reason).")
    }
  }

  /// Why the size is not possible and which sizes are; nil if it is possible.
  var refusal: String? {
    guard Self.allowed.contains(width), Self.allowed.contains(height) else {
      return "width and height must be from \(Self.allowed.lowerBound) to \(Self.allowed.upperBound)"
    }
    guard width % 2 == 0, height % 2 == 0 else {
      return "both must be even; try \(width & ~1)x\(height & ~1)"
    }
    return nil
  }
}

extension Dimensions {
  /// The sides, in samples, of pictures that are encoded at the movie's own size. A side that is
  /// odd, or smaller than the smallest coded size, is enlarged for coding, and decoders crop it.
  static let encodable = 1...16_880

  /// Checks a size against H.264's level 6.2 (A.3.1: MaxFS and the limit of each side), or against
  /// the largest of an HEVC encoder.
  /// - Returns: why a picture of this size cannot be encoded; nil if it can.
  func sizeError(of codec: Codec) -> String? {
    switch codec {
    case .avc1:
      guard let highest = H264Level.all.last else { return nil }
      let (columns, rows) = ((width + 15) / 16, (height + 15) / 16)
      if width > 0, height > 0, max(width, height) <= 1 << 20,
        highest.allows(widthInMbs: columns, heightInMbs: rows)
      {
        return nil
      }
      return
        "level 6.2, the highest of H.264, allows \(highest.frameSize) macroblocks of 16x16 in a picture, and at most "
        + "\(highest.largestSide) of them in a row or a column; these take \(columns)x\(rows)"
    case .hvc1:
      let sides = 1...16_384
      if sides.contains(width), sides.contains(height) { return nil }
      return "HEVC takes \(sides.lowerBound) to \(sides.upperBound) samples each way"
    }
  }
}
