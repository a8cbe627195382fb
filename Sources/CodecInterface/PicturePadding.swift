// SPDX-License-Identifier: Apache-2.0

/// The size that pictures of any size are coded at in 4:2:0, and what a decoder shows of it.
///
/// The parameter sets of H.264 and HEVC crop in units of a chroma sample, which are two luma samples: a stream shows
/// an odd side with one sample more. The file's clean aperture says which one is not meant.
public struct CodedPictureSize: Sendable, Equatable {
  /// Luma samples that are coded: even.
  public let width: Int
  public let height: Int
  /// Luma samples that are shown, from the upper left: the picture's size, rounded up to even.
  public let visibleWidth: Int
  public let visibleHeight: Int

  /// - Parameters:
  ///   - width: Luma samples of a picture's row, 1 or more.
  ///   - height: Rows of a picture's luma samples, 1 or more.
  ///   - least: The shortest side that the encoder codes, even.
  public init(width: Int, height: Int, least: Int) {
    func even(_ side: Int) -> Int { side < Int.max ? (side + 1) & ~1 : side & ~1 }
    visibleWidth = even(width)
    visibleHeight = even(height)
    self.width = max(visibleWidth, least)
    self.height = max(visibleHeight, least)
  }

  /// Whether some of what is coded is not shown.
  public var isCropped: Bool { width != visibleWidth || height != visibleHeight }
}

/// Makes pictures as large as an encoder codes them: the last column and the last row are repeated, which costs least
/// bits. Pictures that are as large already are passed on where they are.
public final class PicturePadding {
  private let size: CodedPictureSize
  private var memory: UnsafeMutableRawPointer?
  private var capacity = 0

  public init(_ size: CodedPictureSize) { self.size = size }

  deinit { memory?.deallocate() }

  /// The picture in the coded size, in memory that is valid until the next call if it was enlarged.
  /// - Throws: ``CodecError`` for a picture that is larger, that is not in memory, or whose format is not one of
  ///   4:2:0.
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
    case .p010VideoRange, .p010FullRange: (sampleBytes, isPlanar) = (2, false)
    default: throw .unsupported("a pixel format that cannot be enlarged to an even size")
    }
    let views = try picture.planes()
    var target = try reserve(sampleBytes)

    /// - Parameter bytes: of a sample, or of a pair of Cb and Cr.
    func enlarge(_ plane: PlaneView, share: Int, bytes: Int) throws(CodecError) -> PlaneView {
      let columns = (picture.width + share - 1) / share
      let rows = (picture.height + share - 1) / share
      guard plane.width >= columns, plane.height >= rows, plane.bytesPerRow >= columns * bytes else {
        throw .invalidConfiguration("a plane is smaller than the picture")
      }
      let made = PlaneView(
        baseAddress: UnsafeRawPointer(target), bytesPerRow: size.width / share * bytes,
        width: size.width / share, height: size.height / share)
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
    let luma = try enlarge(views.first, share: 1, bytes: sampleBytes)
    guard let second = views.second else { throw .invalidConfiguration("a plane is missing") }
    let chroma = try enlarge(second, share: 2, bytes: isPlanar ? sampleBytes : 2 * sampleBytes)
    var planes = PlaneViews(luma, chroma)
    if isPlanar {
      guard let third = views.third else { throw .invalidConfiguration("a plane is missing") }
      planes.third = try enlarge(third, share: 2, bytes: sampleBytes)
    }
    padded.content = .planes(planes)
    return padded
  }

  /// The same, for a picture that has to be of the size that the stream was made for.
  /// - Parameters:
  ///   - picture: The picture.
  ///   - configuration: The stream's.
  /// - Returns: The picture with its last column and row repeated.
  /// - Throws: ``CodecError`` for a picture of another size.
  public func pad(
    _ picture: InputPicture, of configuration: VideoEncoderConfiguration
  ) throws(CodecError) -> InputPicture {
    guard picture.width == configuration.width, picture.height == configuration.height else {
      throw .invalidConfiguration("a picture of another size")
    }
    return try pad(picture)
  }

  /// Memory for all planes, kept from picture to picture.
  private func reserve(_ sampleBytes: Int) throws(CodecError) -> UnsafeMutableRawPointer {
    let (samples, isTooLarge) = size.width.multipliedReportingOverflow(by: size.height)
    guard !isTooLarge, samples <= 1 << 32 else { throw .outOfMemory }
    let bytes = samples * sampleBytes * 3 / 2
    if let memory, capacity >= bytes { return memory }
    memory?.deallocate()
    let made = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
    (memory, capacity) = (made, bytes)
    return made
  }
}
