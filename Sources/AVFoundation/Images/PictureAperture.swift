// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Which of a track's pixels a picture has, and their shape.
struct PictureAperture {
  /// The picture's size in pixels as they are shown.
  let size: CGSize
  /// Of the whole picture, the part that is shown: 0 to 1 in each direction.
  private let shown: CGRect

  /// All of a picture of a size.
  init(whole size: CGSize) {
    self.size = size
    shown = CGRect(x: 0, y: 0, width: 1, height: 1)
  }

  init(_ mode: AVVideoApertureMode?, of track: TrackFacts) {
    let parameters = track.stream.codec.pointer.pointee
    let stored = CGSize(width: CGFloat(parameters.width), height: CGFloat(parameters.height))
    let unit = CGRect(x: 0, y: 0, width: 1, height: 1)
    if mode == .encodedPixels {
      size = stored
      shown = unit
      return
    }
    var part = unit
    if mode != .productionAperture, let format = track.format, stored.width > 0, stored.height > 0 {
      let aperture = CMVideoFormatDescriptionGetCleanAperture(format, originIsAtTopLeft: true)
      let relative = CGRect(
        x: aperture.minX / stored.width, y: aperture.minY / stored.height,
        width: aperture.width / stored.width, height: aperture.height / stored.height
      ).intersection(unit)
      if !relative.isNull, relative.width > 0, relative.height > 0 { part = relative }
    }
    shown = part
    let natural = track.productionSize
    size = CGSize(width: natural.width * part.width, height: natural.height * part.height)
  }

  /// The width to decode at, so that the part has a size.
  func decodedWidth(_ size: CGSize) -> Int { Int(clamping: Double((size.width / shown.width).rounded())) }
  func decodedHeight(_ size: CGSize) -> Int {
    Int(clamping: Double((size.height / shown.height).rounded()))
  }

  /// The part that is shown of a picture that was decoded.
  func part(ofWidth width: Int, height: Int) -> (left: Int, top: Int, width: Int, height: Int) {
    func clamp(_ value: CGFloat, _ limit: Int) -> Int {
      max(0, min(Int(clamping: Double(value.rounded())), limit))
    }
    let left = clamp(shown.minX * CGFloat(width), width - 1)
    let top = clamp(shown.minY * CGFloat(height), height - 1)
    return (
      left, top, max(1, min(width - left, clamp(shown.width * CGFloat(width), width))),
      max(1, min(height - top, clamp(shown.height * CGFloat(height), height)))
    )
  }
}
