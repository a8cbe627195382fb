// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// The end of a writer's session, and the duration of movies whose last pictures are far apart.
@Suite struct SessionEndTests {
  /// Writes pictures at times in milliseconds.
  private func write(
    _ times: [Int64], to url: URL, end: Double? = nil, endsFirst: Bool = true, reorders: Bool = true,
    type: AVFileType = .mov
  ) async throws {
    let writer = try AVAssetWriter(outputURL: url, fileType: type)
    let input = AVAssetWriterInput(
      mediaType: .video,
      outputSettings: [
        AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 48,
        AVVideoCompressionPropertiesKey: [AVVideoAllowFrameReorderingKey: reorders],
      ])
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(assetWriterInput: input)
    writer.add(input)
    try #require(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for (number, time) in times.enumerated() {
      var buffer: CVPixelBuffer?
      CVPixelBufferCreate(nil, 64, 48, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &buffer)
      let picture = try #require(buffer)
      CVPixelBufferLockBaseAddress(picture, [])
      for plane in 0..<2 {
        let size = CVPixelBufferGetBytesPerRowOfPlane(picture, plane) * (plane == 0 ? 48 : 24)
        memset(CVPixelBufferGetBaseAddressOfPlane(picture, plane), Int32(60 + 20 * number), size)
      }
      CVPixelBufferUnlockBaseAddress(picture, [])
      // The encoder has room for these few pictures.
      try #require(
        adaptor.append(picture, withPresentationTime: CMTime(value: time, timescale: 1000)),
        "\(String(describing: writer.error))")
    }
    let end = end.map { CMTime(seconds: $0, preferredTimescale: 1000) }
    if endsFirst, let end { writer.endSession(atSourceTime: end) }
    input.markAsFinished()
    if !endsFirst, let end { writer.endSession(atSourceTime: end) }
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
  }

  private func duration(_ url: URL) async throws -> Double {
    try await AVURLAsset(url: url).load(.duration).seconds
  }

  /// The presentation times that ffprobe finds, in order.
  private func times(_ url: URL) throws -> [Double] {
    let rows = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0",
      url.path,
    ])
    return rows.split(whereSeparator: \.isNewline).compactMap { Double($0.filter { $0 != "," }) }.sorted()
  }

  @Test(
    "The last picture lasts until the end of the session, before or after the input is finished",
    arguments: [true, false], [AVFileType.mov, .mp4])
  func theLastPictureLastsUntilTheEnd(endsFirst: Bool, type: AVFileType) async throws {
    let scratch = Scratch()
    for (number, (pictures, end)) in [
      ([0], 3.0), ([0, 1000], 10), ([0, 40, 80, 120, 160], 5), ([0, 40, 80, 120, 160], 0.1),
    ].enumerated() {
      let url = scratch.url("\(number).\(type == .mov ? "mov" : "mp4")")
      try await write(pictures.map { Int64($0) }, to: url, end: end, endsFirst: endsFirst, type: type)
      let found = try await duration(url)
      #expect(abs(found - end) < 0.005, "\(pictures) \(end)")
      let header = try Double(
        Probe.properties(url.path, stream: nil, "format=duration")["duration"] ?? "")
      #expect(abs((header ?? 0) - end) < 0.005, "\(pictures) \(end)")
      #expect(try Tool.decodingErrors(url.path) == "")
      if end > 1 { #expect(try times(url) == pictures.map { Double($0) / 1000 }) }
    }
  }

  @Test("A movie lasts until its last picture's end, however far apart reordered pictures are")
  func farPicturesCount() async throws {
    let scratch = Scratch()
    let pictures: [Int64] = [0, 33, 70, 5000, 5040, 60000]
    let url = scratch.url("far.mov")
    try await write(pictures, to: url, end: 61)
    let found = try await duration(url)
    #expect(abs(found - 61) < 0.005)
    let track = try #require(try await AVURLAsset(url: url).loadTracks(withMediaType: .video).first)
    let rate = try await track.load(.nominalFrameRate)
    #expect(abs(rate - 6.0 / 61) < 0.001)
    for preset in [AVAssetExportPresetPassthrough, AVAssetExportPresetMediumQuality] {
      let session = try #require(AVAssetExportSession(asset: AVURLAsset(url: url), presetName: preset))
      let out = scratch.url(preset + ".mov")
      try await session.export(to: out, as: .mov)
      let written = try times(out)
      #expect(written.count == pictures.count, "\(preset): \(written)")
      let length = try await duration(out)
      #expect(abs(length - 61) < 0.05, "\(preset)")
    }
  }

  @Test("The duration of another program's movie is what its edit list says")
  func anotherProgramsMovie() async throws {
    let scratch = Scratch()
    let url = scratch.url("other.mp4")
    try Tool.run([
      "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=1", "-vf",
      "setpts='if(lt(N,8),N,if(eq(N,8),50,300))*0.1/TB'", "-fps_mode", "vfr", "-enc_time_base", "1:1000",
      "-c:v", "libx264", "-bf", "2", "-threads", "1", url.path,
    ])
    let stated = try Double(Probe.properties(url.path, stream: nil, "format=duration")["duration"] ?? "")
    let found = try await duration(url)
    #expect(abs(found - (stated ?? 0)) < 0.005)
    let last = try #require(try times(url).last)
    #expect(found > last)
  }
}
