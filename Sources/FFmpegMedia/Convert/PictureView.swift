// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// The planes of a picture in memory that the view does not own.
struct PictureView {
  var format: AVPixelFormat
  var width: Int
  var height: Int
  /// Four entries, as libswscale expects; nil and 0 after the last plane of the format.
  private(set) var planes: [UnsafeMutablePointer<UInt8>?]
  private(set) var strides: [Int32]
  /// Whether libswscale's SIMD code may read and write slightly beyond the end of each row. It may
  /// not in memory that a program has wrapped, which ends with the last row, and between whose rows
  /// there may be other data.
  var isPadded = true

  init(
    format: AVPixelFormat, width: Int, height: Int, planes: [UnsafeMutableRawPointer?], strides: [Int]
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.planes = (0..<4).map { $0 < planes.count ? planes[$0]?.assumingMemoryBound(to: UInt8.self) : nil }
    self.strides = (0..<4).map { $0 < strides.count ? Int32(clamping: strides[$0]) : 0 }
  }

  /// A view of a frame, which must outlive it.
  init(_ frame: UnsafePointer<AVFrame>) {
    let data = frame.pointee.data
    let lines = frame.pointee.linesize
    format = AVPixelFormat(frame.pointee.format)
    width = Int(frame.pointee.width)
    height = Int(frame.pointee.height)
    planes = [data.0, data.1, data.2, data.3]
    strides = [lines.0, lines.1, lines.2, lines.3]
  }

  var layout: PlaneLayout { PlaneLayout(format) }

  /// The part of the picture in a rectangle, whose corner is rounded down to
  /// `layout.cornerAlignment`: a part cannot begin between two chroma samples, and if it began at
  /// the later one, it would have a row or a column of chroma too few.
  func cropped(to rect: PixelRect) -> PictureView {
    var part = self
    part.width = rect.width
    part.height = rect.height
    let layout = layout
    let align = layout.cornerAlignment
    let (x, y) = (rect.x / align.x * align.x, rect.y / align.y * align.y)
    for plane in 0..<layout.planeCount {
      guard let base = planes[plane] else { continue }
      part.planes[plane] =
        base + layout.rows(y, inPlane: plane) * Int(strides[plane]) + layout.bytes(x, inPlane: plane)
    }
    return part
  }
}

/// A rectangle of whole pixels; the origin is the upper left corner.
public struct PixelRect: Hashable, Sendable {
  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int

  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}

/// How the samples of a pixel format are distributed over planes.
struct PlaneLayout {
  private let format: AVPixelFormat
  let planeCount: Int
  /// Bytes from one sample to the next in each plane; from one group to the next in packed 4:2:2.
  let bytesPerSample: [Int]
  /// Binary logarithm of the horizontal and vertical chroma subsampling.
  let chromaWidthShift: Int
  let chromaHeightShift: Int
  /// Whether each plane is subsampled.
  private let isChroma: [Bool]
  /// Binary logarithm of the smallest number of pixels that begins on a byte boundary.
  private let groupShift: Int

  init(_ format: AVPixelFormat) {
    self.format = format
    guard let descriptor = av_pix_fmt_desc_get(format) else {
      planeCount = 0
      bytesPerSample = []
      chromaWidthShift = 0
      chromaHeightShift = 0
      isChroma = []
      groupShift = 0
      return
    }
    let count = max(0, Int(av_pix_fmt_count_planes(format)))
    planeCount = count
    let components = withUnsafeBytes(of: descriptor.pointee.comp) {
      Array($0.bindMemory(to: AVComponentDescriptor.self).prefix(Int(descriptor.pointee.nb_components)))
    }
    let hasChroma =
      descriptor.pointee.nb_components >= 3 && descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) == 0
    bytesPerSample = (0..<count).map { plane in
      components.filter { Int($0.plane) == plane }.map { Int($0.step) }.max() ?? 1
    }
    // In packed formats chroma is subsampled within groups of pixels, and the plane has the full
    // width.
    isChroma = (0..<count).map { count > 1 && hasChroma && ($0 == 1 || $0 == 2) }
    chromaWidthShift = Int(descriptor.pointee.log2_chroma_w)
    chromaHeightShift = Int(descriptor.pointee.log2_chroma_h)
    groupShift = descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_BITSTREAM) != 0 ? 3 : 0
  }

  /// Bytes of a plane's row for a number of pixels, rounded up to whole groups in packed formats
  /// with shared chroma.
  func bytes(_ pixels: Int, inPlane plane: Int) -> Int {
    pixels > 0 ? max(0, Int(av_image_get_linesize(format, Int32(clamping: pixels), Int32(plane)))) : 0
  }

  /// Samples of a plane's row for a number of pixels, rounded up.
  func samples(_ pixels: Int, inPlane plane: Int) -> Int {
    isChroma[plane] ? -((-pixels) >> chromaWidthShift) : pixels
  }

  /// Rows of a plane for a number of picture rows, rounded up.
  func rows(_ rows: Int, inPlane plane: Int) -> Int {
    isChroma[plane] ? -((-rows) >> chromaHeightShift) : rows
  }

  /// Numbers of pixels and rows of which the upper left corner of a part must be a multiple.
  var cornerAlignment: (x: Int, y: Int) { (1 << max(chromaWidthShift, groupShift), 1 << chromaHeightShift) }
}
