// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import VideoToolbox

/// Encodes a movie's video into an MP4, with its audio.
/// - Parameters:
///   - size: The size of the pictures; nil for the movie's own.
///   - settings: More keys of `AVAssetWriterInput`'s output settings.
///   - properties: Properties of the compression session.
///   - hasTenBits: Whether pictures are decoded with ten bits a sample in place of eight.
///   - reading: How pictures are decoded, as properties of the decompression session.
///   - audio: How audio is encoded; nil to copy it.
func encode(
  _ movie: AVURLAsset, to result: URL, codec: AVVideoCodecType = .h264, size: CGSize? = nil,
  settings: [String: Any] = [:], properties: [CFString: Any] = [:],
  hasTenBits: Bool = false, reading: [CFString: Any] = [:], audio: [String: Any]? = nil,
  keepsAudio: Bool = true
) async throws {
  guard let track = try await movie.loadTracks(withMediaType: .video).first else {
    throw AVError(.noSourceTrack)
  }
  let natural = try await track.load(.naturalSize)
  let reader = try AVAssetReader(asset: movie)
  let writer = try AVAssetWriter(outputURL: result, fileType: .mp4)
  writer.shouldOptimizeForNetworkUse = true

  var decoded: [String: Any] = [
    kCVPixelBufferPixelFormatTypeKey as String: hasTenBits
      ? kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
      : kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
  ]
  if !reading.isEmpty { decoded[AVVideoDecompressionPropertiesKey] = reading }
  var encoded: [String: Any] = [
    AVVideoCodecKey: codec, AVVideoWidthKey: size?.width ?? natural.width,
    AVVideoHeightKey: size?.height ?? natural.height,
  ].merging(settings) { $1 }
  if !properties.isEmpty { encoded[AVVideoCompressionPropertiesKey] = properties }
  let input = AVAssetWriterInput(mediaType: .video, outputSettings: encoded)
  input.transform = try await track.load(.preferredTransform)
  var pairs = [(AVAssetReaderTrackOutput(track: track, outputSettings: decoded), input)]
  if keepsAudio, let track = try await movie.loadTracks(withMediaType: .audio).first {
    let samples: [String: Any]? = audio == nil ? nil : [AVFormatIDKey: kAudioFormatLinearPCM]
    let hint = try await track.load(.formatDescriptions).first
    pairs.append(
      (
        AVAssetReaderTrackOutput(track: track, outputSettings: samples),
        AVAssetWriterInput(mediaType: .audio, outputSettings: audio, sourceFormatHint: hint)
      ))
  }
  for (output, input) in pairs {
    reader.add(output)
    writer.add(input)
  }
  guard reader.startReading(), writer.startWriting() else { throw reader.error ?? writer.error! }
  writer.startSession(atSourceTime: .zero)
  while !pairs.isEmpty, writer.status == .writing {
    guard let next = pairs.firstIndex(where: { $0.1.isReadyForMoreMediaData }) else {
      try await Task.sleep(for: .milliseconds(1))
      continue
    }
    if let sample = pairs[next].0.copyNextSampleBuffer() {
      pairs[next].1.append(sample)
    } else {
      pairs.remove(at: next).1.markAsFinished()
    }
  }
  await writer.finishWriting()
  if let error = reader.error ?? writer.error { throw error }
}
