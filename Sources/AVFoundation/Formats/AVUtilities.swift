// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The largest rectangle of a shape that lies within another rectangle, in its middle.
///
/// Of the parameters:
///
/// - `aspectRatio`: Width and height of the shape. If one is not above zero, the result is empty.
public func AVMakeRect(aspectRatio: CGSize, insideRect boundingRect: CGRect) -> CGRect {
  let box = boundingRect.standardized
  let scale =
    aspectRatio.width > 0 && aspectRatio.height > 0
    ? min(box.width / aspectRatio.width, box.height / aspectRatio.height) : 0
  let size = CGSize(width: aspectRatio.width * scale, height: aspectRatio.height * scale)
  return CGRect(
    x: box.midX - size.width / 2, y: box.midY - size.height / 2, width: size.width, height: size.height)
}
