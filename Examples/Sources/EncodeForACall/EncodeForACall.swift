// SPDX-License-Identifier: Apache-2.0
// Encodes for a call: one frame in, one frame out, at a rate that changes, past a loss.
//   EncodeForACall MOVIE
import AVFoundation
import VideoToolbox

struct CallError: Error { let status: OSStatus }

/// The sending end of a call: a session in the low-latency mode.
final class CallEncoder {
  private let session: VTCompressionSession
  private let send: @Sendable (CMSampleBuffer) -> Void

  /// - Parameter send: Receives each sample, on the session's thread. A frame that the rate
  ///   control drops has none.
  init(
    width: Int32, height: Int32, bitRate: Int, send: @escaping @Sendable (CMSampleBuffer) -> Void
  ) throws {
    let specification = [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
    var created: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: nil, width: width, height: height, codecType: kCMVideoCodecType_H264,
      encoderSpecification: specification as CFDictionary, imageBufferAttributes: nil,
      compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
      compressionSessionOut: &created)
    guard status == noErr, let created else { throw CallError(status: status) }
    session = created
    self.send = send
    try set([
      kVTCompressionPropertyKey_RealTime: true,
      kVTCompressionPropertyKey_ExpectedFrameRate: 30,
      kVTCompressionPropertyKey_AverageBitRate: bitRate,
      // Every second frame is in the base layer, and no frame refers to the others.
      kVTCompressionPropertyKey_BaseLayerFrameRateFraction: 0.5,
      kVTCompressionPropertyKey_EnableLTR: true,
    ])
  }

  deinit { VTCompressionSessionInvalidate(session) }

  private func set(_ values: [CFString: Any]) throws {
    let status = VTSessionSetProperties(session, propertyDictionary: values as CFDictionary)
    guard status == noErr else { throw CallError(status: status) }
  }

  /// The network carries another rate: it holds from the next frame on, without a key frame.
  func change(bitRate: Int) throws { try set([kVTCompressionPropertyKey_AverageBitRate: bitRate]) }

  /// Encodes a picture.
  /// - Parameters:
  ///   - acknowledged: Tokens of frames that the receiver says it has decoded.
  ///   - afterLoss: Whether the receiver has lost a frame. The picture is then predicted from an
  ///     acknowledged frame alone, and no later one refers to what came in between.
  func encode(
    _ picture: CVPixelBuffer, at time: CMTime, acknowledged: [Int], afterLoss: Bool
  ) throws {
    let options: [CFString: Any] = [
      kVTEncodeFrameOptionKey_AcknowledgedLTRTokens: acknowledged,
      kVTEncodeFrameOptionKey_ForceLTRRefresh: afterLoss,
    ]
    let status = VTCompressionSessionEncodeFrame(
      session, imageBuffer: picture, presentationTimeStamp: time, duration: .invalid,
      frameProperties: options as CFDictionary, infoFlagsOut: nil
    ) { [send] status, _, sample in
      if status == noErr, let sample { send(sample) }
    }
    guard status == noErr else { throw CallError(status: status) }
  }
}

@main
struct EncodeForACall {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { return print("usage: EncodeForACall MOVIE") }
    let asset = AVURLAsset(url: URL(fileURLWithPath: CommandLine.arguments[1]))
    guard let track = try await asset.loadTracks(withMediaType: .video).first else {
      return print("no video")
    }
    let size = try await track.load(.naturalSize)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
      ])
    reader.add(output)
    guard reader.startReading() else { throw reader.error! }

    let (samples, network) = AsyncStream.makeStream(of: CMSampleBuffer.self)
    var arriving = samples.makeAsyncIterator()
    let encoder = try CallEncoder(
      width: Int32(size.width), height: Int32(size.height), bitRate: 800_000
    ) { network.yield($0) }
    var tokens: [Int] = []
    var bytes = 0
    for number in 0..<60 {
      guard let frame = output.copyNextSampleBuffer(), let picture = frame.imageBuffer else { break }
      if number == 30 { try encoder.change(bitRate: 400_000) }
      // The receiver lost frame 40, and its answer arrives three frames later.
      try encoder.encode(
        picture, at: frame.presentationTimeStamp, acknowledged: tokens, afterLoss: number == 43)
      tokens = []
      guard let sample = await arriving.next() else { break }
      bytes += sample.dataBuffer?.dataLength ?? 0
      // Send the token with the frame; the receiver sends it back when it has decoded the frame.
      let attachments =
        CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[CFString: Any]]
      let token = attachments?.first?[kVTSampleAttachmentKey_RequireLTRAcknowledgementToken] as? Int
      if number != 40, let token { tokens.append(token) }
    }
    reader.cancelReading()
    print("60 frames, \(bytes) bytes")
  }
}
