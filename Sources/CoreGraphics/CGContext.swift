// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A bitmap context to draw into. The origin of its coordinates is at the lower left.
///
/// A pixel has 8 bits per component. It is gray, or red, green and blue with premultiplied alpha or
/// without alpha, in big-endian or little-endian order. A context may only be used by one thread at
/// a time.
public final class CGContext {
  public let width: Int
  public let height: Int
  public let bitsPerComponent: Int
  public let bitsPerPixel: Int
  public let bytesPerRow: Int
  public let colorSpace: CGColorSpace?
  public let bitmapInfo: CGBitmapInfo
  /// The first row, which is the top row of the bitmap.
  public let data: UnsafeMutableRawPointer?
  private let memory: UnsafeMutableRawPointer
  private let isOwner: Bool
  private let layout: PixelByteLayout
  private var state = State()
  private var saved: [State] = []

  private struct State {
    var fill = Pixel(a: 255)
    var transform = CGAffineTransform.identity
    var quality = CGInterpolationQuality.default
    var alpha: CGFloat = 1
    var clip: CGRect?
  }

  /// Creates a context.
  /// - Parameters:
  ///   - data: Memory for `height` rows, which must outlive the context. With nil, the context
  ///     allocates its own memory, filled with zeros.
  ///   - width: The width in pixels, from 1 to 65,536.
  ///   - height: The height in pixels, from 1 to 65,536.
  ///   - bitsPerComponent: The number of bits per component, which must be 8.
  ///   - bytesPerRow: The number of bytes per row, at most 1,048,576. With 0 and without `data`,
  ///     the context chooses a multiple of 16.
  ///   - space: A color space with one component (gray) or three components.
  ///   - bitmapInfo: A `CGImageAlphaInfo` combined with a byte order.
  /// - Returns: nil if drawing into this layout is not supported, or if there is not enough memory.
  public init?(
    data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
    space: CGColorSpace, bitmapInfo: UInt32
  ) {
    let info = CGBitmapInfo(rawValue: bitmapInfo)
    let components = space.numberOfComponents
    let bits = components == 1 ? 8 : 32
    guard width > 0, height > 0, width <= 1 << 16, height <= 1 << 16,
      let layout = PixelByteLayout(
        bitsPerComponent: bitsPerComponent, bitsPerPixel: bits, components: components, info: info),
      layout.a == nil || layout.isPremultiplied
    else { return nil }
    let least = width * layout.size
    let pitch = bytesPerRow == 0 && data == nil ? (least + 15) / 16 * 16 : bytesPerRow
    guard pitch >= least, pitch <= 1 << 20 else { return nil }
    if let data {
      memory = data
      isOwner = false
    } else {
      guard let made = calloc(height, pitch) else { return nil }
      memory = made
      isOwner = true
    }
    self.layout = layout
    self.data = memory
    self.width = width
    self.height = height
    self.bitsPerComponent = bitsPerComponent
    bitsPerPixel = bits
    self.bytesPerRow = pitch
    colorSpace = space
    self.bitmapInfo = info
  }

  deinit { if isOwner { free(memory) } }

  public var alphaInfo: CGImageAlphaInfo {
    CGImageAlphaInfo(rawValue: bitmapInfo.rawValue & CGBitmapInfo.alphaInfoMask.rawValue) ?? .none
  }

  // MARK: - State

  public func saveGState() { saved.append(state) }
  public func restoreGState() { if let last = saved.popLast() { state = last } }

  public var ctm: CGAffineTransform { state.transform }
  public func concatenate(_ transform: CGAffineTransform) {
    state.transform = transform.concatenating(state.transform)
  }
  public func translateBy(x tx: CGFloat, y ty: CGFloat) {
    concatenate(CGAffineTransform(translationX: tx, y: ty))
  }
  public func scaleBy(x sx: CGFloat, y sy: CGFloat) { concatenate(CGAffineTransform(scaleX: sx, y: sy)) }
  public func rotate(by angle: CGFloat) { concatenate(CGAffineTransform(rotationAngle: angle)) }

  public var interpolationQuality: CGInterpolationQuality {
    get { state.quality }
    set { state.quality = newValue }
  }
  /// Sets the factor, from 0.0 to 1.0, by which the alpha of everything drawn is multiplied.
  public func setAlpha(_ alpha: CGFloat) { state.alpha = max(0, min(1, alpha)) }

  public func setFillColor(_ color: CGColor) { state.fill = color.pixel }
  public func setFillColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    setFillColor(CGColor(red: red, green: green, blue: blue, alpha: alpha))
  }
  public func setFillColor(gray: CGFloat, alpha: CGFloat) { setFillColor(CGColor(gray: gray, alpha: alpha)) }

  /// Restricts drawing to the intersection of a rectangle with the current clip. If the transform
  /// rotates the rectangle, its axis-aligned bounding box is used.
  public func clip(to rect: CGRect) {
    let area = rect.applying(state.transform)
    state.clip = state.clip.map { $0.common(with: area) } ?? area
  }

  // MARK: - Drawing

  public func fill(_ rect: CGRect) {
    let color = faded(state.fill)
    paint(rect) { _, _ in color }
  }

  public func fill(_ rects: [CGRect]) { for rect in rects { fill(rect) } }

  /// Makes a rectangle transparent, or black if the bitmap has no alpha.
  public func clear(_ rect: CGRect) {
    paint(rect, blends: false) { _, _ in Pixel() }
  }

  /// Draws an image, scaled to a rectangle. It draws nothing if the layout of the image is not
  /// supported, or with `byTiling`.
  public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {
    let box = rect.standardized
    guard !byTiling, box.width > 0, box.height > 0, let pixels = image.pixels() else { return }
    // The scales are pixels of the context per pixel of the image. When an image shrinks, blocks of
    // its pixels are averaged first, to prevent aliasing.
    let t = state.transform
    let scaleX = hypot(t.a, t.b) * box.width / CGFloat(image.width)
    let scaleY = hypot(t.c, t.d) * box.height / CGFloat(image.height)
    var picture = Picture(width: image.width, height: image.height, pixels: pixels)
    if state.quality != .none { picture = picture.averaged(scaleX, scaleY) }
    let isSmooth = state.quality != .none
    let (columns, rows) = (CGFloat(picture.width), CGFloat(picture.height))
    paint(box) { x, y in
      // `u` and `v` are in pixels of the picture, from its upper left corner.
      let u = (x - box.minX) / box.width * columns
      let v = (box.maxY - y) / box.height * rows
      return self.faded(isSmooth ? picture.smooth(u, v) : picture.nearest(u, v))
    }
  }

  private func faded(_ pixel: Pixel) -> Pixel {
    guard state.alpha < 1 else { return pixel }
    func times(_ value: UInt8) -> UInt8 { UInt8((CGFloat(value) * state.alpha).rounded()) }
    return Pixel(r: times(pixel.r), g: times(pixel.g), b: times(pixel.b), a: times(pixel.a))
  }

  /// Sets each pixel whose center is within a rectangle to a color. The function `color` receives
  /// the center in user coordinates.
  private func paint(_ rect: CGRect, blends: Bool = true, _ color: (CGFloat, CGFloat) -> Pixel) {
    let box = rect.standardized
    let t = state.transform
    guard t.a * t.d - t.b * t.c != 0, !rect.isNull, box.minX.isFinite, box.minY.isFinite, box.maxX.isFinite,
      box.maxY.isFinite
    else { return }
    let back = t.inverted()
    var area = box.applying(t).common(with: CGRect(x: 0, y: 0, width: width, height: height))
    if let clip = state.clip { area = area.common(with: clip) }
    // A rectangle that is null or contains NaN covers no pixels.
    guard !rect.isNull, !area.isNull, area.width > 0, area.height > 0, area.minX >= 0, area.minY >= 0,
      area.maxX <= CGFloat(width), area.maxY <= CGFloat(height)
    else { return }
    for row in Int(area.minY.rounded(.down))..<min(height, Int(area.maxY.rounded(.up))) {
      let line = memory + (height - 1 - row) * bytesPerRow
      for column in Int(area.minX.rounded(.down))..<min(width, Int(area.maxX.rounded(.up))) {
        let device = CGPoint(x: CGFloat(column) + 0.5, y: CGFloat(row) + 0.5)
        if let clip = state.clip, !clip.contains(device) { continue }
        let point = device.applying(back)
        guard point.x >= box.minX, point.x < box.maxX, point.y >= box.minY, point.y < box.maxY else {
          continue
        }
        let pixel = line + column * layout.size
        let new = color(point.x, point.y)
        layout.write(blends && new.a < 255 ? new.over(layout.read(pixel)) : new, to: pixel)
      }
    }
  }

  // MARK: - Images

  /// Returns a copy of the bitmap as an image. Later drawing does not change it.
  public func makeImage() -> CGImage? {
    guard let space = colorSpace,
      let provider = CGDataProvider(data: NSData(bytes: memory, length: bytesPerRow * height))
    else { return nil }
    return CGImage(
      width: width, height: height, bitsPerComponent: bitsPerComponent, bitsPerPixel: bitsPerPixel,
      bytesPerRow: bytesPerRow, space: space, bitmapInfo: bitmapInfo, provider: provider, decode: nil,
      shouldInterpolate: true, intent: .defaultIntent)
  }
}
