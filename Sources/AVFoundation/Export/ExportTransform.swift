// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetTrack {
  /// The track's transform, for pictures of the size that a writer's settings say; nil: as they are stored.
  func exportTransform(_ writing: [String: Any]?) -> CGAffineTransform {
    guard let width = writing?[AVVideoWidthKey] as? Int, let height = writing?[AVVideoHeightKey] as? Int
    else { return preferredTransform }
    return preferredTransform.fitted(from: naturalSize, to: CGSize(width: width, height: height))
  }
}

extension CGAffineTransform {
  /// The same turn for pictures of another size: where they come to lie is scaled with them. A quarter turn
  /// moves by the height of what is turned: the old translation would show the picture beside its place.
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
