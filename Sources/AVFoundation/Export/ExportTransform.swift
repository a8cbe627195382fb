// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetTrack {
  /// The track's transform, adapted to the picture size of a writer's settings; unchanged if
  /// `writing` is nil.
  func exportTransform(_ writing: [String: Any]?) -> CGAffineTransform {
    guard let width = writing?[AVVideoWidthKey] as? Int, let height = writing?[AVVideoHeightKey] as? Int
    else { return preferredTransform }
    return preferredTransform.fitted(from: naturalSize, to: CGSize(width: width, height: height))
  }
}

extension CGAffineTransform {
  /// The transform for pictures of another size, whose translation is scaled with the pictures. A
  /// rotation by 90 degrees includes a translation by the picture's height; with the old
  /// translation the new picture would be shown in the wrong place.
  func fitted(from old: CGSize, to new: CGSize) -> CGAffineTransform {
    let before = CGRect(origin: .zero, size: old).applying(self)
    let linear = CGAffineTransform(a: a, b: b, c: c, d: d, tx: 0, ty: 0)
    let after = CGRect(origin: .zero, size: new).applying(linear)
    guard old != new, before.width > 0, before.height > 0 else { return self }
    let (x, y) = (
      before.minX * after.width / before.width - after.minX,
      before.minY * after.height / before.height - after.minY
    )
    return x.isFinite && y.isFinite ? CGAffineTransform(a: a, b: b, c: c, d: d, tx: x, ty: y) : self
  }
}
