// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import Synchronization
import Testing
import TestSupport

/// `vtencode send` and `vtencode receive` over loopback. Machines under load are slow: what matters
/// is what comes, not when.
@Suite(.serialized) struct WireTests {
  private func freePort() throws -> Int { try freeDatagramPort() }

  private func figures(_ text: String) throws -> [String: Double] {
    try JSONDecoder().decode([String: Double].self, from: Data(text.utf8))
  }

  private struct Session {
    var sent: Finished
    var received: Finished
    var receiverStatus: Int32
  }

  /// Runs both ends; `meanwhile` is part of the script, between the two.
  private func run(
    send: String, receive: String, in folder: Folder, meanwhile: String = ":", port: Int? = nil
  ) throws -> Session {
    let port = try port ?? freePort()
    let sent = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' receive --listen \(port) \(receive) > received.txt 2> complaints.txt &
      receiver=$!
      await $receiver grep -q Listening complaints.txt
      \(meanwhile)
      '\(CommandLine.vtencode)' send \(send) --to 127.0.0.1:\(port)
      status=$?
      # An end without a call waits forever.
      if [ $status != 0 ]; then kill -INT $receiver; fi
      wait $receiver
      echo $? > status.txt
      exit $status
      """, in: folder)
    func text(_ name: String) -> String {
      (try? String(contentsOfFile: folder.path(name), encoding: .utf8)) ?? ""
    }
    let status = Int32(text("status.txt").trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    return Session(
      sent: sent,
      received: Finished(
        status: status, output: Data(text("received.txt").utf8), complaints: text("complaints.txt")),
      receiverStatus: status)
  }

  @Test(
    "A test picture goes to a movie, which holds the frames that were shown")
  func aTestPictureGoesToAMovie() throws {
    let folder = try Folder()
    let session = try run(
      send: "test:272x128@10 --frames 20 --speed 0 --bitrate 600k --json", receive: "--out call.mp4 --json",
      in: folder)
    #expect(session.sent.status == 0, "\(session.sent.complaints)")
    #expect(session.receiverStatus == 0, "\(session.received.complaints)")
    let (sent, received) = try (figures(session.sent.text), figures(session.received.text))
    let shown = try #require(received["shown"])
    #expect(shown > 0 && shown == sent["frames"] && received["decodeErrors"] == 0)
    #expect((sent["keyFrames"] ?? 0) >= 1 && received["refused"] == 0)
    if let delay = received["delayP50"] { #expect(delay > -1 && delay < 60) }
    let probe = Probe(folder.path("call.mp4"))
    // Decoded and counted. (ffmpeg's null output takes times that lie as close as a busy machine
    // makes them for faults.)
    #expect(try probe.frameCount() == Int(shown))
    try expectClocks(in: folder, probe)
  }

  /// The pictures of call.mp4 show the times at which they were taken, and lie in the movie as far
  /// apart as those.
  private func expectClocks(in folder: Folder, _ probe: Probe) throws {
    let decoded = try CommandLine.shell(
      "ffmpeg -v error -i call.mp4 -fps_mode passthrough -pix_fmt gray -f rawvideo -", in: folder)
    let samples = [UInt8](decoded.output)
    let (width, height) = (272, 128)
    let times = try probe.frames().compactMap(\.time)
    try #require(samples.count == times.count * width * height && times.count > 5, "\(decoded.complaints)")
    let clocks = try times.indices.map { picture in
      var value: UInt32 = 0
      for bit in 0..<32 {
        // The middle of a field.
        let at = (picture * height + height - 7) * width + width / 34 * (bit + 1) + width / 68
        try #require(samples[at] < 70 || samples[at] > 180, "picture \(picture), bit \(bit): \(samples[at])")
        value = value << 1 | (samples[at] > 128 ? 1 : 0)
      }
      return value
    }
    let now = UInt32(truncatingIfNeeded: UInt64(Date().timeIntervalSince1970 * 1000))
    for (clock, time) in zip(clocks, times) {
      #expect(now &- clock < 600_000)
      let elapsed = Double(Int32(bitPattern: clock &- clocks[0])) / 1000
      #expect(abs(elapsed - (time - times[0])) < 0.25, "\(elapsed) at \(time)")
    }
    #expect(zip(clocks, clocks.dropFirst()).allSatisfy { Int32(bitPattern: $1 &- $0) > 0 }, "\(clocks)")
  }

  @Test("A movie is sent at its pace; an elementary stream is written too")
  func aMovieIsSentAtItsPace() throws {
    let folder = try Folder()
    let session = try run(
      send: "'\(CommandLine.sample)' --dimensions 160 96 --frames 20 --speed 0 --json",
      receive: "--out call.264 --json", in: folder)
    #expect(session.sent.status == 0 && session.receiverStatus == 0, "\(session)")
    let shown = try #require(try figures(session.received.text)["shown"])
    #expect(shown > 0)
    #expect(try Probe(folder.path("call.264")).frameCount() == Int(shown))
  }

  /// A limit of the file size simulates a full disk.
  @Test("A disk that is full leaves what came before", arguments: ["call.mp4", "call.mov"])
  func aDiskThatIsFullLeavesWhatCameBefore(name: String) throws {
    let folder = try Folder()
    let port = try freePort()
    let finished = try CommandLine.shell(
      """
      (ulimit -f 100; exec '\(CommandLine.vtencode)' receive --listen \(port) --out \(name) 2> complaints.txt) &
      receiver=$!
      await $receiver grep -q Listening complaints.txt
      '\(CommandLine.vtencode)' send test:320x240@30 --to 127.0.0.1:\(port) --frames 600 > sent.txt 2>&1
      kill -INT $receiver 2> /dev/null
      wait $receiver
      """, in: folder)
    let said = try String(contentsOfFile: folder.path("complaints.txt"), encoding: .utf8)
    #expect(finished.status == 1, "\(said)")
    #expect(said.contains("cannot write '\(name)'"), "\(said)")
    let part = name.replacing("call", with: "call-part")
    #expect(said.contains("what came before is in '\(part)'"), "\(said)")
    // Decoded and counted, as above.
    #expect(try Probe(folder.path(part)).frameCount() > 5)
  }

  #if Display
    @Test("What comes is shown in a window", arguments: ["SDL_VIDEODRIVER=dummy", "xvfb-run -a"])
    func whatComesIsShownInAWindow(screen: String) throws {
      if screen.hasPrefix("xvfb-run"), try CommandLine.shell("command -v xvfb-run").status != 0 {
        Issue.record("xvfb-run is not installed", severity: .warning)
        return
      }
      let folder = try Folder()
      let port = try freePort()
      let finished = try CommandLine.shell(
        """
        env \(screen) '\(CommandLine.vtencode)' receive --listen \(port) --play --snapshot shot.png --out call.264 \
          --json > received.txt 2> complaints.txt &
        receiver=$!
        await $receiver grep -q Listening complaints.txt
        '\(CommandLine.vtencode)' send test:320x180@10 --frames 20 --speed 0 --to 127.0.0.1:\(port) > sent.txt \
          || kill -INT $receiver
        wait $receiver
        """, in: folder)
      #expect(finished.status == 0, "\(finished.complaints)")
      let received = try figures(String(contentsOfFile: folder.path("received.txt"), encoding: .utf8))
      let shown = try #require(received["shown"])
      let (seen, dropped) = (received["screenShown"] ?? -1, received["screenDropped"] ?? -1)
      #expect(seen > 0 && dropped >= 0 && seen + dropped <= shown, "\(received)")
      try #require(shown > 4)
      // At the end the window shows the last frame, according to ffmpeg.
      func likeness(_ frame: Int) throws -> Double {
        let run = try CommandLine.shell(
          """
          ffmpeg -v info -i call.264 -i shot.png -lavfi \
            '[0]select=eq(n\\,\(frame)),setpts=0,format=gray[a];[1]setpts=0,format=gray[b];[a][b]psnr' -f null -
          """, in: folder)
        let value = run.complaints.components(separatedBy: "PSNR y:").last?.split(separator: " ").first
        return value == "inf" ? .infinity : value.flatMap { Double($0) } ?? 0
      }
      #expect(try likeness(Int(shown) - 1) > 35)
      #expect(try likeness(Int(shown) - 4) < 35)
    }
  #endif

  @Test("In a terminal it is blocks of colour, and the terminal is given back")
  func aTerminalShowsBlocksAndIsGivenBack() throws {
    let folder = try Folder()
    let port = try freePort()
    let finished = try CommandLine.shell(
      """
      COLORTERM=truecolor '\(CommandLine.vtencode)' receive --listen \(port) --terminal > received.txt 2> complaints.txt &
      receiver=$!
      '\(CommandLine.vtencode)' send test:160x120@10 --frames 10 --speed 0 --to 127.0.0.1:\(port) > sent.txt \
        || kill -INT $receiver
      wait $receiver
      """, in: folder)
    #expect(finished.status == 0, "\(finished.complaints)")
    let text = try String(contentsOfFile: folder.path("received.txt"), encoding: .utf8)
    let end = try #require(text.range(of: "\u{1B}[?1049l"))
    #expect(text[..<end.lowerBound].contains("\u{1B}[38;2;") && text.contains("\u{2580}"))
    #expect(!text[end.upperBound...].contains("\u{1B}") && text[end.upperBound...].contains("on the screen"))
  }

  @Test("After so many frames the receiver leaves, and the sender ends with it")
  func afterSoManyFramesTheReceiverLeaves() throws {
    let folder = try Folder()
    let session = try run(
      send: "test:160x120@10 --frames 600 --speed 0", receive: "--frames 5 --out call.mov --json", in: folder)
    #expect(session.sent.status == 0 && session.sent.text.contains("the receiver has left"))
    #expect(session.receiverStatus == 0)
    #expect(try Probe(folder.path("call.mov")).frameCount() == 5)
  }

  @Test("Ctrl-C at the receiver leaves a whole movie")
  func ctrlCAtTheReceiverLeavesAWholeMovie() throws {
    let folder = try Folder()
    let session = try run(
      send: "test:160x120@10 --frames 600 --speed 0", receive: "--out call.mp4 --json", in: folder,
      meanwhile:
        "(await $receiver has_kilobytes './.vtencode-*' 8; kill -INT $receiver) &"
    )
    #expect(session.receiverStatus == 0, "\(session.received.complaints)")
    #expect(session.sent.status == 0)
    let shown = try #require(try figures(session.received.text)["shown"])
    #expect(try Probe(folder.path("call.mp4")).frameCount() == Int(shown))
    #expect(folder.contents.filter { $0.hasPrefix(".vtencode") }.isEmpty)
  }

  /// The sender is stopped, so that the goodbye is not answered.
  private func interrupt(_ script: String, _ name: String, in folder: Folder) throws -> Finished {
    let port = try freePort()
    return try CommandLine.shell(
      """
      env --default-signal=HUP '\(CommandLine.vtencode)' receive --listen \(port) --out \(name) \
        > received.txt 2> complaints.txt &
      receiver=$!
      await $receiver grep -q Listening complaints.txt
      '\(CommandLine.vtencode)' send test:160x120@10 --frames 600 --speed 0 --to 127.0.0.1:\(port) > /dev/null 2>&1 &
      sender=$!
      await $receiver has_kilobytes './.vtencode-*' 8
      kill -STOP $sender
      await $receiver has_stopped $sender
      \(script)
      wait $receiver
      status=$?
      kill -KILL $sender
      exit $status
      """, in: folder)
  }

  @Test(
    "A second Ctrl-C in the good-bye shortens it, and the movie is whole",
    arguments: ["call.mp4", "call.264"])
  func aSecondCtrlCShortensTheGoodBye(name: String) throws {
    let folder = try Folder()
    let run = try interrupt(
      "kill -INT $receiver; await $receiver has_taken_signals $receiver; kill -INT $receiver", name,
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path(name)).frameCount() > 5)
    #expect(folder.contents.filter { $0.hasPrefix(".vtencode") || $0.contains("part") }.isEmpty)
  }

  @Test("A third signal ends the receiver at once, and what it has recorded stays")
  func aThirdSignalEndsTheReceiverAtOnce() throws {
    let folder = try Folder()
    // Something has the name, and is only replaced by what is whole.
    let old = Data("an older call".utf8)
    try old.write(to: folder.url.appendingPathComponent("call.mp4"))
    // Stopped, so that it gets all three at once.
    let run = try interrupt(
      "kill -STOP $receiver; kill -INT $receiver; kill -TERM $receiver; kill -HUP $receiver; kill -CONT $receiver",
      "call.mp4 --overwrite", in: folder)
    #expect([0, 129, 130, 143].contains(run.status), "\(run.status)")
    let left = folder.contents.filter { $0.contains("call") || $0.hasPrefix(".vtencode") }
    // It may have been quicker, and the movie whole.
    let isWhole = try Data(contentsOf: folder.url.appendingPathComponent("call.mp4")) != old
    #expect(
      left.sorted() == (isWhole ? ["call.mp4"] : ["call-part.mp4", "call.mp4"]), "\(run.status) \(left)")
    #expect(try Probe(folder.path(isWhole ? "call.mp4" : "call-part.mp4")).frameCount() > 5)
  }

  @Test("A receiver of all addresses answers from the one that was called")
  func aReceiverAnswersFromTheAddressThatWasCalled() throws {
    let folder = try Folder()
    let port = try freePort()
    let finished = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' receive --listen 0.0.0.0:\(port) --insecure --json > received.txt 2> complaints.txt &
      receiver=$!
      await $receiver grep -q Listening complaints.txt
      '\(CommandLine.vtencode)' send test:160x120@10 --frames 5 --speed 0 --to 127.0.0.9:\(port)
      status=$?; if [ $status != 0 ]; then kill -INT $receiver; fi
      wait $receiver; exit $status
      """, in: folder)
    #expect(finished.status == 0, "\(finished.complaints)")
    let text = try String(contentsOfFile: folder.path("received.txt"), encoding: .utf8)
    #expect(try figures(text)["shown"] == 5)
  }

  @Test("ffmpeg plays what send sends, by the description that it writes")
  func ffmpegPlaysWhatSendSends() throws {
    let folder = try Folder()
    let port = try freePort()
    let finished = try playWithFFmpeg(
      "test:272x128@15 --speed 0 --bitrate 500k", to: port, description: "call.sdp", in: folder)
    let lines = finished.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(finished.status == 0 && finished.complaints == "" && lines.count == 20, "\(finished)")
    // Each picture has another time in it, and the rate has room for all of them.
    #expect(Set(lines.map { $0.split(separator: ",").last }).count == 20)
    let description = try String(contentsOfFile: folder.path("call.sdp"), encoding: .utf8)
    #expect(description.contains("m=video \(port) RTP/AVP 96\r\n"))
    #expect(description.contains("sprop-parameter-sets="))
  }

  @Test("Noise from elsewhere changes nothing")
  func noiseFromElsewhereChangesNothing() throws {
    let folder = try Folder()
    let port = try freePort()
    let isFinished = Mutex(false)
    let gone = DispatchSemaphore(value: 0)
    let thread = Thread {
      defer { gone.signal() }
      var generator = SeededGenerator(seed: 5)
      guard let sender = try? DatagramSender() else { return }
      while !isFinished.withLock({ $0 }) {
        for _ in 0..<5 {
          var bytes = (0..<Int(generator.next() % 1200)).map { _ in
            UInt8(truncatingIfNeeded: generator.next())
          }
          if bytes.count > 16, generator.next() % 2 == 0 {
            bytes.replaceSubrange(0..<2, with: [0x80, generator.next() % 2 == 0 ? 96 : 200])
          }
          try? sender.send(bytes, toLoopbackPort: UInt16(port))
        }
        letOthersRun(turns: 5000)
      }
    }
    thread.start()
    defer {
      isFinished.withLock { $0 = true }
      waitForSignal(gone)
    }
    let session = try run(
      send: "test:160x120@10 --frames 20 --speed 0 --json", receive: "--json", in: folder, port: port)
    #expect(session.sent.status == 0 && session.receiverStatus == 0, "\(session)")
    let (sent, received) = try (figures(session.sent.text), figures(session.received.text))
    #expect(received["shown"] == sent["frames"] && received["decodeErrors"] == 0)
  }

  @Test(
    "With the same key at both ends the call works as without; with another there is no answer, and nothing is shown"
  )
  func oneKeyAtBothEndsLetsMediaThrough() throws {
    let folder = try Folder()
    let key = (0..<32).map { String(format: "%02x", $0 * 5) }.joined()
    try Data((key + "\n").utf8).write(to: folder.url.appendingPathComponent("call.key"))
    try #require(chmod(folder.path("call.key"), 0o600) == 0)
    let session = try run(
      send: "test:160x120@10 --frames 15 --speed 0 --json --key \(key)",
      receive: "--json --key-file call.key",
      in: folder)
    #expect(session.sent.status == 0 && session.receiverStatus == 0, "\(session)")
    let (sent, received) = try (figures(session.sent.text), figures(session.received.text))
    #expect(received["shown"] == sent["frames"] && (received["shown"] ?? 0) > 0 && received["refused"] == 0)
    let other = try run(
      send: "test:160x120@10 --frames 15 --wait 2s --secret 'another secret'",
      receive: "--json --secret 'correct horse'", in: folder)
    #expect(other.sent.status == 1 && other.sent.complaints.contains("same key"))
    #expect(other.receiverStatus == 130)
    let figures = try figures(other.received.text)
    #expect(figures["shown"] == 0 && (figures["refused"] ?? 0) > 0)
  }

  /// The system rejects broadcast addresses without the socket option.
  @Test("Where nothing can be sent is said, and no success", arguments: [true, false])
  func whereNothingCanBeSentIsSaid(isPlayer: Bool) throws {
    let folder = try Folder()
    let finished = try CommandLine.run(
      CommandLine.vtencode,
      ["send", "test:64x64", "--to", "255.255.255.255:5004", "--insecure", "--frames", "30"]
        + (isPlayer ? ["--sdp", folder.path("a.sdp")] : ["--wait", "5s"]))
    #expect(finished.status == 1, "\(finished)")
    #expect(finished.complaintLines.last?.contains("cannot send to") == true, "\(finished.complaints)")
  }

  @Test("Impossible options are reported in one line")
  func mistakesAreReportedInOneLine() throws {
    let port = try freePort()
    func expectFailure(_ arguments: [String], _ words: String, status: Int32 = 1) throws {
      let finished = try CommandLine.run(CommandLine.vtencode, arguments)
      #expect(finished.status == status, "\(arguments): \(finished)")
      #expect(finished.complaintLines.last?.contains(words) == true, "\(arguments): \(finished.complaints)")
    }
    try expectFailure(["send", "test:", "--to", "127.0.0.1:\(port)", "--wait", "300ms"], "nobody answers")
    try expectFailure(["send", "test:", "--to", "198.51.100.1:5004"], "without a key", status: 64)
    try expectFailure(["receive", "--listen", "0.0.0.0:\(port)"], "without a key", status: 64)
    try expectFailure(
      ["send", "test:", "--to", "198.51.100.1:5004", "--sdp", "/tmp/a.sdp"], "without a key", status: 64)
    try expectFailure(
      ["send", "test:", "--to", "127.0.0.1:5004", "--sdp", "a.sdp", "--secret", "12345678"], "players",
      status: 64)
    for option in [["--wait", "2s"], ["--fec"], ["--no-fec"], ["--no-retransmission"], ["--retransmission"]] {
      try expectFailure(
        ["send", "test:", "--to", "127.0.0.1:5004", "--sdp", "a.sdp"] + option, "players", status: 64)
    }
    try expectFailure(
      ["send", "test:", "--to", "127.0.0.1:5004", "--loop"], "--loop requires a movie", status: 64)
    try expectFailure(
      ["send", "test:", "--to", "127.0.0.1:\(port)", "--sdp", "/nowhere/a.sdp"], "does not exist")
    try expectFailure(["send", "test:", "--to", "nobody.invalid:5004"], "no host")
    try expectFailure(["send", "test:", "--to", "5004"], "host and a port", status: 64)
    try expectFailure(
      ["send", "test:1x1", "--to", "127.0.0.1:5004"], "width and height must be from", status: 64)
    try expectFailure(["receive", "--listen", "70000"], "listen", status: 64)
    for (options, word) in [
      (["--play", "--terminal"], "exclude each other"), (["--full-screen"], "requires --play"),
      (["--snapshot", "a.png"], "requires --play"), (["--play", "--snapshot", "a.jpg"], "PNG"),
      (["--terminal", "--json"], "omit --json"),
    ] {
      try expectFailure(["receive", "--listen", "\(port)"] + options, word, status: 64)
    }
    let bare = try CommandLine.shell(
      "env -u DISPLAY -u WAYLAND_DISPLAY -u SDL_VIDEODRIVER '\(CommandLine.vtencode)' receive --listen \(port) --play"
    )
    #expect(bare.status == 1 && bare.complaintLines.last?.contains("--terminal") == true)
    try expectFailure(["receive", "--listen", "\(port)", "--out", "/nowhere/a.mp4"], "does not exist")
    let long = String(repeating: "a", count: 300)
    for path in ["\(long).mp4", "/proc/a.mp4"] {
      // Before anybody calls.
      try expectFailure(["receive", "--listen", "\(port)", "--out", path], "cannot write")
    }
    try expectFailure(
      ["send", "test:", "--to", "127.0.0.1:\(port)", "--sdp", "\(long).sdp"], "file name too long")
    try expectFailure(["call", CommandLine.sample, "--report", "-"], "give a file name", status: 64)
    for command in [["send", "test:", "--to"], ["receive", "--listen"]] {
      try expectFailure(command + ["[fe80::1]:5004", "--insecure"], "fe80::1%eth0", status: 64)
    }
    try expectFailure(["receive", "--listen", "5004", "--key", "abc"], "hexadecimal", status: 64)
    try expectFailure(["receive", "--listen", "5004", "--secret", "abc"], "letters", status: 64)
    try expectFailure(["receive", "--listen", "5004", "--key-file", "/nowhere"], "cannot read the key")
    let folder = try Folder()
    let finished = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' receive --listen \(port) 2> first.txt & receiver=$!
      await $receiver grep -q Listening first.txt
      '\(CommandLine.vtencode)' receive --listen \(port); status=$?
      kill -INT $receiver; wait $receiver; exit $status
      """, in: folder)
    #expect(finished.status == 1 && finished.complaints.contains("port \(port) is in use"))
  }
}
