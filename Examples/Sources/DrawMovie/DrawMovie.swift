// SPDX-License-Identifier: Apache-2.0
// Draws frames and encodes them to an H.264 movie.
//   DrawMovie OUT.mp4
import AVFoundation
import VideoToolbox

@main
struct DrawMovie {
  static let width = 640
  static let height = 360

  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { return print("usage: DrawMovie OUT.mp4") }
    let url = URL(fileURLWithPath: CommandLine.arguments[1])
    try? FileManager.default.removeItem(at: url)

    // A writer input with video settings encodes the appended pictures with a compression session
    // of its own.
    let writer = try AVAssetWriter(outputURL: url, fileType: .mp4)
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [
        AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: width, AVVideoHeightKey: height,
        AVVideoCompressionPropertiesKey: [AVVideoAverageBitRateKey: 600_000],
      ])
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input,
      sourcePixelBufferAttributes: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA,
        kCVPixelBufferWidthKey as String: width, kCVPixelBufferHeightKey as String: height,
      ])
    writer.add(input)
    guard writer.startWriting() else { throw writer.error! }
    writer.startSession(atSourceTime: .zero)
    for frame in 0..<90 {
      while !input.isReadyForMoreMediaData {
        // A writer that has failed is never ready again.
        guard writer.status == .writing else { throw writer.error! }
        try await Task.sleep(for: .milliseconds(1))
      }
      var pixelBuffer: CVPixelBuffer?
      CVPixelBufferPoolCreatePixelBuffer(nil, adaptor.pixelBufferPool!, &pixelBuffer)
      draw(frame, into: pixelBuffer!)
      adaptor.append(pixelBuffer!, withPresentationTime: CMTime(value: CMTimeValue(frame), timescale: 30))
    }
    input.markAsFinished()
    await writer.finishWriting()
    print(writer.error.map { "failed: \($0)" } ?? "wrote \(url.path)")
  }

  /// Draws a bouncing ball over a moving gradient.
  static func draw(_ frame: Int, into buffer: CVPixelBuffer) {
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    let stride = CVPixelBufferGetBytesPerRow(buffer)
    let base = CVPixelBufferGetBaseAddress(buffer)!
    let ballX = 320 + Int(240 * sin(Double(frame) * 0.07))
    let ballY = 300 - Int(240 * abs(sin(Double(frame) * 0.1)))
    for y in 0..<height {
      let row = (base + y * stride).assumingMemoryBound(to: UInt8.self)
      for x in 0..<width {
        let dx = x - ballX
        let dy = y - ballY
        let isBall = dx * dx + dy * dy < 40 * 40
        row[4 * x] = isBall ? 60 : UInt8((x + frame * 2) & 255)
        row[4 * x + 1] = isBall ? 180 : UInt8(y * 255 / height)
        row[4 * x + 2] = isBall ? 250 : 90
        row[4 * x + 3] = 255
      }
    }
  }
}
