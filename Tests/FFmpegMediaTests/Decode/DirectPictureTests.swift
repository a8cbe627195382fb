// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreVideo
import Foundation
import Testing

@testable import FFmpegMedia

/// Whose memory a frame is in, where libavutil has copied the facts of one frame into another: it
/// does so for pictures with film grain, and for those that stand in for others.
@Suite struct DirectPictureTests {
  private struct Failure: Error {}

  private func picture() throws -> DirectPicture {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, 64, 48, kCVPixelFormatType_420YpCbCr8Planar, nil, &made)
    guard let made, let picture = DirectPicture(made, paddedHeight: 48, SpareMemory()) else {
      throw Failure()
    }
    return picture
  }

  /// A frame in the memory of a picture; its `opaque` says so as well.
  private func frame(
    _ registry: DirectPictures, _ picture: DirectPicture
  ) throws -> UnsafeMutablePointer<AVFrame> {
    guard let frame = av_frame_alloc(), let reference = registry.reference(picture, size: 64 * 48) else {
      throw Failure()
    }
    frame.pointee.buf.0 = reference
    frame.pointee.data.0 = picture.luma
    frame.pointee.opaque = Unmanaged.passUnretained(picture).toOpaque()
    return frame
  }

  @Test func theBufferSaysWhoseMemoryItIs() throws {
    let registry = DirectPictures()
    var (plain, grained) = (Optional(try picture()), Optional(try picture()))
    weak let (first, second) = (plain, grained)
    var a: UnsafeMutablePointer<AVFrame>? = try frame(registry, try #require(plain))
    var b: UnsafeMutablePointer<AVFrame>? = try frame(registry, try #require(grained))
    // Memory of libavutil's own.
    var c = av_frame_alloc()
    c?.pointee.format = AV_PIX_FMT_YUV420P.rawValue
    c?.pointee.width = 64
    c?.pointee.height = 48
    #expect(av_frame_get_buffer(c, 0) == 0)
    #expect(av_frame_copy_props(b, a) == 0 && av_frame_copy_props(c, a) == 0)
    // The tested condition: they all refer to the first picture.
    #expect(b?.pointee.opaque == a?.pointee.opaque && c?.pointee.opaque == a?.pointee.opaque)
    #expect(registry.picture(of: try #require(a?.pointee.buf.0)) === plain)
    #expect(registry.picture(of: try #require(b?.pointee.buf.0)) === grained)
    #expect(registry.picture(of: try #require(c?.pointee.buf.0)) == nil)
    // Another reference to the same memory.
    var copy = av_frame_clone(b)
    av_frame_free(&b)
    (plain, grained) = (nil, nil)
    #expect(registry.picture(of: try #require(copy?.pointee.buf.0)) === second && second != nil)
    av_frame_free(&copy)
    #expect(second == nil && first != nil)
    av_frame_free(&a)
    #expect(first == nil)
    av_frame_free(&c)
  }
}
