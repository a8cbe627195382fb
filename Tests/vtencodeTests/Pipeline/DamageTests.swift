// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Damaged movies: what can be read is saved, what was lost is said, and the status tells (2).
@Suite(.serialized) struct DamageTests {
  private func make(_ name: String, in folder: Folder, _ options: [String]) throws -> URL {
    let path = folder.path(name)
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2", "-f",
        "lavfi", "-i",
        "sine=frequency=440:sample_rate=48000:duration=2",
      ] + options + [path])
    try #require(made.status == 0, "\(made.complaints)")
    return URL(fileURLWithPath: path)
  }

  private func cut(_ url: URL, to share: Double = 0.6) throws {
    let bytes = try Data(contentsOf: url)
    try bytes.prefix(Int(Double(bytes.count) * share)).write(to: url)
  }

  /// Where a stream's packets lie in a file.
  private func packets(_ stream: String, of url: URL) throws -> [Range<Int>] {
    let options = [
      "-v", "error", "-select_streams", stream, "-show_entries", "packet=pos,size", "-of", "csv=p=0",
      url.path,
    ]
    let places = try CommandLine.run("ffprobe", options).text.split(separator: "\n").compactMap {
      (line) -> Range<Int>? in
      // The size comes first.
      let numbers = line.split(separator: ",").compactMap { Int($0) }
      return numbers.count == 2 ? numbers[1]..<numbers[1] + numbers[0] : nil
    }
    try #require(places.count > 20)
    return places
  }

  private static let h264 = [
    "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p",
  ]

  /// The pictures of a cut file, as ffmpeg counts them, are there; the result is whole.
  @Test(arguments: [
    ("fast.mp4", h264 + ["-c:a", "aac", "-movflags", "+faststart"], "break off"),
    ("fragments.mp4", h264 + ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"], ""),
    ("cut.mkv", h264 + ["-c:a", "aac"], "break off"), ("cut.flv", h264 + ["-c:a", "aac"], ""),
    ("cut.avi", ["-c:v", "mpeg4", "-c:a", "libmp3lame"], ""),
  ])
  func picturesOfACutFileAreSaved(name: String, options: [String], words: String) throws {
    let folder = try Folder()
    let url = try make(name, in: folder, options)
    try cut(url)
    let known = try Probe(url.path).frameCount()
    let run = try CommandLine.vtencode(
      "transcoding", name, "--preset", "highSpeed", "--out", "out.mp4", in: folder)
    #expect(run.status == 0 || run.status == 2, "\(run.complaints)")
    if !words.isEmpty {
      #expect(run.status == 2 && run.complaints.contains(words), "\(run.status) \(run.complaints)")
    }
    #expect(run.complaintLines.filter { $0.contains("damaged, and") }.count == (run.status == 2 ? 1 : 0))
    let probe = Probe(folder.path("out.mp4"))
    let count = try probe.frameCount()
    #expect(count >= known - 1 && count > 10, "\(count) of \(known)")
    try expectNoErrors(probe)
  }

  @Test("A gap where packets of a transport stream are missing is reported with its duration")
  func gapsAreReported() throws {
    let folder = try Folder()
    let url = try make("in.ts", in: folder, Self.h264 + ["-c:a", "aac"])
    var bytes = try Data(contentsOf: url)
    let packet = 188
    bytes.removeSubrange(bytes.count * 3 / 10 / packet * packet..<bytes.count * 7 / 10 / packet * packet)
    try bytes.write(to: url)
    let run = try CommandLine.vtencode(
      "transcoding", "in.ts", "--effort", "2", "--out", "out.mp4", in: folder)
    #expect(run.status == 2, "\(run.complaints)")
    let found = try #require(
      run.complaints.firstMatch(of: /([0-9.]+) s without pictures/), "\(run.complaints)")
    let times = try Probe(folder.path("out.mp4")).frames().compactMap(\.time)
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 - 0.04 }.filter { $0 > 0.05 }.reduce(0, +)
    #expect(abs(try #require(Double(found.1)) - gaps) < 0.02 && gaps > 0.2, "\(gaps): \(run.complaints)")
  }

  /// A call with a damaged movie is shown as far as it goes, and the status tells.
  @Test func callsTellOfDamage() throws {
    let folder = try Folder()
    let url = try make("cut.mkv", in: folder, Self.h264 + ["-c:a", "aac"])
    try cut(url)
    let run = try CommandLine.vtencode("call", "cut.mkv", "--received", "out.264", in: folder)
    #expect(run.status == 2 && run.complaints.contains("break off"), "\(run.status) \(run.complaints)")
    #expect(try Probe(folder.path("out.264")).frameCount() > 10)
  }

  /// Segments are joined with the audio, which may be damaged; of damaged pictures there are none.
  @Test func jobsTellOfDamage() throws {
    let folder = try Folder()
    let url = try make("in.mp4", in: folder, Self.h264 + ["-c:a", "aac"])
    var bytes = try Data(contentsOf: url)
    for place in try packets("a", of: url).dropFirst(20).prefix(20) {
      bytes.replaceSubrange(place, with: Data(repeating: 0xFF, count: place.count))
    }
    try bytes.write(to: url)
    let options = ["--preset", "highSpeed", "--jobs", "2"]
    let run = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", "in.mp4", "--audio", "aac", "--out", "out.mp4"] + options,
      in: folder.url)
    #expect(run.status == 2 && run.text.contains("parts   1 segment"), "\(run.status) \(run.complaints)")
    #expect(run.complaints.contains("'in.mp4' is damaged, and 'out.mp4' holds"), "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 50)
    try cut(try make("cut.mkv", in: folder, Self.h264 + ["-c:a", "aac"]))
    let refused = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", "cut.mkv", "--out", "cut.mp4"] + options, in: folder.url)
    #expect(refused.status == 1 && refused.complaints.contains("omit --jobs"), "\(refused.complaints)")
  }

  /// Amplified audio is decoded, and continues past damage.
  @Test func volumeGoesOnPastDamage() throws {
    let folder = try Folder()
    let url = try make("in.mp4", in: folder, Self.h264 + ["-c:a", "aac"])
    var bytes = try Data(contentsOf: url)
    for place in try packets("a", of: url).dropFirst(20).prefix(20) {
      bytes.replaceSubrange(place, with: Data(repeating: 0xFF, count: place.count))
    }
    try bytes.write(to: url)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--preset", "highSpeed", "--volume", "0.5", "--out", "out.mp4", in: folder)
    #expect(run.status == 2 && !run.complaints.contains("breaks off"), "\(run.status) \(run.complaints)")
    let lost = try #require(run.complaints.firstMatch(of: /(\d+) packets? of audio track 1 lost/))
    #expect((Int(lost.1) ?? 0) > 0)
    let audio = try CommandLine.shell(
      "ffprobe -v error -select_streams a -show_entries stream=duration -of csv=p=0 out.mp4", in: folder)
    let seconds = Double(audio.text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    #expect(abs(seconds - 2) < 0.1, "\(audio.text)")
    // After the damage, which ends at 0.86 s, is the tone, at half of its volume.
    func level(_ name: String) throws -> Double {
      let found = try CommandLine.shell(
        "ffmpeg -nostdin -ss 1.2 -t 0.6 -i \(name) -af volumedetect -f null - 2>&1 | grep -o 'mean_volume: [-0-9.]*'",
        in: folder)
      return Double(found.text.dropFirst(13).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 999
    }
    let change = try level("out.mp4") - level("in.mp4")
    #expect(abs(change + 6) < 0.7, "\(change)")
  }

  /// Pictures that the decoder makes up in part; copied audio is not decoded.
  @Test func exportsTellOfDamage() throws {
    let folder = try Folder()
    let url = try make("in.mp4", in: folder, Self.h264 + ["-c:a", "aac"])
    let whole = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "640x480", "--out", "whole.mp4", in: folder)
    #expect(whole.status == 0, "\(whole.complaints)")
    var bytes = try Data(contentsOf: url)
    for place in try packets("v", of: url).dropFirst(13).prefix(7) {
      for index in place.dropFirst(place.count / 3).dropLast(place.count / 3) { bytes[index] ^= 0xA5 }
    }
    try bytes.write(to: url)
    let run = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "640x480", "--out", "out.mp4", in: folder)
    #expect(run.status == 2, "\(run.status) \(run.complaints)")
    #expect(run.complaints.contains("'in.mp4' is damaged, and 'out.mp4' holds"), "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 50)
  }

  /// An export continues past pictures that cannot be decoded, and comes to the end of what is left
  /// of a file.
  @Test(arguments: [true, false]) func exportsGoOn(isCut: Bool) throws {
    let folder = try Folder()
    let url = try make("in.mkv", in: folder, Self.h264 + ["-c:a", "aac"])
    if isCut {
      try cut(url)
    } else {
      var bytes = try Data(contentsOf: url)
      // The block's header too: the demuxer looks for the next one that it understands.
      for place in try packets("v", of: url).dropFirst(16).prefix(3) {
        for index in place { bytes[index] = 0 }
      }
      try bytes.write(to: url)
    }
    let known = try Probe(url.path).frameCount()
    let run = try CommandLine.vtencode(
      "export", "in.mkv", "--preset", "640x480", "--out", "out.mp4", "--progress", "json", in: folder)
    #expect(run.status == 2, "\(run.status) \(run.complaints)")
    #expect(run.complaints.contains(isCut ? "it breaks off" : "pictures lost"), "\(run.complaints)")
    let probe = Probe(folder.path("out.mp4"))
    #expect(try abs(probe.frameCount() - known) <= 1, "\(known)")
    try expectNoErrors(probe)
  }

  /// Every fortieth packet of a transport stream is lost: pictures are damaged, and none is left
  /// out without a word.
  @Test(arguments: [["-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2"], h264 + ["-c:a", "aac"]])
  func lostPacketsAreReported(options: [String]) throws {
    let folder = try Folder()
    let url = try make("lost.ts", in: folder, options)
    let bytes = try Data(contentsOf: url)
    var kept = Data()
    for number in 0..<bytes.count / 188 where number < 20 || number % 40 != 0 {
      kept += bytes[number * 188..<(number + 1) * 188]
    }
    try kept.write(to: url)
    let run = try CommandLine.vtencode(
      "transcoding", "lost.ts", "--preset", "highSpeed", "--progress", "json", "--out", "out.mp4", in: folder)
    #expect(run.status == 2, "\(run.status) \(run.complaints)")
    let event = try #require(run.complaintLines.first { $0.contains("\"finished\"") })
    let object = try #require(try JSONSerialization.jsonObject(with: Data(event.utf8)) as? [String: Any])
    let frames = try #require(object["frames"] as? Int)
    let damaged = try #require(object["damagedPictures"] as? Int)
    let lost = try #require(object["lostPictures"] as? Int)
    #expect(damaged > 0 && damaged <= frames, "\(event)")
    let known = try Probe(url.path).frameCount()
    #expect(frames + lost >= known - 1 && frames > 20, "\(known): \(event)")
    let decoded = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-xerror", "-i", folder.path("out.mp4"), "-map", "0:v", "-f", "null", "-"])
    #expect(decoded.status == 0 && decoded.complaints.isEmpty, "\(decoded.complaints)")
  }

  /// Makes a transport stream of 50 pictures, and one of which six are missing.
  /// - Returns: The whole one.
  private func vanish(_ name: String, to other: String, _ options: [String], in folder: Folder) throws
    -> [UInt8]
  {
    let bytes = [UInt8](try Data(contentsOf: try make(name, in: folder, options + ["-an"])))
    var (kept, picture) = ([UInt8](), -1)
    for start in stride(from: 0, to: bytes.count, by: 188) {
      let packet = bytes[start..<start + 188]
      let isVideo = Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2]) == 0x100
      if isVideo, packet[start + 1] & 0x40 != 0 { picture += 1 }
      if !isVideo || ![15, 17, 21, 30, 31, 33].contains(picture) { kept += packet }
    }
    try Data(kept).write(to: folder.url.appendingPathComponent(other))
    return bytes
  }

  /// Whole pictures vanish from a transport stream, so that nothing of what is left is damaged: the
  /// counters of its packets tell, and two streams that are put together, whose counters jump too,
  /// are not called damaged.
  @Test func vanishedPicturesAreReported() throws {
    let folder = try Folder()
    let bytes = try vanish("whole.ts", to: "vanished.ts", Self.h264, in: folder)
    try Data(bytes + bytes).write(to: folder.url.appendingPathComponent("joined.ts"))
    let run = try CommandLine.vtencode("transcoding", "vanished.ts", "--out", "out.mp4", in: folder)
    #expect(run.status == 2, "\(run.complaints)")
    let kinds = run.complaints.matches(of: /(\d+) pictures? (damaged|lost)/).map {
      (String($0.2), Int($0.1) ?? 0)
    }
    let found = Dictionary(kinds, uniquingKeysWith: +)
    let frames = try Probe(folder.path("out.mp4")).frameCount()
    // A picture that a decoder conceals counts as damaged; the rest is lost.
    #expect(frames + found["lost", default: 0] == 50, "\(frames): \(run.complaints)")
    // Each field a picture: those of the source are counted.
    _ = try vanish(
      "fields.ts", to: "lines.ts", Self.h264 + ["-flags", "+ilme+ildct", "-top", "1"], in: folder)
    let fields = try CommandLine.vtencode(
      "transcoding", "lines.ts", "--deinterlace", "field", "--out", "fields.mp4", in: folder)
    #expect(fields.status == 2 && fields.complaints.contains("6 pictures lost"), "\(fields.complaints)")
    let joined = try CommandLine.vtencode("transcoding", "joined.ts", "--out", "joined.mp4", in: folder)
    #expect(joined.status == 0, "\(joined.complaints)")
    #expect(try Probe(folder.path("joined.mp4")).frameCount() == 100)
  }

  /// Neither is what is put together out of other rates, of a variable one, or of a clock that
  /// begins later.
  @Test(arguments: [
    ("25", "50", ""), ("50", "25", ""), ("5", "25", ""), ("25", "25", "-output_ts_offset 3"),
    ("vfr", "vfr", ""),
  ])
  func joinedStreamsAreNotCalledDamaged(first: String, second: String, offset: String) throws {
    let folder = try Folder()
    for (name, rate, more) in [("a.ts", first, ""), ("b.ts", second, offset)] {
      let isVariable = rate == "vfr"
      let made = try CommandLine.shell(
        "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x180:rate=\(isVariable ? "25" : rate):duration=4 "
          + (isVariable ? "-vf 'select=not(mod(n\\,7))+lt(mod(n\\,20)\\,6)' -vsync vfr " : "")
          + "-c:v libx264 -preset veryfast -g 12 -pix_fmt yuv420p \(more) \(name)", in: folder)
      try #require(made.status == 0, "\(made.complaints)")
    }
    let parts = try ["a.ts", "b.ts"].map { try Data(contentsOf: folder.url.appendingPathComponent($0)) }
    try (parts[0] + parts[1]).write(to: folder.url.appendingPathComponent("in.ts"))
    let run = try CommandLine.vtencode("transcoding", "in.ts", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
  }

  /// A whole movie is not called damaged.
  @Test func wholeMoviesAreNotCalledDamaged() throws {
    let folder = try Folder()
    for (name, options) in [
      ("a.ts", Self.h264 + ["-c:a", "aac"]), ("a.mkv", Self.h264 + ["-c:a", "libopus"]),
    ] {
      _ = try make(name, in: folder, options)
      let run = try CommandLine.vtencode(
        "transcoding", name, "--preset", "highSpeed", "--overwrite", "--out", "out.mp4", in: folder)
      #expect(run.status == 0, "\(name): \(run.complaints)")
      #expect(try Probe(folder.path("out.mp4")).frameCount() == 50)
    }
  }
}
