// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia
import CoreVideo
import VideoToolbox

// The newer Swift types: `ModernSwift MOVIE FOLDER` copies a movie, draws one, and reads it back,
// with async functions only and without a pixel buffer that two own.

struct Failure: Error { let text: String }

func require(_ condition: @autoclosure () throws -> Bool, _ text: String) throws {
  guard try condition() else { throw Failure(text: text) }
}

/// Copies the stored pictures of a movie.
func copyPictures(of source: URL, to destination: URL) async throws -> Int {
  let asset = AVURLAsset(url: source)
  guard let track = try await asset.loadTracks(withMediaType: .video).first else {
    throw Failure(text: "no video")
  }
  let reader = try AVAssetReader(asset: asset)
  let provider = reader.outputProvider(for: AVAssetReaderTrackOutput(track: track, outputSettings: nil))
  let writer = try AVAssetWriter(url: destination, fileType: .mov)
  let format = try await track.load(.formatDescriptions).first
  let receiver = writer.inputReceiver(
    for: AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: format))
  try reader.start()
  try writer.start()
  writer.startSession(atSourceTime: .zero)
  var count = 0
  while let sample = try await provider.next() {
    if case .dataBuffer(let data) = sample.content { try require(!data.isEmpty, "a sample without bytes") }
    try await receiver.append(sample)
    count += 1
  }
  receiver.finish()
  await writer.finishWriting()
  try require(writer.status == .completed, "not copied: \(String(describing: writer.error))")
  return count
}

/// Draws a movie of stripes that wander.
func draw(_ destination: URL, frames: Int) async throws {
  let writer = try AVAssetWriter(url: destination, fileType: .mp4)
  let input = AVAssetWriterInput(
    mediaType: .video,
    outputSettings: [AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 192, AVVideoHeightKey: 96])
  let attributes = CVPixelBufferCreationAttributes(
    pixelFormatType: CVPixelFormatType(rawValue: kCVPixelFormatType_32BGRA),
    size: CVImageSize(width: 192, height: 96), compatibility: [.cgBitmapContext])
  let receiver = writer.inputPixelBufferReceiver(for: input, pixelBufferAttributes: attributes)
  try writer.start()
  writer.startSession(atSourceTime: .zero)
  guard let pool = receiver.pixelBufferPool else { throw Failure(text: "no pool") }
  for frame in 0..<frames {
    var buffer = try pool.makeMutablePixelBuffer()
    buffer.accessUnsafeMutableRawPlaneBytes { planes in
      guard let plane = planes.first, let base = plane.bytes.baseAddress else { return }
      for row in 0..<plane.properties.size.height {
        let line = base.advanced(by: row * plane.properties.bytesPerRow)
        for column in 0..<plane.properties.size.width {
          let bright: UInt8 = (column + frame * 4) / 16 % 2 == 0 ? 220 : 30
          line.storeBytes(
            of: UInt32(bright) << 16 | UInt32(bright) << 8 | UInt32(bright) | 0xFF00_0000,
            toByteOffset: column * 4, as: UInt32.self)
        }
      }
    }
    let time = CMTime(value: CMTimeValue(frame), timescale: 30)
    try await receiver.append(CVReadOnlyPixelBuffer(buffer), with: time)
  }
  receiver.finish()
  await writer.finishWriting()
  try require(writer.status == .completed, "not drawn: \(String(describing: writer.error))")
}

/// Decodes a movie, and hands each picture to another task.
func look(_ source: URL) async throws -> [UInt8] {
  let asset = AVURLAsset(url: source)
  guard let track = try await asset.loadTracks(withMediaType: .video).first else {
    throw Failure(text: "no video")
  }
  let reader = try AVAssetReader(asset: asset)
  let (provider, control) = reader.outputProviderWithRandomAccess(
    for: AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarFullRange
      ]))
  try reader.start()
  func pictures() async throws -> [UInt8] {
    var corners: [UInt8] = []
    while let sample = try await provider.next() {
      guard case .pixelBuffer(let picture) = sample.content else { throw Failure(text: "no picture") }
      let corner = await Task.detached { () -> UInt8 in
        picture.accessUnsafeRawPlaneBytes { planes in
          planes[0].bytes[8 * planes[0].properties.bytesPerRow + 8]
        }
      }.value
      corners.append(corner)
    }
    return corners
  }
  let first = try await pictures()
  control.resetForReading(timeRanges: [CMTimeRange(start: .zero, duration: CMTime(value: 5, timescale: 30))])
  let again = try await pictures()
  try require(again == Array(first.prefix(5)), "another look shows something else")
  control.markConfigurationAsFinal()
  return first
}

/// A pair of pictures for two eyes, as one sample.
func stereo() throws {
  let attributes = CVPixelBufferCreationAttributes(
    pixelFormatType: .init(rawValue: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange),
    size: .init(CGSize(width: 64, height: 64)))
  let eyes: [CMStereoViewComponents] = [.leftEye, .rightEye]
  var tagged: [CMTaggedBuffer] = []
  for (layerID, eye) in eyes.enumerated() {
    let buffer = try CVMutablePixelBuffer(attributes)
    let tags: [CMTag] = [.videoLayerID(Int64(layerID)), .stereoView(eye), .mediaType(.video)]
    tagged.append(CMTaggedBuffer(tags: tags, buffer: .pixelBuffer(buffer.withUnsafeBuffer { $0 })))
  }
  let sample = try CMSampleBuffer(
    taggedBuffers: tagged, presentationTimeStamp: .zero, duration: CMTime(value: 1, timescale: 30),
    formatDescription: CMTaggedBufferGroupFormatDescription(taggedBuffers: tagged))
  guard let found = sample.taggedBuffers else { throw Failure(text: "no tagged buffers") }
  let right = found.first { $0.tags.first(matchingCategory: .stereoView) == .stereoView(.rightEye) }
  try require(right?.tags.firstValue(matchingCategory: .videoLayerID) == 1, "the right eye's layer")
  try require(!VTIsStereoMVHEVCEncodeSupported(), "somebody encodes two eyes")
  let dynamic = found.map { CMTaggedDynamicBuffer(unsafeBuffer: $0) }
  let ready = CMReadySampleBuffer(
    taggedBuffers: dynamic, formatDescription: CMTaggedBufferGroupFormatDescription(taggedBuffers: dynamic),
    presentationTimeStamp: CMTime(value: 1, timescale: 30))
  try require(ready.content.count == 2, "two eyes")
}

@main struct ModernSwift {
  static func main() async throws {
    let source = URL(fileURLWithPath: CommandLine.arguments[1])
    let folder = URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true)
    let copy = folder.appendingPathComponent("copied.mov")
    let drawn = folder.appendingPathComponent("stripes.mp4")
    for url in [copy, drawn] { try? FileManager.default.removeItem(at: url) }
    let copied = try await copyPictures(of: source, to: copy)
    try await draw(drawn, frames: 40)
    let corners = try await look(drawn)
    try require(corners.count == 40, "\(corners.count) pictures")
    // The stripes wander: every eight frames light and dark change.
    for (frame, corner) in corners.enumerated() {
      let isBright = (8 + frame * 4) / 16 % 2 == 0
      try require(isBright ? corner > 128 : corner < 128, "frame \(frame) is \(corner)")
    }
    try stereo()
    print("modern: \(copied) copied, \(corners.count) drawn")
  }
}
