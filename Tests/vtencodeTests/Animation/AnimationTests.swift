// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// `vtencode transcoding` to GIF and animated WebP.
@Suite("Animated pictures")
struct AnimationTests {
  /// The pictures of an animated WebP, read from its chunks (RIFF container specification of WebP).
  private struct WebPAnimation {
    var width = 0
    var height = 0
    /// The number of repetitions; 0 for no end.
    var loops = -1
    /// The duration of each picture in milliseconds.
    var durations: [Int] = []

    init(_ data: Data) {
      let bytes = Array(data)
      func number(_ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
      }
      guard bytes.count > 12, bytes.starts(with: Array("RIFF".utf8)), number(4, 4) + 8 == bytes.count
      else { return }
      var offset = 12
      while offset + 8 <= bytes.count {
        let size = number(offset + 4, 4)
        guard offset + 8 + size <= bytes.count else { return }
        switch String(decoding: bytes[offset..<offset + 4], as: UTF8.self) {
        case "VP8X":
          width = number(offset + 12, 3) + 1
          height = number(offset + 15, 3) + 1
        case "ANIM": loops = number(offset + 12, 2)
        case "ANMF": durations.append(number(offset + 8 + 12, 3))
        default: break
        }
        offset += 8 + size + size % 2
      }
    }
  }

  @Test("A GIF has the pictures, the size and the duration that were asked for, and repeats")
  func gif() throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        "transcoding", CommandLine.sample, "--start", "1", "--duration", "2", "--fps", "10",
        "--dimensions", "320", "180", "--out", "out.gif",
      ], in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(run.text.contains("GIF, 320x180, 20 frames, 2.00 s"), "\(run.text)")
    let video = try Probe(folder.path("out.gif")).video()
    #expect(video.codec_name == "gif" && video.nb_read_frames == "20")
    let data = try Data(contentsOf: folder.url.appendingPathComponent("out.gif"))
    #expect(data.range(of: Data("NETSCAPE2.0".utf8)) != nil)
    // The delay of each picture in hundredths of a second (graphic control extension of GIF89a).
    var delays: [Int] = []
    let control = Data([0x21, 0xF9, 0x04])
    var from = data.startIndex
    while let found = data.range(of: control, in: from..<data.endIndex), found.upperBound + 5 < data.endIndex
    {
      let at = found.upperBound
      from = at
      // The block ends with a zero, and an image follows; anything else is compressed data.
      guard data[at + 4] == 0, data[at + 5] == 0x2C else { continue }
      delays.append(Int(data[at + 1]) | Int(data[at + 2]) << 8)
    }
    #expect(delays.count == 20 && delays.reduce(0, +) == 200, "\(delays)")
    // The pictures are those of the movie.
    let compared = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-i", "out.gif", "-ss", "1", "-t", "2", "-i", CommandLine.sample, "-lavfi",
        "[1:v]fps=10,scale=320:180[movie];[0:v][movie]psnr", "-f", "null", "-",
      ], in: folder.url)
    let average = compared.complaints.components(separatedBy: "average:").last?.prefix { $0 != " " }
    let decibels = try #require(average.flatMap { Double($0) })
    #expect(decibels > 25, "\(decibels) dB")
  }

  @Test("A WebP has the pictures and durations that were asked for, and a better quality takes more bytes")
  func webP() throws {
    let folder = try Folder()
    var sizes: [Int] = []
    for quality in ["0.3", "0.9"] {
      let name = "out-\(quality).webp"
      let run = try CommandLine.run(
        CommandLine.vtencode,
        [
          "transcoding", CommandLine.sample, "--duration", "1", "--fps", "8", "--dimensions", "320", "180",
          "--quality", quality, "--out", name,
        ], in: folder.url)
      #expect(run.status == 0, "\(run.complaints)")
      let data = try Data(contentsOf: folder.url.appendingPathComponent(name))
      let animation = WebPAnimation(data)
      #expect(animation.width == 320 && animation.height == 180 && animation.loops == 0)
      #expect(animation.durations.count == 8 && animation.durations.reduce(0, +) == 1000, "\(animation)")
      sizes.append(data.count)
    }
    #expect(sizes[0] < sizes[1])
  }

  @Test("Without a size and a rate, an animation has at most 640 samples a side and 25 frames a second")
  func defaultSizeAndRate() throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", CommandLine.sample, "--frames", "4", "--out", "out.gif"],
      in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    let video = try Probe(folder.path("out.gif")).video()
    #expect(video.width == 640 && video.height == 360 && video.nb_read_frames == "4")
    #expect(run.complaints.contains("--dimensions"))
  }

  @Test("A clip that is too long for a GIF is refused with advice, before anything is written")
  func tooLong() throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", CommandLine.sample, "--dimensions", "4096", "2304", "--out", "out.gif"], in: folder.url)
    #expect(run.status == 64 && run.complaints.contains("--duration"), "\(run.complaints)")
    #expect(folder.contents.isEmpty)
  }

  @Test("An existing animation is replaced only with --overwrite")
  func existing() throws {
    let folder = try Folder()
    let arguments = ["transcoding", "test:160x120@10", "--frames", "2", "--out", "out.webp"]
    #expect(try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url).status == 0)
    let refused = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(refused.status == 1 && refused.complaints.contains("--overwrite"))
    #expect(
      try CommandLine.run(CommandLine.vtencode, arguments + ["--overwrite"], in: folder.url).status == 0)
    #expect(folder.contents == ["out.webp"])
  }
}
