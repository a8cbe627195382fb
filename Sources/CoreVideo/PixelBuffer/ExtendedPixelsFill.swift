// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Fills the extended pixels with copies of the picture's edge.
///
/// A registered format uses its own callback, if it has one.
/// - Returns: `kCVReturnError` if that callback fails.
@discardableResult
public func CVPixelBufferFillExtendedPixels(_ pixelBuffer: CVPixelBuffer) -> CVReturn {
  let extended = pixelBuffer.extendedPixels
  guard extended != ExtendedPixels() else { return kCVReturnSuccess }
  if let own = PixelFormat.registered.withLock({ $0[pixelBuffer.pixelFormatType] }),
    let data = own.description[kCVPixelFormatFillExtendedPixelsCallback] as? NSData,
    data.length >= MemoryLayout<CVFillExtendedPixelsCallBackData>.size
  {
    var callback = CVFillExtendedPixelsCallBackData()
    // The bytes are copied as the program has written them: the callback captures nothing, so that
    // nothing has to be retained.
    withUnsafeMutableBytes(of: &callback) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: data.bytes, count: $0.count))
    }
    guard let fill = callback.fillCallBack else { return kCVReturnSuccess }
    return fill(pixelBuffer, callback.refCon) ? kCVReturnSuccess : kCVReturnError
  }
  // The planes of the buffer's own layout are used, because the format may have been registered
  // again since.
  for (index, plane) in pixelBuffer.storage.formatPlanes.enumerated() {
    guard plane.bitsPerBlock % 8 == 0, let base = pixelBuffer.storage.planes[index].baseAddress else {
      continue
    }
    let entry = pixelBuffer.storage.planes[index]
    let size = plane.bitsPerBlock / 8
    // The size of the plane in blocks: those of the picture, and those on each side.
    let columns = ceilDivide(entry.width, plane.blockWidth)
    let left = extended.left / plane.horizontalSubsampling / plane.blockWidth
    let allColumns = ceilDivide(
      ceilDivide(pixelBuffer.width + extended.left + extended.right, plane.horizontalSubsampling),
      plane.blockWidth)
    let rows = ceilDivide(entry.height, plane.blockHeight)
    let top = extended.top / plane.verticalSubsampling / plane.blockHeight
    let allRows = ceilDivide(
      ceilDivide(pixelBuffer.height + extended.top + extended.bottom, plane.verticalSubsampling),
      plane.blockHeight)
    for row in 0..<rows {
      let start = base + row * entry.bytesPerRow
      for column in 0..<left { (start - (column + 1) * size).copyMemory(from: start, byteCount: size) }
      let last = start + (columns - 1) * size
      for column in columns..<max(allColumns - left, columns) {
        (start + column * size).copyMemory(from: last, byteCount: size)
      }
    }
    let first = base - left * size
    let width = allColumns * size
    for row in 0..<top { (first - (row + 1) * entry.bytesPerRow).copyMemory(from: first, byteCount: width) }
    let lastRow = first + (rows - 1) * entry.bytesPerRow
    for row in rows..<max(allRows - top, rows) {
      (first + row * entry.bytesPerRow).copyMemory(from: lastRow, byteCount: width)
    }
  }
  return kCVReturnSuccess
}
