// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

@testable import vtencode

/// Changes of the picture and of the audio on the way to the encoder, compared with ffmpeg's own
/// filters.
@Suite struct ChangeTests {
  /// A movie of a second with a test picture and a tone.
  private func makeMovie(_ name: String = "in.mp4", size: String = "192x128", in folder: Folder) throws {
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=\(size):rate=25:duration=1 "
        + "-f lavfi -i sine=frequency=440:sample_rate=48000:duration=1 -pix_fmt yuv420p -c:v mpeg4 -q:v 2 -c:a aac \(name)",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// The PSNR of luma between what ffmpeg's filters make of the source and what was encoded.
  private func psnr(
    _ filters: String, of source: String = "in.mp4", _ output: String = "out.mp4", in folder: Folder
  )
    throws -> Double
  {
    let run = try CommandLine.shell(
      "ffmpeg -nostdin -i \(source) -i \(output) -lavfi \"[0:v]\(filters)[a];[a][1:v]psnr=shortest=1\" -f null - 2>&1 "
        + "| grep -o 'PSNR y:[0-9.inf]*'", in: folder)
    return Double(run.text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
  }

  private func encode(_ options: [String], _ source: String = "in.mp4", in folder: Folder) throws -> Finished
  {
    try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", source, "--quality", "0.9", "--overwrite", "--out", "out.mp4"] + options, in: folder.url
    )
  }

  @Test(
    "Cropping, rotating and scaling give what ffmpeg's filters give",
    arguments: [
      (["--crop", "96x64+32+16"], "crop=96:64:32:16"),
      (["--rotate", "90"], "transpose=clock"), (["--rotate", "180"], "hflip,vflip"),
      (["--rotate", "270"], "transpose=cclock"),
      (["--rotate", "90", "--crop", "64x96+16+32"], "transpose=clock,crop=64:96:16:32"),
      (["--crop", "96x64+32+16", "--dimensions", "192x128"], "crop=96:64:32:16,scale=192:128:flags=bicubic"),
    ])
  func geometry(options: [String], filters: String) throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try encode(options + ["--psnr"], in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("out.mp4"))
    #expect(try probe.frameCount() == 25)
    try expectNoErrors(probe)
    let quality = try psnr(filters, in: folder)
    #expect(quality > 30, "\(options): \(quality)")
  }

  @Test("A part outside of the picture, and odd numbers, are refused")
  func refusedCrops() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    for (crop, word) in [("96x64+120+0", "192x128"), ("95x64+0+0", "even"), ("96x64", "even")] {
      let run = try encode(["--crop", crop], in: folder)
      #expect(run.status == 64 && run.complaints.contains(word), "\(crop): \(run.complaints)")
    }
    #expect(folder.contents == ["in.mp4"])
  }

  @Test("--denoise brings a noisy movie nearer to the clean one, in fewer bytes")
  func noise() throws {
    let folder = try Folder()
    let picture = "testsrc2=size=192x128:rate=25:duration=1"
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i \(picture) -pix_fmt yuv420p -c:v ffv1 clean.mkv "
        + "&& ffmpeg -nostdin -v error -i clean.mkv -vf noise=alls=16:allf=t:all_seed=1 "
        + "-pix_fmt yuv420p -c:v ffv1 in.mkv", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    var results: [(quality: Double, bytes: Int)] = []
    for options in [[], ["--denoise", "0.6"]] {
      let run = try encode(options, "in.mkv", in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      #expect(try Probe(folder.path("out.mp4")).frameCount() == 25)
      results.append(
        (
          try psnr("null", of: "clean.mkv", in: folder),
          try Data(contentsOf: folder.url.appendingPathComponent("out.mp4")).count
        ))
    }
    #expect(results[1].quality > results[0].quality + 1.5, "\(results)")
    #expect(Double(results[1].bytes) < 0.9 * Double(results[0].bytes), "\(results)")
  }

  @Test("--denoise refuses other strengths, and pictures that it cannot filter")
  func refusedNoise() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    for options in [["--denoise", "1.5"], ["--denoise", "strong"], ["--denoise", "-0.1"]] {
      let run = try encode(options, in: folder)
      #expect(run.status == 64 && run.complaints.contains("from 0"), "\(options): \(run.complaints)")
    }
    let deep = try encode(["--denoise", "0.5", "--pixel-format", "x420"], in: folder)
    #expect(deep.status == 64 && deep.complaints.contains("8 bits"), "\(deep.complaints)")
    #expect(folder.contents == ["in.mp4"])
  }

  @Test("--denoise goes with animated pictures, other pixel formats and repeated pictures")
  func noiseInOtherPictures() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    for (options, frames) in [(["--pixel-format", "BGRA"], 25), (["--fps", "100"], 100)] {
      let run = try encode(["--denoise", "0.5"] + options, in: folder)
      #expect(run.status == 0, "\(options): \(run.complaints)")
      #expect(try Probe(folder.path("out.mp4")).frameCount() == frames)
      #expect(try psnr("null", in: folder) > 30)
    }
    let animation = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--denoise", "0.5", "--out", "out.gif", in: folder)
    #expect(animation.status == 0, "\(animation.complaints)")
  }

  @Test(
    "A movie is converted to a frame rate, with the same duration",
    arguments: [("12.5", 13), ("50", 50), ("30", 30), ("25", 25)])
  func frameRate(rate: String, count: Int) throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try encode(["--fps", rate], in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let times = try Probe(folder.path("out.mp4")).frames().compactMap(\.time)
    #expect(times.count == count, "\(times)")
    let step = 1 / (Double(rate) ?? 1)
    for (index, time) in times.enumerated() {
      #expect(abs(time - Double(index) * step) < 0.001, "\(index): \(time)")
    }
  }

  @Test("A converter gives the picture that is displayed at each time")
  func displayedPictures() throws {
    let movie = [0.0, 0.1, 0.5, 0.9].map { CMTime(seconds: $0, preferredTimescale: 1000) }
    var buffers: [CVPixelBuffer] = []
    var frames: [Frame] = []
    for (index, time) in movie.enumerated() {
      var buffer: CVPixelBuffer?
      CVPixelBufferCreate(nil, 16, 16, kCVPixelFormatType_32BGRA, nil, &buffer)
      let made = try #require(buffer)
      buffers.append(made)
      let next = index + 1 < movie.count ? movie[index + 1] : CMTime(value: 1, timescale: 1)
      frames.append(Frame(pixelBuffer: made, time: time, duration: next - time))
    }
    var rest = frames[...]
    var converter = FrameRateConverter(rate: 5, origin: .zero)
    var shown: [Int] = []
    while let frame = try converter.next(from: { rest.popFirst() }) {
      shown.append(try #require(buffers.firstIndex { $0 === frame.pixelBuffer }))
    }
    // At 0, 0.2, 0.4, 0.6 and 0.8 s.
    #expect(shown == [0, 1, 1, 2, 2])
  }

  @Test("A gap of more than 10 minutes is not filled with repeated pictures, and its time is named")
  func longGap() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=96x64:rate=25:duration=1 "
        + "-vf \"setpts='N+if(gt(N,9),25*700,0)'\" -vsync vfr -c:v mpeg4 -q:v 2 in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try encode(["--fps", "1000"], in: folder)
    #expect(run.status == 1 && run.complaints.contains("the picture at 0.36 s"), "\(run.complaints)")
    #expect(run.complaints.contains("until 700.40 s"), "\(run.complaints)")
    #expect(folder.contents == ["in.mp4"])
    let part = try encode(["--fps", "50", "--end", "0.4"], in: folder)
    #expect(part.status == 0, "\(part.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 20)
  }

  @Test("The bit rate of a cropped movie follows from its share of the picture; the decoder needs all of it")
  func bitRateOfCrop() async throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=640x480:rate=25:duration=2 -pix_fmt yuv420p -c:v libx264 "
        + "-preset veryfast -b:v 200k -maxrate 250k -bufsize 250k in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let whole = try await MovieSource.open(folder.path("in.mp4"), streamFrameRate: nil)
    try #require((50_000..<500_000).contains(whole.dataRate), "\(whole.dataRate)")
    var cropped = whole
    try cropped.keep(try #require(CropRect(argument: "320x240+100+100")))
    func rate(_ source: MovieSource) -> Double {
      let fit = PictureFit(source: source.shape, requested: nil, scaling: .letterbox)
      return Double(BitRate.suggested(fit: fit, source: source, codec: .avc1).bitsPerSecond)
    }
    // A quarter of the area, to the power of 0.75.
    #expect(abs(rate(cropped) / rate(whole) - 0.354) < 0.01, "\(rate(cropped)) of \(rate(whole))")
    #expect((cropped.width, cropped.height) == (320, 240))
    #expect(cropped.decodedSize == (640, 480))
  }

  @Test(
    "A picture is drawn where ffmpeg draws it, whatever its name is",
    arguments: ["a.png", "a:b,c'[d];=\\ e.png"])
  func overlay(name: String) throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i color=c=red@0.5:size=48x32,format=rgba -frames:v 1 plain.png",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    try FileManager.default.copyItem(atPath: folder.path("plain.png"), toPath: folder.path(name))
    let run = try encode(["--overlay", name, "--overlay-at", "-20,10"], in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let quality = try psnr("null[m];movie=plain.png[o];[m][o]overlay=W-w-20:10", in: folder)
    #expect(quality > 30, "\(quality)")
    #expect(try psnr("null", in: folder) < quality - 3)
  }

  @Test(
    "Subtitles of a file and of a track are drawn as ffmpeg draws them", arguments: ["file", "vtt", "track"])
  func subtitles(kind: String) throws {
    let folder = try Folder()
    try makeMovie("plain.mp4", size: "320x240", in: folder)
    let text = "1\n00:00:00,000 --> 00:00:00,900\nWORDS IN WHITE\n"
    try Data(text.utf8).write(to: folder.url.appendingPathComponent("words.srt"))
    let web = "WEBVTT\n\n00:00.000 --> 00:00.900 line:90%\nWORDS IN WHITE\n"
    try Data(web.utf8).write(to: folder.url.appendingPathComponent("words.vtt"))
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -i plain.mp4 -i words.srt -c copy -c:s mov_text in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let wanted = kind == "track" ? "1" : kind == "vtt" ? "words.vtt" : "words.srt"
    let run = try encode(["--burn-subtitles", wanted], in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let quality = try psnr("subtitles=words.srt", in: folder)
    #expect(quality > 28, "\(quality)")
    #expect(try psnr("null", in: folder) < quality - 3)
    // The text is in the picture and not in a track.
    #expect(try Probe(folder.path("out.mp4")).streams().allSatisfy { $0.codec_type != "subtitle" })
  }

  @Test("Files that are neither pictures nor subtitles are refused, and nothing else is opened")
  func refusedDrawings() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    try Data("#EXTM3U\n#EXTINF:1,\nin.mp4\n".utf8).write(to: folder.url.appendingPathComponent("list.png"))
    for (options, word) in [
      (["--overlay", "list.png"], "is not an image"), (["--overlay", "none.png"], "there is no file"),
      (["--burn-subtitles", "list.png"], "no subtitles"), (["--burn-subtitles", "3"], "no subtitle track"),
    ] {
      let run = try encode(options, in: folder)
      #expect(run.status != 0 && run.complaints.contains(word), "\(options): \(run.complaints)")
    }
    #expect(folder.contents == ["in.mp4", "list.png"])
  }

  @Test("Subtitles at hostile times are left out, and those before are drawn", arguments: [true, false])
  func hostileSubtitleTimes(all: Bool) throws {
    let folder = try Folder()
    let text = "1\n00:00:00,000 --> 00:00:00,900\nONE\n\n2\n00:00:01,000 --> 00:00:01,900\nTWO\n"
    try Data(text.utf8).write(to: folder.url.appendingPathComponent("words.srt"))
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=192x128:rate=25:duration=2 -i words.srt -pix_fmt yuv420p "
        + "-c:v mpeg4 -c:s mov_text -movflags frag_keyframe+empty_moov in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    // The text track is the second one: its time scale becomes 1 tick a second, and the decode
    // times of its fragments 2^60 - 1 ticks.
    let url = folder.url.appendingPathComponent("in.mp4")
    var bytes = try Data(contentsOf: url)
    func places(_ type: String) -> [Int] {
      var (found, from) = ([Int](), bytes.startIndex)
      while let range = bytes.range(of: Data(type.utf8), in: from..<bytes.endIndex) {
        found.append(range.lowerBound)
        from = range.upperBound
      }
      return found
    }
    let headers = places("mdhd")
    try #require(headers.count == 2 && bytes[headers[1] + 4] == 0)
    bytes.replaceSubrange(headers[1] + 16..<headers[1] + 20, with: [0, 0, 0, 1])
    let texts = places("tfhd").filter { bytes[$0 + 11] == 2 }
    try #require(texts.count > 1)
    for place in all ? texts[...] : texts.dropFirst() {
      let time = try #require(places("tfdt").first { $0 > place })
      try #require(bytes[time + 4] == 1)
      bytes.replaceSubrange(time + 8..<time + 16, with: [0x0F] + [UInt8](repeating: 0xFF, count: 7))
    }
    try bytes.write(to: url)
    let run = try encode(["--burn-subtitles", "1"], in: folder)
    if all {
      #expect(run.status == 64 && run.complaints.contains("no text that is displayed"), "\(run.complaints)")
      #expect(folder.contents == ["in.mp4", "words.srt"])
    } else {
      #expect(run.status == 0, "\(run.complaints)")
      #expect(try Probe(folder.path("out.mp4")).frameCount() == 50)
    }
    #expect(
      SubtitleText.subRip([.init(start: -1e300, end: 1e300, text: "a")])
        == "1\n00:00:00,000 --> 277777:46:40,000\na\n")
  }

  @Test("Subtitles are read in UTF-8 and in UTF-16 with a mark; another encoding is refused")
  func subtitleEncodings() throws {
    let text = "1\n00:00:00,000 --> 00:00:01,000\nwörld\n"
    var units: [UInt8] = []
    for unit in text.utf16 { units += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
    #expect(SubtitleText.text(of: Data(text.utf8)) == text)
    #expect(SubtitleText.text(of: Data([0xFF, 0xFE] + units))?.hasSuffix(text) == true)
    #expect(SubtitleText.text(of: Data([0xFF, 0xFE] + units + [0])) == nil)
    let folder = try Folder()
    try makeMovie(in: folder)
    try Data(text.unicodeScalars.map { UInt8($0.value) }).write(
      to: URL(fileURLWithPath: folder.path("latin1.srt")))
    let run = try encode(["--burn-subtitles", "latin1.srt"], in: folder)
    #expect(run.status == 64 && run.complaints.contains("'latin1.srt' is neither UTF-8"), "\(run.complaints)")
  }

  @Test("A picture that would lie outside of the movie is refused")
  func overlayOutside() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0]).write(
      to: URL(fileURLWithPath: folder.path("logo.png")))
    let run = try encode(["--overlay", "logo.png", "--overlay-at", "5000,0"], in: folder)
    #expect(run.status == 64 && run.complaints.contains("lies outside of"), "\(run.complaints)")
  }

  @Test("The volume changes by the decibels that were asked for", arguments: [("-6dB", -6.0), ("2", 6.0)])
  func volume(option: String, decibels: Double) throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try encode(["--volume", option], in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    func level(_ name: String) throws -> Double {
      let found = try CommandLine.shell(
        "ffmpeg -nostdin -i \(name) -af volumedetect -f null - 2>&1 | grep -o 'mean_volume: [-0-9.]*'",
        in: folder)
      return Double(found.text.dropFirst(13).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 999
    }
    let change = try level("out.mp4") - level("in.mp4")
    #expect(abs(change - decibels) < 0.7, "\(change)")
  }

  @Test("One of several audio tracks is kept")
  func audioTrack() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=192x128:rate=25:duration=1 "
        + "-f lavfi -i sine=duration=1 -f lavfi -i sine=duration=1 -map 0 -map 1 -map 2 -metadata:s:a:0 language=eng "
        + "-metadata:s:a:1 language=fra -c:v mpeg4 -q:v 2 -c:a aac in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try encode(["--audio-track", "2"], in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let languages = try CommandLine.shell(
      "ffprobe -v error -select_streams a -show_entries stream_tags=language -of csv=p=0 out.mp4", in: folder)
    #expect(languages.text == "fra\n")
    let wrong = try encode(["--audio-track", "3"], in: folder)
    #expect(wrong.status == 64 && wrong.complaints.contains("must be from 1 to 2"), "\(wrong.complaints)")
  }
}
