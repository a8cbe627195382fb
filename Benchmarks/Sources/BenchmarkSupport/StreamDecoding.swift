// SPDX-License-Identifier: Apache-2.0
import CClipMedia

/// An H.264 decoder that is independent of this package: libavcodec with its error checks enabled.
public final class StreamDecoding {
  /// A decoded picture. Its memory is valid until the next call.
  public struct Picture {
    /// The index of the source frame that the picture shows.
    public var index: Int
    public var planes: [UnsafePointer<UInt8>]
    public var bytesPerRow: [Int]
  }

  private let decoder: OpaquePointer

  public init() throws {
    guard let decoder = stream_decoder_create() else {
      throw BenchmarkError(description: "libavcodec has no H.264 decoder")
    }
    self.decoder = decoder
  }

  deinit { stream_decoder_destroy(decoder) }

  /// Sends the decoder an access unit that shows source frame `index`.
  public func send(_ unit: UnsafeBufferPointer<UInt8>, index: Int) throws {
    guard let base = unit.baseAddress else { return }
    guard stream_decoder_send(decoder, base, unit.count, index) >= 0 else {
      throw BenchmarkError(description: "frame \(index) does not decode")
    }
  }

  /// Signals the end of the stream.
  public func finish() { _ = stream_decoder_send(decoder, nil, 0, 0) }

  /// The next picture, or nil if none is available now.
  public func receive() throws -> Picture? {
    var index = 0
    var planes = [UnsafePointer<UInt8>?](repeating: nil, count: 3)
    var strides = [Int32](repeating: 0, count: 3)
    let result = stream_decoder_receive(decoder, &index, &planes, &strides)
    guard result >= 0 else { throw BenchmarkError(description: "the stream does not decode") }
    guard result == 1 else { return nil }
    let known = planes.compactMap { $0 }
    guard known.count == 3 else { throw BenchmarkError(description: "the stream is not planar 4:2:0") }
    return Picture(index: index, planes: known, bytesPerRow: strides.map(Int.init))
  }
}

extension StreamDecoding.Picture {
  /// All samples, as planar 4:2:0 without padding.
  public func samples(width: Int, height: Int) -> [UInt8] {
    var samples: [UInt8] = []
    samples.reserveCapacity(width * height * 3 / 2)
    for (plane, base) in planes.enumerated() {
      let shift = plane > 0 ? 1 : 0
      for row in 0..<(height >> shift) {
        samples += UnsafeBufferPointer(start: base + row * bytesPerRow[plane], count: width >> shift)
      }
    }
    return samples
  }

  /// The structural similarity (SSIM) between the luma of this picture and a picture of a clip: the
  /// mean over windows of 8x8 samples.
  public func similarity(to clip: ClipPictures, _ number: Int) -> Double {
    let (width, height) = (Int32(clip.width), Int32(clip.height))
    return plane_similarity(
      clip.picture(number), width, planes[0], Int32(bytesPerRow[0]), width, height)
  }
}
