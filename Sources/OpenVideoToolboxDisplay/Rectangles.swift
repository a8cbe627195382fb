// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  extension SDL_Rect {
    init(_ rect: CGRect) {
      self.init(
        x: Int32(clamping: Double(rect.minX)), y: Int32(clamping: Double(rect.minY)),
        w: Int32(clamping: Double(rect.width)), h: Int32(clamping: Double(rect.height)))
    }
  }

  extension CGRect {
    /// Rounds the edges to whole pixels.
    func rounded() -> CGRect {
      let (left, top) = (minX.rounded(), minY.rounded())
      return CGRect(x: left, y: top, width: maxX.rounded() - left, height: maxY.rounded() - top)
    }
  }
#endif
