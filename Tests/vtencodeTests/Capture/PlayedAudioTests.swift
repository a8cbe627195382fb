// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import Testing
import TestSupport

@testable import vtencode

/// Received audio next to a window, and on a page with WebCodecs.
@Suite(.serialized) struct PlayedAudioTests {
  #if Display
    @Test("Received audio is played next to the window")
    func playing() throws {
      let folder = try Folder()
      let port = try freeDatagramPort()
      // SDL's driver `disk` writes what a device would play.
      let finished = try CommandLine.shell(
        """
        env SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=disk SDL_DISKAUDIOFILE=played.raw '\(CommandLine.vtencode)' \
          receive --listen \(port) --play > received.txt 2> complaints.txt &
        receiver=$!
        await $receiver grep -q Listening complaints.txt
        '\(CommandLine.vtencode)' send test:160x128@15 --sound test: --to 127.0.0.1:\(port) --frames 45 > sent.txt \
          || kill -INT $receiver
        wait $receiver
        """, in: folder)
      try #require(finished.status == 0, "\(finished.complaints)")
      let summary = try String(contentsOfFile: folder.path("received.txt"), encoding: .utf8)
      #expect(summary.contains("; played"), "\(summary)")
      // Stereo of 48 kHz in floating point.
      let played = try Data(contentsOf: URL(fileURLWithPath: folder.path("played.raw")))
      let left = played.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count - 7, by: 8).map {
          bytes.loadUnaligned(fromByteOffset: $0, as: Float.self)
        }
      }
      #expect(Sinusoid.seconds(of: 440, in: left) > 0.5, "\(left.count)")
    }
  #endif

  @Test("A page with WebCodecs is given the audio")
  func pagesHaveIt() throws {
    let folder = try Folder()
    let web = try freePort()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.vtencode)
    process.arguments = [
      "send", "test:160x120@15", "--sound", "test:", "--speed", "0", "--web", "\(web)", "--quiet",
      "--web-token", WebSocketClient.token,
    ]
    process.currentDirectoryURL = folder.url
    for handle in [\Process.standardOutput, \Process.standardError] {
      process[keyPath: handle] = FileHandle.nullDevice
    }
    try process.run()
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    var client: WebSocketClient?
    blockUntil {
      client = client ?? (try? WebSocketClient(socketAt: web))
      return client != nil || !process.isRunning
    }
    let page = try #require(client)
    let decoding = try OpusDecoding()
    var (heard, next): ([Float], Int64?) = ([], nil)
    while heard.count < 2 * 48_000, let message = page.next() {
      guard message.opcode == 2, message.bytes.first == WebAudio.kind else { continue }
      let position = message.bytes[4..<12].reduce(Int64(0)) { $0 << 8 | Int64($1) }
      if let next { #expect(position >= next) }
      next = position + 960
      let samples = decoding.decode(Array(message.bytes.dropFirst(WebAudio.headerSize)))
      let values = samples.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
      heard += stride(from: 0, to: values.count, by: 2).map { values[$0] }
    }
    #expect(Sinusoid.seconds(of: 440, in: heard) > 0.5)
  }
}

/// The received audio that a device is given.
@Suite struct SpeakerBufferTests {
  private static func filled(_ buffer: SpeakerBuffer, _ frames: Int) -> [Float] {
    var out = [Float](repeating: -1, count: 2 * frames)
    out.withUnsafeMutableBufferPointer { buffer.fill($0) }
    return out
  }

  private static func add(_ range: Range<Int>, to buffer: SpeakerBuffer) {
    buffer.add(range.flatMap { [Float($0), Float($0)] }.withUnsafeBytes { Data($0) })
  }

  @Test func audioIsPlayedWithoutGapsAndCannotPileUp() {
    let buffer = SpeakerBuffer(channels: 2)
    // 60 ms are waited for.
    Self.add(1..<2001, to: buffer)
    #expect(Self.filled(buffer, 480).allSatisfy { $0 == 0 })
    Self.add(2001..<3001, to: buffer)
    #expect(Self.filled(buffer, 480) == (1..<481).flatMap { [Float($0), Float($0)] })
    #expect(Self.filled(buffer, 2000) == (481..<2481).flatMap { [Float($0), Float($0)] })
    // Missing audio is silence, and then the buffer is filled again.
    let last = Self.filled(buffer, 600)
    #expect(last[..<1040].elementsEqual((2481..<3001).flatMap { [Float($0), Float($0)] }))
    #expect(last[1040...].allSatisfy { $0 == 0 })
    Self.add(3001..<3101, to: buffer)
    #expect(Self.filled(buffer, 100).allSatisfy { $0 == 0 })
    // A burst is cut to its last 60 ms.
    Self.add(3101..<20_001, to: buffer)
    #expect(Self.filled(buffer, 1) == [17_121, 17_121])
  }
}
