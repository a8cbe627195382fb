// SPDX-License-Identifier: Apache-2.0
// Re-encodes a movie's pictures at half width and height with a compression session.
//   Transcode IN OUT.mov
import AVFoundation
import VideoToolbox

@main
struct Transcode {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else { return print("usage: Transcode IN OUT.mov") }
    let asset = AVURLAsset(url: URL(fileURLWithPath: CommandLine.arguments[1]))
    guard let track = try await asset.loadTracks(withMediaType: .video).first else {
      return print("no video")
    }
    let size = try await track.load(.naturalSize)

    var created: VTCompressionSession?
    VTCompressionSessionCreate(
      allocator: nil, width: Int32(size.width / 4) * 2, height: Int32(size.height / 4) * 2,
      codecType: kCMVideoCodecType_HEVC, encoderSpecification: nil, imageBufferAttributes: nil,
      compressedDataAllocator: nil, outputCallback: nil, refcon: nil, compressionSessionOut: &created)
    guard let session = created else { return print("no HEVC encoder for this size") }
    VTSessionSetProperty(session, key: kVTCompressionPropertyKey_AverageBitRate, value: 500_000 as CFNumber)

    // The output handler receives the samples in decode order.
    let (samples, continuation) = AsyncStream.makeStream(of: CMSampleBuffer.self)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
      ])
    reader.add(output)
    reader.startReading()
    async let written = write(samples, to: URL(fileURLWithPath: CommandLine.arguments[2]))
    while let frame = output.copyNextSampleBuffer() {
      guard let image = frame.imageBuffer else { continue }
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: image, presentationTimeStamp: frame.presentationTimeStamp,
        duration: frame.duration,
        frameProperties: nil, infoFlagsOut: nil
      ) { _, _, sample in
        if let sample { continuation.yield(sample) }
      }
    }
    VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
    continuation.finish()
    print("wrote \(try await written) frames")
  }

  /// Writes the encoded samples without changing them.
  static func write(_ samples: AsyncStream<CMSampleBuffer>, to url: URL) async throws -> Int {
    try? FileManager.default.removeItem(at: url)
    let writer = try AVAssetWriter(outputURL: url, fileType: .mov)
    var input: AVAssetWriterInput?
    var count = 0
    for await sample in samples {
      if input == nil {
        let first = AVAssetWriterInput(
          mediaType: .video, outputSettings: nil, sourceFormatHint: sample.formatDescription)
        writer.add(first)
        writer.startWriting()
        writer.startSession(atSourceTime: .zero)
        input = first
      }
      while input?.isReadyForMoreMediaData == false {
        guard writer.status == .writing else { throw writer.error! }
        try await Task.sleep(for: .milliseconds(1))
      }
      if input?.append(sample) == true { count += 1 }
    }
    input?.markAsFinished()
    await writer.finishWriting()
    if let error = writer.error { throw error }
    return count
  }
}
