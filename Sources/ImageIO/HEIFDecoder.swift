// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreGraphics
import CoreMedia
import Foundation
import VideoBitstream

/// Decodes the images of an HEIF file: single HEVC pictures and grids of them, with alpha.
struct HEIFDecoder {
  /// Pixels of 1 byte (gray) or 4 bytes (red, green, blue, alpha), row by row from the top.
  private final class Raster {
    let width: Int
    let height: Int
    let size: Int
    let memory: NSMutableData
    var bytes: UnsafeMutablePointer<UInt8> { memory.mutableBytes.assumingMemoryBound(to: UInt8.self) }
    var pitch: Int { width * size }

    init?(_ width: Int, _ height: Int, size: Int) {
      guard let memory = NSMutableData(length: width * height * size + ImageCodec.padding) else {
        return nil
      }
      (self.width, self.height, self.size, self.memory) = (width, height, size, memory)
    }

    /// Copies a part of another raster with pixels of the same size.
    func copy(_ x: Int, _ y: Int, _ width: Int, _ height: Int, of source: Raster, toX column: Int, y row: Int)
    {
      for line in 0..<height {
        memcpy(
          bytes + (row + line) * pitch + column * size, source.bytes + (y + line) * source.pitch + x * size,
          width * size)
      }
    }
  }

  private let file: HEIFFile
  /// The number of pixels that the file can have.
  private let maxPixels: Int

  /// The largest number of tiles of a grid.
  private static let maxTiles = 1 << 12

  init(_ file: HEIFFile, bytes: Int) {
    self.file = file
    maxPixels = ImageCodec.heic.maxPixels(bytes: bytes)
  }

  /// Decodes an image.
  /// - Parameter id: The item.
  /// - Returns: The image as it is stored, not rotated or mirrored, or nil if it is damaged, or if
  ///   it needs something that is not supported.
  func image(_ id: UInt32) -> CGImage? {
    guard let properties = file.items[id]?.properties, let raster = raster(of: id, as: nil) else {
      return nil
    }
    var alpha: CGImageAlphaInfo = raster.size == 1 ? .none : .noneSkipLast
    if raster.size == 4, let source = alphaItem(of: id) {
      guard let mask = self.raster(of: source, as: AV_PIX_FMT_GRAY8) else { return nil }
      // Alpha of another size would have to be scaled, and is left out.
      if mask.width == raster.width, mask.height == raster.height {
        let (pixels, values) = (raster.bytes, mask.bytes)
        for index in 0..<raster.width * raster.height { pixels[4 * index + 3] = values[index] }
        let isPremultiplied = file.targets(of: id, "prem").contains(source)
        alpha = isPremultiplied ? .premultipliedLast : .last
      }
    }
    guard let shown = crop(raster, properties) else { return nil }
    shown.memory.length = shown.width * shown.height * shown.size
    guard let provider = CGDataProvider(data: shown.memory) else { return nil }
    return CGImage(
      width: shown.width, height: shown.height, bitsPerComponent: 8, bitsPerPixel: 8 * shown.size,
      bytesPerRow: shown.pitch, space: space(properties, components: shown.size == 1 ? 1 : 3),
      bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue), provider: provider, decode: nil,
      shouldInterpolate: true, intent: .defaultIntent)
  }

  /// Returns the orientation of an image by its properties.
  func orientation(of id: UInt32) -> CGImagePropertyOrientation {
    var transform = HEIFOrientation()
    for property in file.items[id]?.properties ?? [] {
      switch property {
      case .rotation(let quarters): transform.rotate(quarters)
      case .mirror(let exchangesSides): transform.mirror(exchangesSides: exchangesSides)
      default: break
      }
    }
    return transform.orientation
  }

  /// Returns the Exif data that describes an image, without the offset before it.
  func exif(of id: UInt32) -> Data? {
    let source = file.sources(of: id, "cdsc").first { file.items[$0]?.type == "Exif" }
    guard let content = source.flatMap({ file.content(of: $0) }), content.count > 4 else { return nil }
    // exif_tiff_header_offset, counted from the end of this field (ISO/IEC 23008-12, A.2.1).
    let offset = content.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard offset < content.count - 4 else { return nil }
    return Data(content.dropFirst(4 + offset))
  }

  // MARK: - Pixels

  private func raster(of id: UInt32, as format: AVPixelFormat?) -> Raster? {
    switch file.items[id]?.type {
    case "hvc1": picture(id, as: format, maxPixels: maxPixels, color: nil)
    case "grid": grid(id, as: format)
    default: nil
    }
  }

  /// Decodes a single picture.
  /// - Parameters:
  ///   - id: The item.
  ///   - format: The format of the result. If it is nil, gray pictures become gray and others RGBA.
  ///   - maxPixels: The maximum number of pixels.
  ///   - color: The color description and range of the grid that the picture belongs to; nil for
  ///     a single picture.
  private func picture(
    _ id: UInt32, as format: AVPixelFormat?, maxPixels: Int, color: (ColorDescription, Bool)?
  ) -> Raster? {
    guard let item = file.items[id], let content = file.content(of: id) else { return nil }
    guard let configuration = Self.configuration(item) else { return nil }
    let color = color ?? Self.color(item.properties)
    return ImageCodec.heic.decode(content, configuration: configuration, maxPixels: maxPixels) { frame in
      let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
      guard width > 0, height > 0,
        let description = av_pix_fmt_desc_get(AVPixelFormat(rawValue: frame.pointee.format))
      else { return nil }
      let isGrey = format == AV_PIX_FMT_GRAY8 || format == nil && description.pointee.nb_components == 1
      guard let raster = Raster(width, height, size: isGrey ? 1 : 4) else { return nil }
      var matrix = color?.0.matrix ?? ColorDescription.unspecified
      if matrix == ColorDescription.unspecified {
        matrix = UInt8(clamping: frame.pointee.colorspace.rawValue)
      }
      let isFullRange = color?.1 ?? (frame.pointee.color_range == AVCOL_RANGE_JPEG)
      let isDone = ImageCodec.convert(
        frame, to: isGrey ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_RGBA, raster.bytes, raster.pitch,
        matrix: (matrix, isFullRange))
      return isDone ? raster : nil
    }
  }

  /// Decodes a grid of pictures (ISO/IEC 23008-12, 6.6.2.3).
  private func grid(_ id: UInt32, as format: AVPixelFormat?) -> Raster? {
    let tiles = file.targets(of: id, "dimg")
    guard let content = file.content(of: id), let grid = HEIFGrid(content),
      grid.rows * grid.columns == tiles.count, tiles.count <= Self.maxTiles,
      grid.width <= maxPixels, grid.height <= maxPixels, grid.width * grid.height <= maxPixels,
      // Without these limits, a small file whose tiles share data or parameter sets could cause an
      // unbounded amount of decoding.
      tiles.reduce(0, { $0 + file.length(of: $1) }) <= file.length,
      tiles.reduce(0, { $0 + (file.items[$1].flatMap(Self.configuration)?.count ?? 0) })
        <= max(file.length, 1 << 20)
    else { return nil }
    let color = file.items[id].flatMap { Self.color($0.properties) }
    var (canvas, tileWidth, tileHeight) = (Raster?.none, 0, 0)
    for (index, tile) in tiles.enumerated() {
      let maximum = canvas == nil ? maxPixels : Self.codedSize(tileWidth, tileHeight)
      guard file.items[tile]?.type == "hvc1",
        let raster = picture(tile, as: format, maxPixels: maximum, color: color)
      else { return nil }
      if canvas == nil {
        (tileWidth, tileHeight) = (raster.width, raster.height)
        // Each row and each column has to show something, and each tile takes its share of bytes.
        guard tiles.count * tileWidth * tileHeight <= maxPixels, grid.columns * tileWidth >= grid.width,
          (grid.columns - 1) * tileWidth < grid.width,
          grid.rows * tileHeight >= grid.height, (grid.rows - 1) * tileHeight < grid.height
        else { return nil }
        canvas = Raster(grid.width, grid.height, size: raster.size)
      }
      guard let canvas, raster.width == tileWidth, raster.height == tileHeight, raster.size == canvas.size
      else { return nil }
      let (x, y) = (index % grid.columns * tileWidth, index / grid.columns * tileHeight)
      canvas.copy(
        0, 0, min(tileWidth, grid.width - x), min(tileHeight, grid.height - y), of: raster, toX: x, y: y)
    }
    return canvas
  }

  /// The parameter sets of an item of HEVC, or nil if it has none.
  private static func configuration(_ item: HEIFFile.Item) -> Data? {
    item.properties.lazy.compactMap {
      if case .configuration(let data) = $0 { data } else { nil }
    }.first
  }

  /// The largest size that libavcodec allocates for a picture, in pixels: whole coding blocks, or
  /// rows that are aligned for its kernels.
  private static func codedSize(_ width: Int, _ height: Int) -> Int {
    ((width + 63) & ~63) * ((height + 63) & ~63)
  }

  /// Returns the item with the alpha of an image, or nil if there is none.
  private func alphaItem(of id: UInt32) -> UInt32? {
    let names = ["urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"]
    return file.sources(of: id, "auxl").first { source in
      file.items[source]?.properties.contains {
        if case .auxiliary(let name) = $0 { names.contains(name) } else { false }
      } ?? false
    }
  }

  private func crop(_ raster: Raster, _ properties: [HEIFFile.Property]) -> Raster? {
    var isTransformed = false
    for property in properties {
      switch property {
      case .rotation, .mirror: isTransformed = true
      case .aperture(let aperture):
        // MIAF (ISO/IEC 23000-22, 7.3.6.7) does not allow another order.
        guard !isTransformed, let part = aperture.part(ofWidth: raster.width, height: raster.height),
          let result = Raster(part.width, part.height, size: raster.size)
        else { return nil }
        result.copy(part.x, part.y, part.width, part.height, of: raster, toX: 0, y: 0)
        return result
      default: break
      }
    }
    return raster
  }

  // MARK: - Color

  private static func color(_ properties: [HEIFFile.Property]) -> (ColorDescription, Bool)? {
    properties.lazy.compactMap {
      if case .color(let color, let isFullRange) = $0 { (color, isFullRange) } else { nil }
    }.first
  }

  private func space(_ properties: [HEIFFile.Property], components: Int) -> CGColorSpace {
    for case .profile(let data) in properties {
      if let space = CGColorSpace(iccData: data as NSData), space.numberOfComponents == components {
        return space
      }
    }
    return components == 1 ? CGColorSpaceCreateDeviceGray() : HEIFColor.space(of: Self.color(properties)?.0)
  }
}

/// The size of a grid of pictures and of the image that they make up (ISO/IEC 23008-12, 6.6.2.3).
struct HEIFGrid: Equatable {
  var rows: Int
  var columns: Int
  var width: Int
  var height: Int

  init(rows: Int, columns: Int, width: Int, height: Int) {
    (self.rows, self.columns, self.width, self.height) = (rows, columns, width, height)
  }

  /// Reads the data of an item of the type `grid`. It is nil if the data is malformed.
  init?(_ data: Data) {
    var reader = ByteReader(data)
    guard let version = try? reader.uint8(), version == 0, let flags = try? reader.uint8(),
      let lastRow = try? reader.uint8(), let lastColumn = try? reader.uint8()
    else { return nil }
    func side() -> Int? {
      flags & 1 == 0 ? (try? reader.uint16()).map { Int($0) } : (try? reader.uint32()).map { Int($0) }
    }
    guard let width = side(), let height = side(), width > 0, height > 0 else { return nil }
    self.init(rows: Int(lastRow) + 1, columns: Int(lastColumn) + 1, width: width, height: height)
  }

  /// The data of the item.
  var content: Data {
    var data = Data([0, 1, UInt8(rows - 1), UInt8(columns - 1)])
    data.append(bigEndian: UInt32(width))
    data.append(bigEndian: UInt32(height))
    return data
  }
}

extension CleanAperture {
  /// Returns the part of a decoded image in whole samples, or nil if it is empty or leaves the
  /// image.
  fileprivate func part(ofWidth decodedWidth: Int, height decodedHeight: Int) -> (
    x: Int, y: Int, width: Int, height: Int
  )? {
    func side(_ size: Fraction, _ offset: Fraction, _ decoded: Int) -> (start: Int, length: Int)? {
      let length = Int(size.numerator) / Int(size.denominator)
      guard length >= 1, length <= decoded else { return nil }
      // The centers' distance from the edges is (size - 1) / 2.
      let denominator = Int(offset.denominator)
      let twice = 2 * Int(offset.numerator) + (decoded - length) * denominator
      let start = twice / (2 * denominator)
      guard twice >= 0, start + length <= decoded else { return nil }
      return (start, length)
    }
    guard let x = side(width, horizontalOffset, decodedWidth),
      let y = side(height, verticalOffset, decodedHeight)
    else { return nil }
    return (x.start, y.start, x.length, y.length)
  }
}
