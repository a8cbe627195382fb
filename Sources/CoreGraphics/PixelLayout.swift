// SPDX-License-Identifier: Apache-2.0
/// The positions of the components in a pixel with 8 bits per component.
struct PixelByteLayout {
  /// The number of bytes per pixel.
  let size: Int
  /// The offsets of the components in bytes. The offset of alpha is nil if there is none.
  let r: Int
  let g: Int
  let b: Int
  let a: Int?
  let isPremultiplied: Bool

  /// Creates the layout of a bitmap. It is nil if the layout is not supported.
  init?(bitsPerComponent: Int, bitsPerPixel: Int, components: Int, info: CGBitmapInfo) {
    let alpha = CGImageAlphaInfo(rawValue: info.rawValue & CGBitmapInfo.alphaInfoMask.rawValue)
    guard bitsPerComponent == 8, let alpha, !info.contains(.floatComponents) else { return nil }
    let order = info.rawValue & CGBitmapInfo.byteOrderMask.rawValue
    isPremultiplied = alpha == .premultipliedFirst || alpha == .premultipliedLast
    switch (components, bitsPerPixel, alpha) {
    case (1, 8, .none): (size, r, g, b, a) = (1, 0, 0, 0, nil)
    case (3, 24, .none) where order == 0: (size, r, g, b, a) = (3, 0, 1, 2, nil)
    case (3, 32, _) where alpha != .none && alpha != .alphaOnly:
      let isLittle = order == CGBitmapInfo.byteOrder32Little.rawValue
      guard order == 0 || isLittle || order == CGBitmapInfo.byteOrder32Big.rawValue else { return nil }
      let isFirst = [.premultipliedFirst, .first, .noneSkipFirst].contains(alpha)
      let hasAlpha = alpha != .noneSkipFirst && alpha != .noneSkipLast
      func byteIndex(_ index: Int) -> Int { isLittle ? 3 - index : index }
      let colors = isFirst ? 1 : 0
      (size, r, g, b) = (4, byteIndex(colors), byteIndex(colors + 1), byteIndex(colors + 2))
      a = hasAlpha ? byteIndex(isFirst ? 0 : 3) : nil
    default: return nil
    }
  }

  func read(_ bytes: UnsafeRawPointer) -> Pixel {
    func byte(_ at: Int) -> UInt8 { bytes.load(fromByteOffset: at, as: UInt8.self) }
    guard let a else { return Pixel(r: byte(r), g: byte(g), b: byte(b), a: 255) }
    let alpha = byte(a)
    if isPremultiplied || alpha == 255 { return Pixel(r: byte(r), g: byte(g), b: byte(b), a: alpha) }
    func times(_ value: UInt8) -> UInt8 { UInt8((UInt32(value) * UInt32(alpha) + 127) / 255) }
    return Pixel(r: times(byte(r)), g: times(byte(g)), b: times(byte(b)), a: alpha)
  }

  /// Writes a pixel. A gray pixel receives the luminance with the weights of Rec. 709.
  func write(_ pixel: Pixel, to bytes: UnsafeMutableRawPointer) {
    if size == 1 {
      let luma = (UInt32(pixel.r) * 54 + UInt32(pixel.g) * 183 + UInt32(pixel.b) * 19) >> 8
      return bytes.storeBytes(of: UInt8(luma), as: UInt8.self)
    }
    bytes.storeBytes(of: pixel.r, toByteOffset: r, as: UInt8.self)
    bytes.storeBytes(of: pixel.g, toByteOffset: g, as: UInt8.self)
    bytes.storeBytes(of: pixel.b, toByteOffset: b, as: UInt8.self)
    if let a { bytes.storeBytes(of: pixel.a, toByteOffset: a, as: UInt8.self) }
  }
}

extension CGImage {
  var pixelLayout: PixelByteLayout? {
    PixelByteLayout(
      bitsPerComponent: bitsPerComponent, bitsPerPixel: bitsPerPixel,
      components: colorSpace?.numberOfComponents ?? 3, info: bitmapInfo)
  }

  /// Returns all pixels with premultiplied alpha, row by row from the top, or nil if the layout is
  /// not supported.
  func pixels() -> [Pixel]? {
    guard let layout = pixelLayout, let data = dataProvider?.data else { return nil }
    var result: [Pixel] = []
    result.reserveCapacity(width * height)
    let base = data.bytes
    for y in 0..<height {
      for x in 0..<width { result.append(layout.read(base + y * bytesPerRow + x * layout.size)) }
    }
    return result
  }

  /// Returns the pixels as bytes in the order red, green, blue, alpha. The alpha is not
  /// premultiplied.
  /// - Parameter padding: The number of additional bytes after the last pixel.
  /// - Returns: The bytes, or nil if the layout of the image is not supported.
  package func straightRGBA(padding: Int) -> [UInt8]? {
    pixels().map { pixels in
      var bytes = [UInt8](repeating: 0, count: pixels.count * 4 + padding)
      for (index, pixel) in pixels.enumerated() {
        func straight(_ value: UInt8) -> UInt8 {
          pixel.a == 0 ? 0 : UInt8(min(255, (UInt32(value) * 255 + UInt32(pixel.a) / 2) / UInt32(pixel.a)))
        }
        bytes[4 * index] = straight(pixel.r)
        bytes[4 * index + 1] = straight(pixel.g)
        bytes[4 * index + 2] = straight(pixel.b)
        bytes[4 * index + 3] = pixel.a
      }
      return bytes
    }
  }

  /// Returns the part of the image within a rectangle, or nil if they do not intersect. The origin
  /// is at the upper left.
  public func cropping(to rect: CGRect) -> CGImage? {
    let part = rect.common(with: CGRect(x: 0, y: 0, width: width, height: height)).integral
    guard !part.isNull, part.width >= 1, part.height >= 1, bitsPerPixel % 8 == 0,
      let data = dataProvider?.data, let space = colorSpace
    else { return nil }
    let start = Int(part.minY) * bytesPerRow + Int(part.minX) * bitsPerPixel / 8
    let length = (Int(part.height) - 1) * bytesPerRow + Int(part.width) * bitsPerPixel / 8
    guard start + length <= data.length,
      let provider = CGDataProvider(data: NSData(bytes: data.bytes + start, length: length))
    else { return nil }
    return CGImage(
      width: Int(part.width), height: Int(part.height), bitsPerComponent: bitsPerComponent,
      bitsPerPixel: bitsPerPixel, bytesPerRow: bytesPerRow, space: space, bitmapInfo: bitmapInfo,
      provider: provider, decode: nil, shouldInterpolate: shouldInterpolate, intent: renderingIntent)
  }
}
