// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// Compares the luma of two pictures.
enum PictureComparison {
  /// The mean squared error of the luma; infinite if a picture has no luma plane.
  static func meanSquaredError(_ one: CVPixelBuffer, _ other: CVPixelBuffer) -> Double {
    PicturePair.with(one, other) { pair in
      guard let luma = pair.planes(0) else { return .infinity }
      return luma.squaredError() / Double(max(luma.width * luma.height, 1))
    }
  }

  static func decibels(meanSquaredError error: Double) -> Double {
    error > 0 ? min(10 * log10(255 * 255 / error), 100) : 100
  }
}
