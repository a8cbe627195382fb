// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreVideo
import Foundation
import Testing

@testable import FFmpegMedia

@Suite struct FilterGraphTests {
  /// A negated picture is 255 minus the picture, also through memory whose rows are longer than
  /// they look.
  @Test func picturesAreFilteredThroughAnyMemory() throws {
    var buffer: CVPixelBuffer?
    #expect(
      CVPixelBufferCreate(nil, 34, 18, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &buffer) == 0)
    let picture = try #require(buffer)
    CVPixelBufferLockBaseAddress(picture, [])
    defer { CVPixelBufferUnlockBaseAddress(picture, []) }
    let (view, _) = try PixelConverter.view(picture)
    for plane in 0..<2 {
      for row in 0..<view.layout.rows(18, inPlane: plane) {
        for x in 0..<34 {
          view.planes[plane]?[row * Int(view.strides[plane]) + x] = UInt8(
            truncatingIfNeeded: row * 7 + x * 3 + plane)
        }
      }
    }
    let input = try FilterFrame(view, time: 5)
    let graph = try FilterGraph(
      "format=yuv420p,lutyuv=y=255-val:u=255-val:v=255-val,format=nv12", for: input.pointer,
      timeBase: AVRational(num: 1, den: 30))
    let output = try FilterFrame()
    #expect(try !graph.pull(into: output.pointer))
    try graph.push(input.pointer)
    #expect(try graph.pull(into: output.pointer))
    #expect(output.pointer.pointee.pts == 5 && graph.timeBase.den == 30)
    let made = PictureView(output.pointer)
    #expect(made.width == 34 && made.height == 18 && made.format == AV_PIX_FMT_NV12)
    for plane in 0..<2 {
      for row in 0..<view.layout.rows(18, inPlane: plane) {
        for x in 0..<34 {
          #expect(
            made.planes[plane]?[row * Int(made.strides[plane]) + x]
              == 255 - UInt8(truncatingIfNeeded: row * 7 + x * 3 + plane))
        }
      }
    }
    av_frame_unref(output.pointer)
    try graph.finish()
    #expect(try !graph.pull(into: output.pointer))
    #expect(throws: MediaFileError.self) { try graph.push(input.pointer) }
  }

  /// A filter that holds frames back gives them at the end.
  @Test func heldFramesComeAtTheEnd() throws {
    let model = try FilterFrame(nil, frames: 64, channels: 2, sampleRate: 8000, time: 0)
    let graph = try FilterGraph(
      "asetnsamples=n=1000:p=0", for: model.pointer, timeBase: AVRational(num: 1, den: 8000))
    let output = try FilterFrame()
    var counts: [Int32] = []
    for index in 0..<20 {
      model.pointer.pointee.pts = Int64(index) * 64
      try graph.push(model.pointer)
      while try graph.pull(into: output.pointer) {
        counts.append(output.pointer.pointee.nb_samples)
        av_frame_unref(output.pointer)
      }
    }
    #expect(counts == [1000])
    try graph.finish()
    while try graph.pull(into: output.pointer) {
      counts.append(output.pointer.pointee.nb_samples)
      av_frame_unref(output.pointer)
    }
    #expect(counts == [1000, 280])
  }

  @Test(arguments: ["nosuchfilter", "atempo=0", "atempo=1,", "scale=10:10", "", "[a][b]amerge", "split"])
  func unusableChainsAreRefused(_ description: String) throws {
    let model = try FilterFrame(nil, frames: 0, channels: 1, sampleRate: 8000, time: 0)
    let error = #expect(throws: MediaFileError.self) {
      try FilterGraph(description, for: model.pointer, timeBase: AVRational(num: 1, den: 8000))
    }
    #expect(error?.kind == .unsupportedFormat, "\(description): \(String(describing: error))")
  }

  /// The length is the input's by the tempo but for what the filter swallows at the end, however
  /// the input is cut.
  @Test(arguments: [1.0 / 64, 0.2, 0.5, 0.9, 1.7, 2, 7.3, 64])
  func theTempoDecidesOnTheLength(_ tempo: Double) throws {
    let samples = (0..<88_200).map { Float(sin(Double($0 / 2) / 44_100 * 2 * .pi * 300)) }
    func convert(_ piece: Int) throws -> [Float] {
      let filter = try TempoFilter(tempo: tempo, channels: 2, sampleRate: 44_100)
      var out: [Float] = []
      for start in stride(from: 0, to: samples.count, by: piece * 2) {
        out += try filter.convert(Array(samples[start..<min(samples.count, start + piece * 2)]))
      }
      return try out + filter.finish()
    }
    let whole = try convert(44_100)
    let missing = 44_100 / tempo - Double(whole.count / 2)
    #expect(missing > -2205 && missing < 2205 * max(1, 1 / tempo), "\(whole.count / 2)")
    #expect(abs(try convert(777).count - whole.count) < 2205 * 2)
    #expect(throws: MediaFileError.self) { try TempoFilter(tempo: 65, channels: 1, sampleRate: 8000) }
  }
}
