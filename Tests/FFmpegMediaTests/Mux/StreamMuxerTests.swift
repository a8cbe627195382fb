// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import FFmpegMedia

/// Copies of compressed tracks into containers that need no index, compared packet by packet with
/// what ffmpeg reads.
@Suite(.enabled(if: FFmpegTool.isAvailable)) struct StreamMuxerTests {
  private struct Copy {
    var formats: [CMFormatDescription]
    var samples: [(buffer: CMSampleBuffer, track: Int)]

    /// The tracks of a file of two seconds that ffmpeg makes.
    init(_ arguments: [String]) throws {
      let bytes = try FFmpegTool.run(
        [
          "-f", "lavfi", "-i", "testsrc2=size=160x128:rate=25:duration=2", "-f", "lavfi", "-i",
          "sine=sample_rate=48000:duration=2", "-pix_fmt", "yuv420p",
        ] + arguments)
      let path = NSTemporaryDirectory() + UUID().uuidString
      defer { try? FileManager.default.removeItem(atPath: path) }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let demuxer = try Demuxer(url: path)
      formats = try demuxer.streams.map { try $0.makeFormatDescription() }
      samples = []
      while let packet = try demuxer.next() {
        let index = packet.streamIndex
        let buffer = try packet.makeSampleBuffer(of: demuxer.streams[index], description: formats[index])
        samples.append((buffer, index))
      }
    }

    /// Writes them, and gives back the file.
    func write(as container: StreamContainer) throws -> [UInt8] {
      let path = NSTemporaryDirectory() + UUID().uuidString
      defer { try? FileManager.default.removeItem(atPath: path) }
      let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
      defer { close(descriptor) }
      let muxer = try StreamMuxer(
        descriptor: descriptor, container: container, formats: formats, timeScales: [12_800, 48_000])
      for (buffer, track) in samples { try muxer.write(buffer, to: track) }
      try muxer.finish()
      return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
  }

  /// The MD5 of each track's packets, as ffmpeg reads them from a file.
  private func digests(_ bytes: [UInt8], _ filters: [String] = []) throws -> [String] {
    try ["v", "a"].map { kind in
      String(
        decoding: try FFmpegTool.run(
          ["-i", "{in}", "-map", "0:\(kind)", "-c", "copy"] + (kind == "v" ? filters : []) + ["-f", "md5"],
          input: bytes), as: UTF8.self)
    }
  }

  @Test(
    "WebM gets VP9 with Opus and VP8 with Vorbis as they are",
    arguments: [
      ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"],
      ["-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libvorbis"],
    ])
  func webMGetsItsCodecs(_ codecs: [String]) throws {
    // One run of ffmpeg, since libvpx in real time encodes by how fast the machine is.
    let copy = try Copy(codecs + ["-f", "matroska"])
    let written = try copy.write(as: .webm)
    let original = try copy.write(as: .matroska)
    #expect(try digests(written) == digests(original))
    #expect(String(decoding: written.prefix(64), as: UTF8.self).contains("webm"))
    #expect(copy.samples.filter { $0.track == 0 }.count == 50)
  }

  @Test(
    "H.264 and AAC come out of each container as they went in",
    arguments: [
      StreamContainer.matroska, .transportStream, .flv, .fragmentedMP4,
    ])
  func h264AndAACComeOutAsTheyWentIn(_ container: StreamContainer) throws {
    let codecs = [
      "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "10", "-c:a", "aac", "-f", "mp4",
    ]
    let copy = try Copy(codecs + ["-movflags", "frag_keyframe+empty_moov"])
    let written = try copy.write(as: container)
    // The pictures are compared as decoded, since the packaging of NAL units differs.
    func pictures(_ bytes: [UInt8]) throws -> [UInt8] {
      try FFmpegTool.run(
        ["-i", "{in}", "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5"], input: bytes)
    }
    func hashes(_ bytes: [UInt8]) -> [Substring] {
      String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
        $0.split(separator: ",").last
      }
    }
    let reference = try copy.write(as: .matroska)
    #expect(try hashes(pictures(written)) == hashes(pictures(reference)))
    #expect(try hashes(pictures(written)).count == 50)
    #expect(copy.samples.filter { $0.track == 0 }.count == 50)
  }

  @Test("A codec that a container does not have is refused by name, before anything is written")
  func aCodecThatAContainerDoesNotHaveIsRefused() throws {
    let h264 = try Copy(["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-f", "matroska"])
    #expect { _ = try h264.write(as: .webm) } throws: { error in
      (error as? MediaFileError)?.kind == .unsupportedFormat
        && "\(error)" == "WebM cannot hold h264"
    }
    let flac = try Copy(["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "flac", "-f", "matroska"])
    for container in [StreamContainer.flv, .transportStream, .rtsp] {
      #expect { _ = try flac.write(as: container) } throws: {
        "\($0)" == "\(container.name) cannot hold flac"
      }
    }
  }

  @Test("A descriptor that takes nothing is an error, and not a crash")
  func aDescriptorThatTakesNothingIsAnError() throws {
    let copy = try Copy(["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-f", "matroska"])
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    #expect {
      let muxer = try StreamMuxer(
        descriptor: full, container: .transportStream, formats: copy.formats, timeScales: [12_800, 48_000])
      for (buffer, track) in copy.samples { try muxer.write(buffer, to: track) }
      try muxer.finish()
    } throws: { ($0 as? MediaFileError)?.kind == .diskFull }
  }
}
