// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The part of a track's picture that an image has, and its size.
struct PictureAperture {
  /// The size of the image in pixels.
  let size: CGSize
  /// The presented part in relation to the whole picture: 0 to 1 in each direction.
  private let shown: CGRect

  /// The whole of a picture of a given size.
  init(whole size: CGSize) {
    self.size = size
    shown = CGRect(x: 0, y: 0, width: 1, height: 1)
  }

  init(_ mode: AVVideoApertureMode?, of track: TrackDescription) {
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

  /// The width at which the whole picture is decoded so that the presented part has the size
  /// `size`.
  func decodedWidth(_ size: CGSize) -> Int { Int(clamping: Double((size.width / shown.width).rounded())) }
  func decodedHeight(_ size: CGSize) -> Int {
    Int(clamping: Double((size.height / shown.height).rounded()))
  }

  /// Returns the presented part of a decoded picture, in pixels.
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
