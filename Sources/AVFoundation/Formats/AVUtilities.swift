// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Returns the largest rectangle with an aspect ratio that fits into another rectangle, centred in
/// it.
/// - Parameters:
///   - aspectRatio: The width and height of the aspect ratio. If one of them is not positive, the
///     result is empty.
///   - boundingRect: The rectangle to fit into.
public func AVMakeRect(aspectRatio: CGSize, insideRect boundingRect: CGRect) -> CGRect {
  let box = boundingRect.standardized
  let scale =
    aspectRatio.width > 0 && aspectRatio.height > 0
    ? min(box.width / aspectRatio.width, box.height / aspectRatio.height) : 0
  let size = CGSize(width: aspectRatio.width * scale, height: aspectRatio.height * scale)
  return CGRect(
    x: box.midX - size.width / 2, y: box.midY - size.height / 2, width: size.width, height: size.height)
}
