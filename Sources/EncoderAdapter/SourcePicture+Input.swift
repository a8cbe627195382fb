// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import VideoEncoding

extension SourcePicture {
  /// Describes the same memory for the encoder.
  /// - Parameter picture: a picture in memory, 8 bits, 4:2:0.
  /// - Throws: `CodecError` for other formats, or if a plane is missing.
  package init(_ picture: InputPicture) throws(CodecError) {
    func bytes(_ plane: PlaneView) -> UnsafePointer<UInt8> {
      plane.baseAddress.assumingMemoryBound(to: UInt8.self)
    }
    let planes = try picture.planes()
    let chroma: Chroma
    switch picture.format {
    case .nv12VideoRange, .nv12FullRange, .nv24VideoRange, .nv24FullRange:
      guard let both = planes.second else { throw .invalidConfiguration("a plane is missing") }
      chroma = .interleaved(bytes(both), bytesPerRow: both.bytesPerRow)
    case .i420VideoRange, .i420FullRange:
      guard let cb = planes.second, let cr = planes.third else {
        throw .invalidConfiguration("a plane is missing")
      }
      chroma = .planar(
        cb: bytes(cb), cbBytesPerRow: cb.bytesPerRow, cr: bytes(cr), crBytesPerRow: cr.bytesPerRow)
    default: throw .unsupported("a pixel format that this encoder does not take")
    }
    self.init(
      width: picture.width, height: picture.height, luma: bytes(planes.first),
      lumaBytesPerRow: planes.first.bytesPerRow, chroma: chroma,
      hasFullChroma: picture.format == .nv24VideoRange || picture.format == .nv24FullRange)
  }
}

extension CodecError {
  /// Converts an error of the encoder.
  package init(engine error: any Error) {
    self =
      switch error as? VideoEncoderError {
      case .invalidConfiguration(let text), .fixedInStream(let text), .levelExceeded(let text),
        .invalidPicture(let text), .invalidOption(let text):
        .invalidConfiguration(text)
      case nil: .malfunction("\(error)")
      }
  }
}
