// SPDX-License-Identifier: Apache-2.0

/// The size at which pictures of any size are coded in 4:2:0, and the part of it that a decoder
/// shows.
///
/// The parameter sets of H.264 and HEVC crop in units of a chroma sample, which are two luma
/// samples. If a side of the picture is odd, the stream shows one luma sample more, and the clean
/// aperture of the file excludes it.
public struct CodedPictureSize: Sendable, Equatable {
  /// The coded width in luma samples, even.
  public let width: Int
  /// The coded height in luma samples, even.
  public let height: Int
  /// The width that is shown, from the left edge: that of the picture, rounded up to an even number
  /// of luma samples.
  public let visibleWidth: Int
  /// The height that is shown, from the upper edge: that of the picture, rounded up to an even
  /// number of luma samples.
  public let visibleHeight: Int

  /// Computes the size.
  /// - Parameters:
  ///   - width: the width of the picture in luma samples, 1 or more.
  ///   - height: the height of the picture in luma samples, 1 or more.
  ///   - minimum: the shortest side that the encoder codes, even.
  public init(width: Int, height: Int, minimum: Int) {
    func even(_ side: Int) -> Int { side < Int.max ? (side + 1) & ~1 : side & ~1 }
    visibleWidth = even(width)
    visibleHeight = even(height)
    self.width = max(visibleWidth, minimum)
    self.height = max(visibleHeight, minimum)
  }

  /// Whether a part of the coded picture is not shown.
  public var isCropped: Bool { width != visibleWidth || height != visibleHeight }
}

/// Enlarges pictures to the size at which an encoder codes them. The last column and the last row
/// are repeated, which takes the fewest bits. A picture that has the size already is passed on
/// without a copy.
public final class PicturePadding {
  /// The coded size.
  private let size: CodedPictureSize
  /// The memory of enlarged pictures.
  private var memory: UnsafeMutableRawPointer?
  /// The size of `memory` in bytes.
  private var capacity = 0

  /// Creates a value for pictures that are coded at a size.
  public init(_ size: CodedPictureSize) { self.size = size }

  deinit { memory?.deallocate() }

  /// Enlarges a picture to the coded size.
  /// - Parameter picture: a picture in memory, 4:2:0, or 4:4:4 with two planes of 8 bits.
  /// - Returns: the picture itself if it has the size, otherwise one in memory that is valid until
  ///   the next call.
  /// - Throws: ``CodecError`` if the picture is larger, is not in memory, or has another format
  ///   than these.
  public func pad(_ picture: InputPicture) throws(CodecError) -> InputPicture {
    guard picture.width != size.width || picture.height != size.height else { return picture }
    guard (1...size.width).contains(picture.width), (1...size.height).contains(picture.height) else {
      throw .invalidConfiguration("a picture of another size")
    }
    let sampleBytes: Int
    let isPlanar: Bool
    switch picture.format {
    case .nv12VideoRange, .nv12FullRange: (sampleBytes, isPlanar) = (1, false)
    case .i420VideoRange, .i420FullRange: (sampleBytes, isPlanar) = (1, true)
    case .nv24VideoRange, .nv24FullRange: (sampleBytes, isPlanar) = (1, false)
    case .p010VideoRange, .p010FullRange: (sampleBytes, isPlanar) = (2, false)
    default: throw .unsupported("a pixel format that cannot be enlarged to an even size")
    }
    let isFull = picture.format == .nv24VideoRange || picture.format == .nv24FullRange
    let views = try picture.planes()
    var target = try reserve(isFull ? 6 * sampleBytes : 3 * sampleBytes)

    /// Copies a plane and repeats its last column and row.
    /// - Parameters:
    ///   - plane: the plane.
    ///   - subsampling: 1 for luma and 4:4:4; 2 for chroma that has half the width and height.
    ///   - bytes: the bytes of a sample, or of a pair of Cb and Cr.
    func enlarge(_ plane: PlaneView, subsampling: Int, bytes: Int) throws(CodecError) -> PlaneView {
      let columns = (picture.width + subsampling - 1) / subsampling
      let rows = (picture.height + subsampling - 1) / subsampling
      guard plane.width >= columns, plane.height >= rows, plane.bytesPerRow >= columns * bytes else {
        throw .invalidConfiguration("a plane is smaller than the picture")
      }
      let made = PlaneView(
        baseAddress: UnsafeRawPointer(target), bytesPerRow: size.width / subsampling * bytes,
        width: size.width / subsampling, height: size.height / subsampling)
      for row in 0..<made.height {
        let source = plane.baseAddress + min(row, rows - 1) * plane.bytesPerRow
        target.copyMemory(from: source, byteCount: columns * bytes)
        let last = source + (columns - 1) * bytes
        for column in columns..<made.width {
          (target + column * bytes).copyMemory(from: last, byteCount: bytes)
        }
        target += made.bytesPerRow
      }
      return made
    }

    var padded = picture
    (padded.width, padded.height) = (size.width, size.height)
    let luma = try enlarge(views.first, subsampling: 1, bytes: sampleBytes)
    guard let second = views.second else { throw .invalidConfiguration("a plane is missing") }
    let chroma = try enlarge(
      second, subsampling: isFull ? 1 : 2, bytes: isPlanar ? sampleBytes : 2 * sampleBytes)
    var planes = PlaneViews(luma, chroma)
    if isPlanar {
      guard let third = views.third else { throw .invalidConfiguration("a plane is missing") }
      planes.third = try enlarge(third, subsampling: 2, bytes: sampleBytes)
    }
    padded.content = .planes(planes)
    return padded
  }

  /// Enlarges a picture that has to have the size of the stream.
  /// - Parameters:
  ///   - picture: the picture.
  ///   - configuration: the configuration of the stream.
  /// - Returns: the picture with its last column and row repeated where needed.
  /// - Throws: ``CodecError`` for a picture of another size.
  public func pad(
    _ picture: InputPicture, of configuration: VideoEncoderConfiguration
  ) throws(CodecError) -> InputPicture {
    guard picture.width == configuration.width, picture.height == configuration.height else {
      throw .invalidConfiguration("a picture of another size")
    }
    return try pad(picture)
  }

  /// The memory of all planes, which is kept from one picture to the next.
  /// - Parameter halfBytes: the bytes that a sample of luma takes with its share of chroma,
  ///   doubled.
  private func reserve(_ halfBytes: Int) throws(CodecError) -> UnsafeMutableRawPointer {
    let (samples, isTooLarge) = size.width.multipliedReportingOverflow(by: size.height)
    guard !isTooLarge, samples <= 1 << 32 else { throw .outOfMemory }
    let bytes = samples * halfBytes / 2
    if let memory, capacity >= bytes { return memory }
    memory?.deallocate()
    let made = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
    (memory, capacity) = (made, bytes)
    return made
  }
}
