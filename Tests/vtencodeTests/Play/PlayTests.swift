// SPDX-License-Identifier: Apache-2.0
#if Display
  import Foundation
  import Testing

  /// `vtencode play`, in offscreen windows and in terminals.
  @Suite(.serialized) struct PlayTests {
    static let headless = ["SDL_VIDEODRIVER=dummy", "SDL_AUDIODRIVER=dummy"]

    private func play(_ arguments: [String], environment: [String] = headless) throws -> Finished {
      try CommandLine.run("env", environment + [CommandLine.vtencode, "play"] + arguments)
    }

    /// Decibels between a snapshot and a frame of the movie, by ffmpeg.
    private func likeness(_ snapshot: String, frame: Int) throws -> Double {
      let graph =
        "[0:v]select=eq(n\\,\(frame)),setpts=0,format=rgb24[a];[1:v]format=rgb24,setpts=0[b];[a][b]psnr"
      let run = try CommandLine.run(
        "ffmpeg",
        ["-v", "info", "-i", CommandLine.sample, "-i", snapshot, "-lavfi", graph, "-f", "null", "-"])
      let line = run.complaintLines.last { $0.contains("average:") } ?? ""
      let value = line.components(separatedBy: "average:").last?.split(separator: " ").first
      return value == "inf" ? .infinity : value.flatMap { Double($0) } ?? 0
    }

    @Test("A movie whose pictures cannot be decoded fails, in a window and in a terminal")
    func picturesThatCannotBeDecodedAreReported() throws {
      let folder = try Folder()
      let made = try CommandLine.shell(
        """
        ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x240 -frames:v 1 whole.png
        head -c 60 whole.png > short.png
        ffmpeg -nostdin -v error -f lavfi -i sine=duration=0.3 sound.wav
        """, in: folder)
      try #require(made.status == 0, "\(made.complaints)")
      for screen in [["--terminal"], ["--no-bar"]] {
        let broken = try play([folder.path("short.png"), "--muted"] + screen)
        #expect(broken.status == 1 && broken.complaints.contains("no picture"), "\(broken.complaints)")
        // One that can be, and audio, which has none.
        for name in ["whole.png", "sound.wav"] {
          let run = try play([folder.path(name)] + screen)
          #expect(run.status == 0, "\(name): \(run.complaints)")
        }
      }
    }

    @Test func snapshotsAreTheMoviesFrames() throws {
      let folder = try Folder()
      for (index, frames) in [1, 12].enumerated() {
        let path = folder.url.appendingPathComponent("\(index).png").path
        let run = try play([
          CommandLine.sample, "--frames", "\(frames)", "--snapshot", path, "--no-bar", "--speed", "0.5",
        ])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(run.text.contains("shown") && run.text.contains("dummy"))
        #expect(try likeness(path, frame: frames - 1) > 30)
        #expect(try likeness(path, frame: frames + 10) < 30)
      }
    }

    @Test("Statistics on an offscreen display: pictures at their time, audio with them")
    func figuresOfAHiddenScreenAreRight() throws {
      guard try CommandLine.shell("command -v xvfb-run").status == 0 else {
        Issue.record("xvfb-run is not installed", severity: .warning)
        return
      }
      let run = try CommandLine.run(
        "xvfb-run",
        ["-a", "env", "SDL_AUDIODRIVER=dummy", CommandLine.vtencode, "play", CommandLine.sample, "--json"])
      #expect(run.status == 0, "\(run.complaints)")
      let figures = try JSONDecoder().decode([String: Double].self, from: Data(run.text.utf8))
      let (p50, p95) = try (
        #require(figures["presentationErrorP50"]), #require(figures["presentationErrorP95"])
      )
      // However busy the machine: an idle one takes a few milliseconds.
      #expect((figures["shown"] ?? 0) >= 10 && p50 <= p95 && p50 > 0 && p50 < 0.5, "\(figures)")
      #expect((figures["soundOffsetP50"] ?? 9) < 0.5, "\(figures)")
    }

    /// The window's thread draws, by an OpenGL with threads of its own, while the process ends.
    @Test func endsWellHoweverOften() throws {
      guard try CommandLine.shell("command -v xvfb-run").status == 0 else {
        Issue.record("xvfb-run is not installed", severity: .warning)
        return
      }
      let script =
        "for run in 1 2 3 4 5 6 7 8; do \"$0\" play \"$1\" --frames 2 --muted >/dev/null || exit; done"
      let run = try CommandLine.run(
        "xvfb-run", ["-a", "sh", "-c", script, CommandLine.vtencode, CommandLine.sample])
      #expect(run.status == 0, "\(run.complaints)")
    }

    @Test func terminalsShowBlocks() throws {
      for (colors, mark) in [("COLORTERM=truecolor", "\u{1B}[38;2;"), ("COLORTERM=", "\u{1B}[38;5;")] {
        let run = try play(
          [CommandLine.sample, "--terminal", "--frames", "5", "--muted"],
          environment: ["-u", "DISPLAY", "-u", "SDL_VIDEODRIVER", colors])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(run.text.contains(mark) && run.text.contains("\u{2580}"))
        #expect(run.text.contains("\u{1B}[?1049l") && run.text.contains("frames shown"))
      }
    }

    /// A movie that breaks off, and one with damage in the middle, are shown as far as they can be;
    /// the end says what was wrong.
    @Test(arguments: [("cut.mkv", "it breaks off at 1."), ("hurt.ts", "damaged")])
    func damageIsReported(name: String, words: String) throws {
      let folder = try Folder()
      let path = folder.path(name)
      let made = try CommandLine.run(
        "ffmpeg",
        [
          "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2", "-f",
          "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=2", "-c:v", "libx264", "-preset",
          "veryfast", "-g", "12", "-pix_fmt", "yuv420p", "-c:a", "aac", path,
        ])
      try #require(made.status == 0, "\(made.complaints)")
      func play(_ more: String...) throws -> (run: Finished, figures: [String: Double]) {
        let run = try self.play([path, "--json"] + more)
        return (run, try JSONDecoder().decode([String: Double].self, from: Data(run.text.utf8)))
      }
      let whole = try play("--speed", "2")
      #expect(whole.run.status == 0 && whole.run.complaints.isEmpty, "\(whole.run.complaints)")
      #expect(whole.figures["damagedPictures"] == 0 && whole.figures["lostPictures"] == 0)
      let url = URL(fileURLWithPath: path)
      var bytes = try Data(contentsOf: url)
      if name == "cut.mkv" {
        bytes = bytes.prefix(bytes.count * 7 / 10)
      } else {
        // Packets of a transport stream in its middle.
        let middle = bytes.count / 376 * 188
        bytes.removeSubrange(middle..<(middle + 3 * 188))
      }
      try bytes.write(to: url)
      let hurt = try play()
      #expect(hurt.run.status == 2 && hurt.run.complaintLines.count == 1, "\(hurt.run.complaints)")
      #expect(hurt.run.complaints.contains(words), "\(hurt.run.complaints)")
      // As busy as the machine may be.
      #expect((hurt.figures["shown"] ?? 0) + (hurt.figures["dropped"] ?? 0) > 15, "\(hurt.figures)")
      // A run that ends before the damage reports nothing.
      if name == "cut.mkv" { #expect(try play("--frames", "5").run.status == 0) }
    }

    /// Two streams in one file, whose clocks begin alike: it is twice as long as its times say.
    @Test func streamsWhoseClockJumpsArePlayedWhole() throws {
      let folder = try Folder()
      let made = try CommandLine.shell(
        "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x180:rate=25:duration=2 -c:v libx264 -preset veryfast "
          + "-g 12 -pix_fmt yuv420p one.ts && cat one.ts one.ts > both.ts", in: folder)
      try #require(made.status == 0, "\(made.complaints)")
      let run = try play([folder.path("both.ts"), "--json", "--speed", "2"])
      #expect(run.status == 0, "\(run.complaints)")
      let figures = try JSONDecoder().decode([String: Double].self, from: Data(run.text.utf8))
      #expect(figures["shown", default: 0] + figures["dropped", default: 0] == 100, "\(run.text)")
    }

    @Test func whatCannotBePlayedIsReportedInOneLine() throws {
      let bare = ["-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", "-u", "SDL_VIDEODRIVER"]
      let cases: [([String], [String], Int32, String)] = [
        ([CommandLine.sample], bare, 1, "no screen"),
        (
          [CommandLine.sample], Array(bare.dropFirst(2)) + ["DISPLAY=:977", "SDL_VIDEODRIVER=x11"], 1,
          "window"
        ),
        (["/dev/null"], Self.headless, 1, "device"),
        ([CommandLine.root.appendingPathComponent("README.md").path], Self.headless, 1, "cannot play"),
        ([CommandLine.sample, "--frames", "0"], Self.headless, 64, "--frames"),
        // One more is looked for, to know where the last one ends.
        ([CommandLine.sample, "--frames", "9223372036854775807"], Self.headless, 64, "--frames"),
        ([CommandLine.sample, "--snapshot", "x.jpg"], Self.headless, 64, "PNG"),
      ]
      for (arguments, environment, status, word) in cases {
        let run = try play(arguments, environment: environment)
        #expect(run.status == status && run.complaintLines.count == 1, "\(arguments): \(run.complaints)")
        #expect(run.complaints.contains(word), "\(run.complaints)")
      }
    }
  }
#endif
