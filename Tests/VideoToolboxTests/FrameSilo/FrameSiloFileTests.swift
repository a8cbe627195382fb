// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import VideoToolbox

@Suite struct FrameSiloFileTests {
  private let folder: URL
  private let kept: [CFString: Any] = [kOVTFrameSiloCreationOption_DoNotDelete: true]
  private let opened: [CFString: Any] = [
    kOVTFrameSiloCreationOption_DoNotDelete: true, kOVTFrameSiloCreationOption_OpenExisting: true,
  ]

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("silos-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func remove() { try? FileManager.default.removeItem(at: folder) }
  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  private func fill(_ silo: VTFrameSilo, _ frames: Range<Int>, generation: Int = 0, count: Int = 100) throws {
    for index in frames {
      let frame = try SiloFrames.frame(index, generation: generation, count: count)
      try check(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: frame), "frame \(index)")
    }
  }

  @Test("The file of a silo is removed with it; a kept one can be continued, with its pass")
  func aSilosFileGoesWithIt() throws {
    defer { remove() }
    let url = folder.appendingPathComponent("a.silo")
    do {
      let silo = try #require(SiloFrames.silo(url).silo)
      try fill(silo, 0..<10)
      #expect(names.contains("a.silo"))
    }
    #expect(names.isEmpty)
    do {
      let silo = try #require(SiloFrames.silo(url, range: SiloFrames.range(0..<300), options: kept).silo)
      try fill(silo, 0..<300)
      let ranges = [SiloFrames.range(100..<200)]
      #expect(VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 1, timeRangeArray: ranges) == noErr)
      try fill(silo, 100..<150, generation: 1)
    }
    #expect(names.contains("a.silo"))
    let silo = try #require(SiloFrames.silo(url, options: opened).silo)
    #expect(silo.passNumber == 2 && silo.timeRangesOfCurrentPass == [SiloFrames.range(100..<200)])
    #expect(silo.lastDecodeTimeStamp == CMTime(value: 149, timescale: 30))
    var progress: Float32 = 0
    #expect(VTFrameSiloGetProgressOfCurrentPass(silo, progressOut: &progress) == noErr && progress == 0.5)
    #expect(
      VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(149))
        == kVTFrameSiloInvalidTimeStampErr)
    try fill(silo, 150..<200, generation: 1)
    let (status, back) = SiloFrames.all(silo)
    #expect(status == noErr && SiloFrames.indices(back) == Array(0..<300))
    for (index, sample) in back.enumerated() {
      let generation = (100..<200).contains(index) ? 1 : 0
      #expect(sample.bytes == SiloFrames.bytes(index, generation: generation, count: 100))
    }
  }

  @Test("A new silo takes the place of an old one, never of anything else, and never of one that is open")
  func aNewSiloTakesThePlaceOfAnOldOne() throws {
    defer { remove() }
    let url = folder.appendingPathComponent("a.silo")
    do { try fill(try #require(SiloFrames.silo(url, options: kept).silo), 0..<5) }
    do {
      let silo = try #require(SiloFrames.silo(url, options: kept).silo)
      #expect(SiloFrames.all(silo).1.isEmpty)
      #expect(SiloFrames.silo(url).status == -47)
      #expect(SiloFrames.silo(url, options: opened).status == -47)
      try fill(silo, 0..<3)
      #expect(SiloFrames.all(silo).1.count == 3)
    }
    for (name, content) in [("movie.mov", Data(repeating: 7, count: 5000)), ("note", Data("text".utf8))] {
      let other = folder.appendingPathComponent(name)
      try content.write(to: other)
      #expect(SiloFrames.silo(other).status == kVTParameterErr)
      #expect(SiloFrames.silo(other, options: opened).status == kVTParameterErr)
      #expect(try Data(contentsOf: other) == content)
    }
    // The file that mkstemp creates.
    let empty = folder.appendingPathComponent("empty")
    try Data().write(to: empty)
    #expect(SiloFrames.silo(empty).status == noErr)
    #expect(SiloFrames.silo(folder.appendingPathComponent("none"), options: opened).status == kVTParameterErr)
    #expect(SiloFrames.silo(folder.appendingPathComponent("no/such/folder")).status == -36)
    #expect(SiloFrames.silo(URL(string: "https://example.com/a")).status == kVTParameterErr)
    #expect(SiloFrames.silo(nil, options: opened).status == kVTParameterErr)
    #expect(
      SiloFrames.silo(nil, options: [kOVTFrameSiloCreationOption_DoNotDelete: "yes"]).status
        == kVTParameterErr)
    #expect(
      SiloFrames.silo(nil, range: CMTimeRange(start: .zero, duration: .indefinite)).status == kVTParameterErr)
  }

  @Test(
    "A silo file of an interrupted run opens with all frames but the last ones and reports which are missing")
  func whatACrashLeavesOpensButForItsLastFrames() throws {
    defer { remove() }
    let (url, left) = (folder.appendingPathComponent("a.silo"), folder.appendingPathComponent("left.silo"))
    let silo = try #require(SiloFrames.silo(url, range: SiloFrames.range(0..<1000), options: kept).silo)
    var last = 0
    func leave() throws {
      for suffix in ["", "-journal"] {
        let target = URL(fileURLWithPath: left.path + suffix)
        try? FileManager.default.removeItem(at: target)
        // The files have the content that they would have after a kill.
        try? FileManager.default.copyItem(at: URL(fileURLWithPath: url.path + suffix), to: target)
      }
    }
    // The long ones are more than SQLite keeps in memory: pages of theirs, and of the journal, are
    // in the files.
    for (frames, synchronizes, size) in [
      (0..<7, false, 3000), (7..<130, false, 3000), (130..<230, false, 60_000), (230..<700, false, 3000),
      (700..<705, true, 3000),
    ] {
      try fill(silo, frames, count: size)
      if synchronizes { try silo.synchronize() }
      try leave()
      let (status, other) = SiloFrames.silo(left, options: opened)
      #expect(status == noErr)
      let survivor = try #require(other)
      let (read, back) = SiloFrames.all(survivor)
      #expect(read == noErr && SiloFrames.indices(back) == Array(0..<back.count))
      #expect(frames.upperBound - back.count <= (synchronizes ? 0 : 120))
      #expect(
        survivor.lastDecodeTimeStamp
          == (back.isEmpty ? .invalid : CMTime(value: Int64(back.count - 1), timescale: 30)))
      #expect(back.count >= last)
      last = back.count
      #expect(
        back.allSatisfy {
          $0.bytes.count == ((130..<230).contains(SiloFrames.indices([$0])[0]) ? 60_000 : 3000)
        })
      // And it continues from there.
      try fill(survivor, back.count..<back.count + 3)
    }
    // In the middle of a pass that replaces: neither the old frames of its ranges nor too few of
    // the others.
    let ranges = [SiloFrames.range(100..<400)]
    #expect(VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 1, timeRangeArray: ranges) == noErr)
    try fill(silo, 100..<300, generation: 1, count: 3000)
    try leave()
    let survivor = try #require(SiloFrames.silo(left, options: opened).silo)
    let there = 100..<(Int((survivor.lastDecodeTimeStamp.seconds * 30).rounded()) + 1)
    #expect(survivor.passNumber == 2 && there.count >= 80)
    let (_, back) = SiloFrames.all(survivor)
    #expect(SiloFrames.indices(back) == Array(0..<100) + Array(there) + Array(400..<705))
    for sample in back {
      let index = SiloFrames.indices([sample])[0]
      let size = (130..<230).contains(index) && !there.contains(index) ? 60_000 : 3000
      #expect(
        sample.bytes == SiloFrames.bytes(index, generation: there.contains(index) ? 1 : 0, count: size))
    }
  }

  @Test("A journal that names another file is not followed, and two processes never share a silo")
  func aJournalThatNamesAnotherFileIsNobodysToFollow() async throws {
    defer { remove() }
    let (url, victim) = (folder.appendingPathComponent("a.silo"), folder.appendingPathComponent("victim"))
    try Data("mine".utf8).write(to: victim)
    do { try fill(try #require(SiloFrames.silo(url, options: kept).silo), 0..<5) }
    // A hot journal of no pages, with a super-journal's name after (SQLite's file format, 4.2).
    var journal = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] + [UInt8](repeating: 0, count: 504))
    let name = Array(victim.path.utf8)
    func big(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    journal += [0, 0, 0, 0] + name + big(UInt32(name.count))
    journal += big(name.reduce(0) { $0 &+ UInt32($1) }) + [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    try journal.write(to: URL(fileURLWithPath: url.path + "-journal"))
    #expect(SiloFrames.silo(url, options: opened).status == -36)
    #expect(SiloFrames.silo(url).status == -36)
    #expect(names.contains("victim"))
    try FileManager.default.removeItem(atPath: url.path + "-journal")

    let silo = try #require(SiloFrames.silo(url, options: opened).silo)
    // Asking for it again must not give up what keeps others out.
    #expect(SiloFrames.silo(url, options: opened).status == -47 && SiloFrames.silo(url).status == -47)
    let result = try StreamProbe.run(
      "/usr/bin/env",
      [
        "python3", "-c", "import sqlite3,sys; sqlite3.connect(sys.argv[1]).execute('SELECT * FROM frame')",
        url.path,
      ])
    #expect(result.errors.contains("locked"), "\(result.errors)")
    withExtendedLifetime(silo) {}
  }

  @Test("A silo removes its own file, not one that has taken its place, and not what a link is called")
  func aSiloRemovesItsOwnFileOnly() throws {
    defer { remove() }
    let (url, moved) = (folder.appendingPathComponent("a.silo"), folder.appendingPathComponent("b.silo"))
    do {
      let silo = try #require(SiloFrames.silo(url).silo)
      try fill(silo, 0..<3)
      try FileManager.default.moveItem(at: url, to: moved)
      try Data("other".utf8).write(to: url)
      withExtendedLifetime(silo) {}
    }
    #expect(try Data(contentsOf: url) == Data("other".utf8))
    #expect(names.contains("b.silo"))
    let (target, link) = (
      folder.appendingPathComponent("target.silo"), folder.appendingPathComponent("link.silo")
    )
    do { try fill(try #require(SiloFrames.silo(target, options: kept).silo), 0..<3) }
    // Of one that is kept and whole, nothing but the file.
    #expect(!names.contains("target.silo-journal"))
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    do { #expect(SiloFrames.all(try #require(SiloFrames.silo(link, options: opened).silo)).1.count == 3) }
    #expect(names.contains("target.silo") && names.contains("link.silo"))
    let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int
    chmod(target.path, 0o600)
    do { _ = try #require(SiloFrames.silo(target, options: kept).silo) }
    // Written over in its place, with the rights that it had.
    #expect(mode != 0o600)
    #expect(try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int == 0o600)
  }

  @Test("A file that was changed gives errors or what was put in, and nothing else", arguments: 0..<8)
  func aFileThatWasChangedGivesErrorsOrWhatWasPutIn(seed: UInt64) throws {
    defer { remove() }
    let url = folder.appendingPathComponent("a.silo")
    do { try fill(try #require(SiloFrames.silo(url, options: kept).silo), 0..<60, count: 700) }
    let whole = try Data(contentsOf: url)
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    var refused = 0
    for round in 0..<60 {
      var bytes = whole
      if round % 6 == 5 { bytes = bytes.prefix(random(bytes.count)) }
      for _ in 0..<[1, 1, 4, 30, 300, 0][round % 6] where !bytes.isEmpty {
        bytes[random(bytes.count)] = UInt8(random(256))
      }
      try bytes.write(to: url)
      let (status, silo) = SiloFrames.silo(url, options: opened)
      guard let silo else {
        #expect(status == -36 || status == kVTParameterErr)
        refused += 1
        continue
      }
      let (read, back) = SiloFrames.all(silo)
      if read != noErr { refused += 1 }
      #expect(read != noErr || back.count == 60)
      for sample in back {
        let index = SiloFrames.indices([sample])[0]
        #expect(sample.bytes == SiloFrames.bytes(index, generation: 0, count: 700))
      }
      _ = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(1000))
    }
    #expect(refused > 10)
    // A damaged one may be written over.
    var hurt = whole
    for index in 100..<min(4000, hurt.count) { hurt[index] = 0xFF }
    try hurt.write(to: url)
    #expect(SiloFrames.silo(url, options: opened).status == -36)
    #expect(SiloFrames.all(try #require(SiloFrames.silo(url).silo)).1.isEmpty)
  }

  @Test("A full disk gives an error, and committed frames are kept")
  func aDiskThatIsFullGivesAnError() async throws {
    defer { remove() }
    await #expect(processExitsWith: .success) {
      let url = FileManager.default.temporaryDirectory.appendingPathComponent("full-\(UUID().uuidString)")
      defer {
        unlink(url.path)
        unlink(url.path + "-journal")
      }
      signal(SIGXFSZ, SIG_IGN)
      var tight = rlimit(rlim_cur: 3_000_000, rlim_max: 3_000_000)
      setrlimit(__rlimit_resource_t(1), &tight)
      let options: [CFString: Any] = [kOVTFrameSiloCreationOption_DoNotDelete: true]
      var failed = 0
      do {
        let silo = try #require(SiloFrames.silo(url, options: options).silo)
        for index in 0..<1000 {
          let status = VTFrameSiloAddSampleBuffer(
            silo, sampleBuffer: try SiloFrames.frame(index, count: 10_000))
          if status != noErr {
            try #require(status == -36 || status == -34)
            failed = index
            break
          }
        }
        try #require(failed > 200)
        // It says so from then on, and does not leave a hole.
        let later = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(failed + 1))
        let end = silo.lastDecodeTimeStamp
        if later == noErr {
          try #require(SiloFrames.indices(SiloFrames.all(silo).1) == Array(0..<failed) + [failed + 1])
        } else {
          try #require(end.isNumeric && Int((end.seconds * 30).rounded()) < failed)
        }
      }
      let again: [CFString: Any] = [kOVTFrameSiloCreationOption_OpenExisting: true]
      let silo = try #require(SiloFrames.silo(url, options: again).silo)
      let (status, back) = SiloFrames.all(silo)
      try #require(status == noErr && back.count >= failed - 120)
      try #require(SiloFrames.indices(back).prefix(failed) == Array(0..<min(failed, back.count))[...])
    }
  }
}
