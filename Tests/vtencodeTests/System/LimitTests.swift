// SPDX-License-Identifier: Apache-2.0
import CSandbox
import CoreFoundation
import Foundation
import Synchronization
import Testing

@testable import vtencode

/// Runs with too few files, too little memory or too few threads: each ends by itself, gives the
/// reason in one sentence, and leaves no files behind.
@Suite(.serialized) struct LimitTests {
  private static let size = "--dimensions 160 90"

  /// The commands, over a movie in.m4v or the segments of plan.json, to OUT.
  private static let commands = [
    "transcoding in.m4v --frames 10 \(size) --out OUT.mp4",
    "transcoding in.m4v --jobs 3 \(size) --out OUT.mp4",
    "transcoding in.m4v --multi-pass --frames 10 \(size) --out OUT.mp4",
    "streaming in.m4v --unpaced --frames 10 \(size) --out OUT.mp4",
    "conferencing in.m4v --unpaced --frames 10 \(size) --out OUT.mp4",
    "export in.m4v --preset 640x480 --duration 1 --out OUT.mp4",
    "export in.m4v --preset 640x480 --duration 1 --multi-pass --out OUT.mp4",
    "split in.m4v --bitrate 60k \(size) --segments 2 --plan OUT.json",
    "encode-segment --plan plan.json --segment 0 --overwrite",
    "join --plan plan.json --out OUT.mp4",
    "call in.m4v --frames 10 \(size) --report OUT.html",
    "play in.m4v --terminal --muted --frames 5",
    "thumbnails in.m4v --sheet 2x2 --out OUT.png",
  ]

  private func makeInput(in folder: Folder) throws {
    let made = try CommandLine.shell(
      """
      ffmpeg -nostdin -v error -i '\(CommandLine.sample)' -t 2 -c copy in.m4v
      '\(CommandLine.vtencode)' split in.m4v --bitrate 60k \(Self.size) --segments 2 --plan plan.json > text
      for n in 0 1; do '\(CommandLine.vtencode)' encode-segment --plan plan.json --segment $n >> text; done
      rm text
      """, in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// - Parameter loads: the limit lets the system load the program.
  /// - Returns: Whether it succeeded.
  private func check(_ command: String, under limit: String, in folder: Folder, loads: Bool = true) throws
    -> Bool
  {
    let before = Set(folder.contents)
    let parts = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path("plan.parts")))
    let run = try CommandLine.shell(
      "exec > /dev/null; \(limit); exec timeout -s KILL 100 '\(CommandLine.vtencode)' "
        + "\(command.replacingOccurrences(of: "OUT", with: "out"))", in: folder)
    // Status 127: the system could not load the program and its libraries.
    let isStarted = run.status != 127
    #expect(isStarted || !loads, "\(limit), \(command): \(run.complaints)")
    #expect(
      !isStarted || [0, 1].contains(run.status), "\(limit), \(command): \(run.status) \(run.complaints)")
    let lines = run.complaintLines.filter { $0.hasPrefix("vtencode: ") }
    if run.status == 1 {
      #expect(run.complaintLines.count == 1 && lines.count == 1, "\(limit), \(command): \(run.complaints)")
      #expect(lines.first?.contains("limit") == true, "\(limit), \(command): \(run.complaints)")
    }
    let made = Set(folder.contents).subtracting(before)
    // A file is complete or does not exist.
    #expect(
      made.allSatisfy { run.status == 0 && $0.hasPrefix("out.") }, "\(limit), \(command): \(made)")
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: folder.path("plan.parts"))) == parts,
      "\(limit), \(command)")
    for name in made { try FileManager.default.removeItem(atPath: folder.path(name)) }
    return run.status == 0
  }

  /// The user's limit is low and cannot be raised.
  @Test("Few open files") func fewOpenFilesAreReported() throws {
    let folder = try Folder()
    try makeInput(in: folder)
    for command in Self.commands {
      for count in [5, 9, 16, 24, 33] {
        _ = try check(command, under: "ulimit -n \(count)", in: folder)
      }
      #expect(try check(command, under: "ulimit -n 256", in: folder), "\(command)")
    }
  }

  @Test("Tracks that are not read need no files, and those that are do")
  func tracksThatAreNotReadNeedNoFiles() throws {
    let folder = try Folder()
    let audio = Array(repeating: ["-map", "1:a"], count: 60).flatMap { $0 }
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error"]
        + ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=1"]
        + ["-f", "lavfi", "-i", "sine=sample_rate=8000:duration=1", "-map", "0:v"] + audio
        + ["-c:v", "mpeg4", "-c:a", "aac", folder.path("in.mov")])
    try #require(made.status == 0, "\(made.complaints)")
    func run(_ command: String) throws -> Finished {
      try CommandLine.shell(
        "ulimit -n 80; exec timeout -s KILL 100 '\(CommandLine.vtencode)' \(command)", in: folder)
    }
    for command in [
      "transcoding in.mov --no-audio --out a.mp4", "transcoding in.mov --out b.264",
      "export in.mov --preset Passthrough --out c.mov", "transcoding in.mov --out d.mp4",
      "call in.mov --frames 5 --report e.html",
    ] {
      let finished = try run(command)
      let name = try #require(command.split(separator: " ").last).description
      // Two have all 61 tracks.
      if ["c.mov", "d.mp4"].contains(name) {
        #expect(finished.status == 1 && finished.complaintLines.count == 1, "\(command): \(finished)")
        #expect(finished.complaints.contains("the limit of open files, 80,"), "\(finished.complaints)")
        #expect(!folder.contents.contains(name))
      } else {
        #expect(finished.status == 0, "\(command): \(finished.complaints)")
        #expect(folder.contents.contains(name))
      }
    }
  }

  @Test(
    "Each joined movie needs a file descriptor, and with as many as the message asks for the join succeeds")
  func joinedMoviesNeedFiles() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=96x64:rate=25:duration=0.2 -f lavfi "
        + "-i sine=sample_rate=8000:duration=0.2 -c:v mpeg4 -c:a aac in.mov", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let movies = Array(repeating: "in.mov", count: 31).joined(separator: " ")
    func run(_ files: Int) throws -> Finished {
      try CommandLine.shell(
        "ulimit -n \(files); exec timeout -s KILL 100 '\(CommandLine.vtencode)' transcoding \(movies) --join "
          + "--quality 0.5 --out out.mp4", in: folder)
    }
    let refused = try run(80)
    #expect(refused.status == 1 && refused.complaintLines.count == 1, "\(refused.complaints)")
    #expect(folder.contents == ["in.mov"])
    let advice = try #require(refused.complaints.firstMatch(of: /ulimit -n (\d+)/))
    let enough = try run(try #require(Int(advice.1)))
    #expect(enough.status == 0, "\(enough.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 31 * 5)
  }

  @Test("Checking for enough descriptors does not use any") func askingTakesNone() async {
    await #expect(processExitsWith: .success) {
      // The process inherits the descriptors of its parent, which runs other tests.
      let highest = (0..<Int32(4096)).last { fcntl($0, F_GETFD) >= 0 } ?? 2
      let maximum = rlim_t(highest) + 41
      var tight = rlimit(rlim_cur: maximum, rlim_max: maximum)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &tight) == 0)
      let free = (0..<Int32(maximum)).count { fcntl($0, F_GETFD) < 0 }
      try #require(free > 20)
      // Another thread opens files all the time, and always succeeds.
      let failures = Mutex(0)
      let stops = Mutex(false)
      let ended = WakeUp()
      Thread {
        while !stops.withLock({ $0 }) {
          let descriptor = open("/", O_RDONLY)
          if descriptor < 0 { failures.withLock { $0 += 1 } } else { close(descriptor) }
        }
        ended.signal()
      }.start()
      // All free descriptors: the result depends on how many the other thread has open.
      for _ in 0..<5000 { try? ResourceLimits.checkFiles(free) }
      stops.withLock { $0 = true }
      try #require(ended.wait(seconds: 60))
      try #require(failures.withLock { $0 } == 0)
      // System libraries open a few descriptors at times.
      try ResourceLimits.checkFiles(free - 10)
      try #require(throws: Failure.self) { try ResourceLimits.checkFiles(free + 10) }
    }
  }

  @Test("A crash is attributed to a resource limit only if an allocation was refused")
  func aCrashIsReportedAsALimitsOnlyIfSomethingWasRefused() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      LimitTests.takeDescriptors()
      errno = 0
      raise(SIGSEGV)
    }
    let reported = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
      LimitTests.takeDescriptors()
      errno = EMFILE
      raise(SIGSEGV)
    }
    let words = String(decoding: reported?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("no more files"))
  }

  /// Removes the free descriptors, and installs the handler that explains fatal signals.
  fileprivate static func takeDescriptors() {
    ovt_end_well_without("no more memory\n", "no more files\n")
    var none = rlimit(rlim_cur: 3, rlim_max: 3)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
  }

  @Test("The soft limit of open files is raised up to the hard limit")
  func aSoftLimitOfOpenFilesIsRaised() throws {
    let folder = try Folder()
    try makeInput(in: folder)
    #expect(try check(Self.commands[0], under: "ulimit -Sn 10", in: folder))
  }

  @Test("Little address space") func littleAddressSpaceIsReported() throws {
    let folder = try Folder()
    try makeInput(in: folder)
    for command in Self.commands {
      for kilobytes in [150_000, 300_000, 400_000, 500_000, 700_000, 1_000_000] {
        _ = try check(command, under: "ulimit -v \(kilobytes)", in: folder, loads: false)
      }
      #expect(try check(command, under: "ulimit -v 4000000", in: folder), "\(command)")
    }
  }

  @Test("Little memory for data") func littleMemoryForDataIsReported() throws {
    let folder = try Folder()
    try makeInput(in: folder)
    for kilobytes in [20_000, 50_000, 100_000, 200_000, 300_000] {
      _ = try check(Self.commands[0], under: "ulimit -d \(kilobytes)", in: folder, loads: false)
    }
  }

  /// The limit does not apply to root.
  @Test("Few threads", .enabled(if: geteuid() == 0)) func fewThreadsAreReported() throws {
    let program = try ReachableProgram()
    let folder = try Folder(in: ReachableProgram.place)
    try makeInput(in: folder)
    let made = try CommandLine.shell("chown -R 65533:65533 .; chmod -R a+rwX .", in: folder)
    try #require(made.status == 0)
    let user =
      (["env"] + program.environment).joined(separator: " ")
      + " setpriv --reuid 65533 --regid 65533 --clear-groups"
    for count in [1, 2, 4, 8, 12, 16, 200] {
      let run = try CommandLine.shell(
        "ulimit -u \(count); exec timeout -s KILL 100 \(user) '\(program.vtencode)' transcoding in.m4v --frames 10 "
          + "\(Self.size) --overwrite --out out.mp4", in: folder)
      #expect([0, 1].contains(run.status), "\(count): \(run.status) \(run.complaints)")
      #expect(run.status == 0 || run.complaints.contains("ulimit -u"), "\(count): \(run.complaints)")
      #expect(count < 200 || run.status == 0)
    }
    #expect(folder.contents == ["in.m4v", "out.mp4", "plan.json", "plan.parts"])
  }
}
