// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Interlaced movies, made by ffmpeg: their pictures become whole, as libavfilter's bwdif makes
/// them in ffmpeg.
@Suite(.serialized) struct DeinterlaceTests {
  /// One second of 50 fields.
  private static let interlaced = "tinterlace=interleave_top,fieldorder=tff"

  private func make(_ name: String, filter: String, in folder: Folder) throws -> String {
    let path = folder.path(name)
    let run = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=50:duration=1", "-vf",
        filter + ",format=yuv420p", "-c:v", "mpeg2video", "-q:v", "2",
      ] + (filter.contains("tinterlace") ? ["-flags", "+ilme+ildct"] : ["-r", "25"]) + [path])
    try #require(run.status == 0, "\(run.complaints)")
    return path
  }

  private func encode(_ options: String..., in folder: Folder) throws -> Finished {
    let run = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", "--bitrate", "8M", "--preset", "highSpeed"] + options,
      in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    return run
  }

  /// Decibels of luma between a result and the source after a filter of ffmpeg's.
  private func psnr(_ result: String, _ source: String, through filter: String, in folder: Folder) throws
    -> Double
  {
    let run = try CommandLine.shell(
      "ffmpeg -nostdin -i \(result) -i \(source) -lavfi '[0:v]settb=1/50,setpts=N[b];[1:v]\(filter),settb=1/50,setpts=N[a];"
        + "[b][a]psnr' -f null - 2>&1 | grep -o 'PSNR y:[0-9.inf]*'", in: folder)
    return Double(run.text.split(separator: ":").last?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "")
      ?? 0
  }

  @Test(arguments: [("frame", 25, "send_frame"), ("field", 50, "send_field")])
  func picturesAreThoseOfBwdif(rate: String, count: Int, mode: String) throws {
    let folder = try Folder()
    _ = try make("in.ts", filter: Self.interlaced, in: folder)
    let run = try encode("in.ts", "--deinterlace", rate, "--out", "out.mp4", in: folder)
    #expect(run.complaints.contains("interlaced"), "\(run.complaints)")
    let probe = Probe(folder.path("out.mp4"))
    let times = try probe.frames().compactMap(\.time)
    #expect(times.count == count)
    for (index, time) in times.enumerated() {
      #expect(abs(time - times[0] - Double(index) / Double(count)) < 0.001, "picture \(index) at \(time)")
    }
    let fields = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-show_entries", "stream=field_order:frame=interlaced_frame", "-of", "csv=p=0",
        probe.path,
      ])
    #expect(!fields.text.contains("1") && !fields.text.contains("tt"), "\(fields.text.prefix(200))")
    let quality = try psnr("out.mp4", "in.ts", through: "bwdif=mode=\(mode)", in: folder)
    #expect(quality > 33, "\(quality) dB")
  }

  @Test func linesAreLeftWhenThatIsAskedFor() throws {
    let folder = try Folder()
    _ = try make("in.ts", filter: Self.interlaced, in: folder)
    _ = try encode("in.ts", "--no-deinterlace", "--out", "out.mp4", in: folder)
    let woven = try psnr("out.mp4", "in.ts", through: "null", in: folder)
    let filtered = try psnr("out.mp4", "in.ts", through: "bwdif=mode=send_frame", in: folder)
    #expect(woven > 33 && woven > filtered + 6, "\(woven) and \(filtered) dB")
  }

  /// Ten rows are not to be seen. Where the fields stay, twelve are cut off, since chroma belongs
  /// to them by fours of rows; what is left has the encoded size, and is not scaled to it.
  @Test(arguments: [true, false]) func croppedPicturesAreNotScaled(keepsFields: Bool) throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=50:duration=1", "-vf",
        Self.interlaced + ",format=yuv420p", "-c:v", "libx264", "-qp", "12", "-flags", "+ilme+ildct",
        // A box of one byte, whose place the rows at the top take.
        "-metadata:s:v:0", "stereo_mode=mono", folder.path("in.mkv"),
      ])
    try #require(run.status == 0, "\(run.complaints)")
    var movie = try Data(contentsOf: folder.url.appendingPathComponent("in.mkv"))
    let mode = try #require(movie.range(of: Data([0x53, 0xB8, 0x81, 0x00])))
    movie.replaceSubrange(mode, with: [0x54, 0xBB, 0x81, 10])
    try movie.write(to: folder.url.appendingPathComponent("cropped.mkv"))
    let (options, top) = keepsFields ? (["--no-deinterlace"], 12) : ([], 10)
    let encoded = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", "cropped.mkv", "--bitrate", "12M", "--psnr", "--out", "out.mp4"] + options,
      in: folder.url)
    #expect(encoded.status == 0, "\(encoded.complaints)")
    let video = try Probe(folder.path("out.mp4")).video()
    #expect(video.width == 320 && video.height == 240 - top)
    let filter = (keepsFields ? "" : "bwdif=mode=send_frame,") + "crop=320:\(240 - top):0:\(top):exact=1"
    let quality = try psnr("out.mp4", "in.mkv", through: filter, in: folder)
    #expect(quality > 38, "\(quality) dB")
  }

  /// Pictures of one moment among the others stay as they are, each shown once.
  @Test(arguments: [("frame", 0, "send_frame"), ("field", 25, "send_field")])
  func wholePicturesAmongFieldsStayAsTheyAre(rate: String, more: Int, mode: String) throws {
    let folder = try Folder()
    _ = try make("one.ts", filter: "framestep=2", in: folder)
    _ = try make("two.ts", filter: Self.interlaced, in: folder)
    _ = try CommandLine.shell("cat one.ts two.ts > in.ts", in: folder)
    _ = try encode("in.ts", "--deinterlace", rate, "--out", "out.mp4", in: folder)
    #expect(try Probe(folder.path("out.mp4")).frameCount() == Probe(folder.path("in.ts")).frameCount() + more)
    let quality = try psnr("out.mp4", "in.ts", through: "bwdif=mode=\(mode):deint=interlaced", in: folder)
    #expect(quality > 33, "\(quality) dB")
  }

  /// A call's pictures are whole, as a camera's are.
  @Test func callsSendWholePictures() throws {
    let folder = try Folder()
    _ = try make("in.ts", filter: Self.interlaced, in: folder)
    let run = try CommandLine.vtencode(
      "call", "in.ts", "--bandwidth", "8M", "--bitrate", "6M", "--delay", "10ms", "--received", "out.264",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let woven = try psnr("out.264", "in.ts", through: "null", in: folder)
    let filtered = try psnr("out.264", "in.ts", through: "bwdif=mode=send_frame", in: folder)
    #expect(filtered > 28 && filtered > woven + 3, "\(filtered) and \(woven) dB")
  }
}
