// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import Testing
import TestSupport

/// The other end of a call is not what it should be.
@Suite(.serialized) struct HostilePeerTests {
  private func figures(_ finished: Finished) throws -> [String: Double] {
    try JSONDecoder().decode([String: Double].self, from: finished.output)
  }

  private func receiver() -> ReceiverSession {
    var random = SystemRandomNumberGenerator()
    return ReceiverSession(.init(clock: .simulated, source: 0x2000, nonce: .random(using: &random)))
  }

  @Test("A receiver that requests everything again all the time receives no more than --bitrate")
  func aGreedyReceiverIsSentNoMoreThanTheRate() throws {
    let folder = try Folder()
    let peer = try UDPPeer()
    let program = try RunningProgram(
      [
        "send", "test:640x360@30", "--frames", "300", "--speed", "0", "--bitrate", "1M", "--to",
        "127.0.0.1:\(peer.port)", "--json", "--quiet",
      ], in: folder)
    var session = receiver()
    let begin = UDPPeer.now
    var packets: [(time: Double, bits: Int, isRepeated: Bool)] = []
    var (newest, source): (UInt16, UInt32) = (0, 0)
    var nextFlood = begin
    while program.isRunning, UDPPeer.now - begin < HangLimit.seconds {
      if let bytes = peer.receive(milliseconds: 2) {
        let now = UDPPeer.now
        if Greeting.isGreeting(bytes) {
          if let greeting = Greeting(bytes) { source = greeting.source }
          _ = session.greet(bytes, at: now - begin)
        } else {
          if !RTCPPacket.isControl(bytes), let packet = RTPPacket(bytes) {
            packets.append(
              (now, bytes.count * 8, packet.payloadType == RTPPayloadType.retransmission))
            if packet.payloadType == RTPPayloadType.media { newest = packet.sequenceNumber }
          }
          try session.receive(bytes, at: now - begin) { _ in true }
        }
      }
      try session.poll(at: UDPPeer.now - begin) { _ in true }
      for bytes in session.takeOutgoing() { peer.send(bytes) }
      guard !packets.isEmpty, UDPPeer.now >= nextFlood else { continue }
      nextFlood = UDPPeer.now + 0.002
      let numbers = (0..<510).map { newest &- 509 &+ UInt16($0) }
      peer.send(
        RTCPPacket.compound([
          .receiverReport(source: 0x2000, blocks: []),
          .retransmissionRequest(sender: 0x2000, media: source, numbers: numbers),
        ]))
    }
    let finished = try program.finish()
    try #require(finished.status == 0, "\(finished.complaints)")
    let sent = try figures(finished)
    #expect((sent["ignoredRequests"] ?? 0) > 1000, "\(sent)")
    #expect((sent["resentPackets"] ?? 0) > 50, "\(sent)")
    #expect((sent["mediaBits"] ?? 0) > 1e6, "\(sent)")
    // In any six seconds.
    for first in stride(from: 0, to: packets.count, by: 50) {
      let start = packets[first].time
      let bits = packets[first...].reduce(0) { $0 + ($1.time < start + 6 ? $1.bits : 0) }
      #expect(Double(bits) / 6 < 1.15e6, "\(bits)")
    }
  }

  @Test("A receiver that answers one greeting, and makes later answers of it, gets media for five seconds")
  func aReceiverWithStaleConsentGetsMediaForFiveSeconds() throws {
    let folder = try Folder()
    let peer = try UDPPeer()
    let program = try RunningProgram(
      [
        "send", "test:160x120@30", "--frames", "900", "--speed", "0", "--to", "127.0.0.1:\(peer.port)",
        "--json", "--quiet",
      ], in: folder)
    var session = receiver()
    let begin = UDPPeer.now
    var first: (greeting: Greeting, time: Double)?
    var media: [Double] = []
    var answers = 0
    while program.isRunning, UDPPeer.now - begin < HangLimit.seconds {
      if let bytes = peer.receive(milliseconds: 5) {
        let time = UDPPeer.now - begin
        if let greeting = Greeting(bytes) {
          // The second brings this end's number back.
          if first == nil || session.state == .waiting {
            first = (greeting, time)
            _ = session.greet(bytes, at: time)
          } else if let first {
            answers += 1
            var answer = Greeting.Answer(
              to: first.greeting, nonce: greeting.answered ?? .init([]),
              clock: MediaClock.simulated.ntpTime(at: time), source: 0x2000)
            // One more than the last time.
            answer.check.bytes[11] &+= UInt8(truncatingIfNeeded: answers)
            peer.send(answer.bytes())
          }
        } else {
          if !RTCPPacket.isControl(bytes) { media.append(time) }
          try session.receive(bytes, at: time) { _ in true }
        }
      }
      // It reports all the time.
      try session.poll(at: UDPPeer.now - begin) { _ in true }
      for bytes in session.takeOutgoing() { peer.send(bytes) }
    }
    let finished = try program.finish()
    #expect(finished.status == 1 && finished.complaints.contains("has not answered for 10 s"), "\(finished)")
    let (last, known) = (try #require(media.last), try #require(first?.time))
    // Delays of the machine are within the one second.
    #expect(
      media.count > 10 && answers > 5 && last - known < 6, "\(media.count), \(answers), \(last - known)")
  }

  /// Frames that each stand alone, by libx264.
  private func keyFrames(in folder: Folder) throws -> [[[UInt8]]] {
    let made = try CommandLine.shell(
      "ffmpeg -v error -f lavfi -i testsrc=size=64x64:rate=30 -frames:v 40 -pix_fmt yuv420p -c:v libx264 -g 1 "
        + "-x264-params slices=1 -f h264 keys.264", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let stream = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("keys.264"))))
    var frames: [[[UInt8]]] = []
    var (units, start): ([[UInt8]], Int?) = ([], nil)
    for index in 0...stream.count {
      let isCode =
        index + 3 <= stream.count && stream[index] == 0 && stream[index + 1] == 0 && stream[index + 2] == 1
      guard isCode || index == stream.count else { continue }
      if let start {
        var unit = Array(stream[start..<index])
        while unit.last == 0 { unit.removeLast() }
        units.append(unit)
        if (unit.first ?? 0) & 31 == 5 {
          frames.append(units)
          units = []
        }
      }
      start = index + 3
    }
    return frames
  }

  @Test("A sender that lies about clocks and round trips puts no such figures into the summary")
  func aLyingSenderPutsNoFiguresIntoTheSummary() throws {
    let folder = try Folder()
    let frames = try keyFrames(in: folder)
    try #require(frames.count == 40)
    let port = try freeDatagramPort()
    let program = try RunningProgram(
      ["receive", "--listen", "\(port)", "--frames", "40", "--json", "--quiet"], in: folder)
    let peer = try UDPPeer(to: port)
    var configuration = SenderSession.Configuration(source: 0x1000, nonce: .init((1...16).map { UInt8($0) }))
    configuration.recovery = .keyframe
    let begin = UDPPeer.now
    var sender = SenderSession(configuration, at: 0)
    var (next, sent) = (0.0, 0)
    while program.isRunning, UDPPeer.now - begin < HangLimit.seconds {
      let time = UDPPeer.now - begin
      sender.poll(at: time)
      if sender.state == .open, time >= next {
        next = time + 1 / 30.0
        let (_, attempt) = sender.takeRequirements(at: time)
        sender.send(frames[sent % 40], .init(isKeyFrame: true), attempt, captured: time, at: time)
        sent += 1
      }
      for var bytes in sender.takeOutgoing() {
        if Greeting.isGreeting(bytes) {
          // That its clock is known, and 999,999 s behind; that the round trip is of hours.
          bytes[7] |= 2
          bytes.replaceSubrange(40..<48, with: [0, 0x0F, 0x42, 0x3F, 0, 0, 0, 0])
          bytes.replaceSubrange(48..<52, with: [255, 255, 255, 255])
        }
        peer.send(bytes)
      }
      if let bytes = peer.receive(milliseconds: 3) { sender.receive(bytes, at: UDPPeer.now - begin) }
    }
    let finished = try program.finish()
    try #require(finished.status == 0, "\(finished.complaints)")
    let received = try figures(finished)
    #expect(received["shown"] == 40, "\(received)")
    // Not known, which is the truth; or of before the lie.
    for name in ["delayP50", "delayP95"] {
      if let delay = received[name] { #expect((-1...60).contains(delay), "\(name): \(delay)") }
    }
    #expect((0...5).contains(received["roundTrip"] ?? 0), "\(received)")
    #expect(
      (0...1).contains(received["lossShare"] ?? -1) && (0...1).contains(received["standstillShare"] ?? -1))
  }
}
