// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

/// The pool that a compression session offers for its pictures.
@Suite struct CompressionPoolTests {
  private func session(_ attributes: [CFString: Any]?) throws -> VTCompressionSession {
    var session: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: nil, width: 322, height: 242, codecType: kCMVideoCodecType_H264, encoderSpecification: nil,
      imageBufferAttributes: attributes as CFDictionary?, compressedDataAllocator: nil, outputCallback: nil,
      refcon: nil, compressionSessionOut: &session)
    #expect(status == noErr)
    return try #require(session)
  }

  private func buffer(_ pool: CVPixelBufferPool) throws -> CVPixelBuffer {
    var buffer: CVPixelBuffer?
    #expect(CVPixelBufferPoolCreatePixelBuffer(nil, pool, &buffer) == kCVReturnSuccess)
    return try #require(buffer)
  }

  @Test func thePoolSuitsTheEncoder() throws {
    let session = try session(nil)
    let pool = try #require(VTCompressionSessionGetPixelBufferPool(session))
    let picture = try buffer(pool)
    #expect(CVPixelBufferGetWidth(picture) == 322 && CVPixelBufferGetHeight(picture) == 242)
    #expect(CVPixelBufferGetPixelFormatType(picture) == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    // The pool's attributes equal the session's property.
    var attributes: CFTypeRef?
    #expect(
      VTSessionCopyProperty(
        session, key: kVTCompressionPropertyKey_VideoEncoderPixelBufferAttributes, allocator: nil,
        valueOut: &attributes) == noErr)
    let formats = (attributes as? [CFString: Any])?[kCVPixelBufferPixelFormatTypeKey]
    let list = formats as? [OSType] ?? (formats as? OSType).map { [$0] } ?? []
    #expect(list.contains(CVPixelBufferGetPixelFormatType(picture)))
    // The same each time, until the session is invalidated.
    #expect(VTCompressionSessionGetPixelBufferPool(session) === pool)
    VTCompressionSessionInvalidate(session)
    #expect(VTCompressionSessionGetPixelBufferPool(session) == nil)
  }

  @Test(arguments: [kCVPixelFormatType_32BGRA, kCVPixelFormatType_420YpCbCr8Planar])
  func thePoolHasTheAttributesAskedFor(_ format: OSType) throws {
    let session = try session([
      kCVPixelBufferPixelFormatTypeKey: format, kCVPixelBufferBytesPerRowAlignmentKey: 256,
    ])
    let pool = try #require(VTCompressionSessionGetPixelBufferPool(session))
    let picture = try buffer(pool)
    #expect(CVPixelBufferGetPixelFormatType(picture) == format)
    #expect(CVPixelBufferGetBytesPerRowOfPlane(picture, 0) % 256 == 0)
    #expect(CVPixelBufferGetWidth(picture) == 322)
    // And the session takes them.
    let encoded = SampleList()
    for index in 0..<2 {
      #expect(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: try buffer(pool),
          presentationTimeStamp: CMTime(value: CMTimeValue(index), timescale: 30), duration: .invalid,
          frameProperties: nil, infoFlagsOut: nil
        ) { status, _, sample in if status == noErr, let sample { encoded.append(sample) } } == noErr)
    }
    #expect(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid) == noErr)
    #expect(encoded.samples.count == 2)
  }
}

private final class SampleList: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [CMSampleBuffer] = []
  func append(_ sample: CMSampleBuffer) { lock.withLock { list.append(sample) } }
  var samples: [CMSampleBuffer] { lock.withLock { list } }
}
