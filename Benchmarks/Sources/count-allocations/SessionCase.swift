// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import CAllocationCounter
import Foundation
import SessionSupport
import VideoToolbox

/// A compression session whose allocations per frame are counted, from the call that submits a
/// picture until its output is released.
enum SessionCase: String, CaseIterable {
  /// The low-latency mode with two temporal layers and long-term references.
  case conferencing
  /// The low-latency mode with no property set except the bit rate.
  case plain = "plain low-latency"

  private var properties: [CFString: Any] {
    var properties: [CFString: Any] = [
      kVTCompressionPropertyKey_RealTime: true,
      kVTCompressionPropertyKey_ExpectedFrameRate: MadeUpClip.frameRate,
      kVTCompressionPropertyKey_AverageBitRate: 600_000,
    ]
    if self == .conferencing {
      properties[kVTCompressionPropertyKey_BaseLayerFrameRateFraction] = 0.5
      properties[kVTCompressionPropertyKey_EnableLTR] = true
    }
    return properties
  }

  /// The mean number over the frames after the first second.
  func allocationsPerFrame(_ clip: ClipPictures) throws -> Double {
    var created: VTCompressionSession?
    VTCompressionSessionCreate(
      allocator: nil, width: Int32(clip.width), height: Int32(clip.height),
      codecType: kCMVideoCodecType_H264,
      encoderSpecification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true] as CFDictionary,
      imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
      compressionSessionOut: &created)
    guard let session = created,
      VTSessionSetProperties(session, propertyDictionary: properties as CFDictionary) == noErr,
      VTCompressionSessionPrepareToEncodeFrames(session) == noErr
    else { throw BenchmarkError(description: "there is no session for \(rawValue)") }
    defer { VTCompressionSessionInvalidate(session) }
    let buffers = try (0..<clip.count).map { try PixelBuffers.nv12(clip, $0) }
    let arrived = DispatchSemaphore(value: 0)
    var allocated = 0
    for (n, buffer) in buffers.enumerated() {
      let time = CMTime(value: Int64(n), timescale: Int32(MadeUpClip.frameRate))
      let before = allocation_count()
      let status = VTCompressionSessionEncodeFrame(
        session, imageBuffer: buffer, presentationTimeStamp: time, duration: .invalid, frameProperties: nil,
        infoFlagsOut: nil
      ) { _, _, _ in arrived.signal() }
      guard status == noErr, arrived.wait(timeout: .now() + 10) == .success else {
        throw BenchmarkError(description: "frame \(n) of the \(rawValue) session does not come out")
      }
      if n >= MadeUpClip.frameRate { allocated += Int(allocation_count() - before) }
    }
    return Double(allocated) / Double(clip.count - MadeUpClip.frameRate)
  }
}
