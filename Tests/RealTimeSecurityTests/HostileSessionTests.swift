// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import Testing
import ToolSupport

@testable import RealTimeSecurity

/// Packets from other senders that arrive at the port of an open session.
@Suite struct HostileSessionTests {
  /// A call under a virtual clock; what its receiver decodes is counted.
  private struct Call {
    var sender: SenderSession
    var receiver: ReceiverSession
    var decoded = 0
    var sent = 0

    init(secret: PresharedKey, number: UInt8) {
      sender = SenderSession(
        .init(source: 5, nonce: .init([UInt8](repeating: number, count: 16))), secret: secret, at: 0)
      receiver = ReceiverSession(
        .init(clock: .simulated, source: 6, nonce: .init([UInt8](repeating: number + 1, count: 16))),
        secret: secret)
    }

    /// - Returns: What went to the receiver, but for greetings.
    mutating func exchange(at time: Double) throws -> [[UInt8]] {
      sender.poll(at: time)
      var media: [[UInt8]] = []
      for bytes in sender.takeOutgoing() {
        if Greeting.isGreeting(bytes) {
          _ = receiver.greet(bytes, at: time)
        } else {
          media.append(bytes)
          try hear(bytes, at: time)
        }
      }
      try receiver.poll(at: time) { _ in true }
      for bytes in receiver.takeOutgoing() { sender.receive(bytes, at: time) }
      return media
    }

    mutating func hear(_ bytes: [UInt8], at time: Double) throws {
      var count = 0
      try receiver.receive(bytes, at: time) { _ in
        count += 1
        return true
      }
      decoded += count
    }

    /// - Returns: The frame's datagrams.
    mutating func sendFrame(at time: Double) throws -> [[UInt8]] {
      let (_, attempt) = sender.takeRequirements(at: time)
      let unit = [0x65] + (0..<24).map { UInt8(truncatingIfNeeded: sent &+ $0) }
      sender.send([unit], .init(isKeyFrame: sent == 0), attempt, captured: time, at: time)
      sent += 1
      return try exchange(at: time)
    }
  }

  @Test("A session decodes nothing of wrong keys, other sessions, replays, cut, changed and random datagrams")
  func nothingIsDecoded() throws {
    let (key, wrong) = try (
      PresharedKey(bytes: [UInt8](repeating: 9, count: 32)),
      PresharedKey(bytes: [UInt8](repeating: 8, count: 32))
    )
    var call = Call(secret: key, number: 1)
    // With another key, and with the same one in another session.
    var others = [Call(secret: wrong, number: 1), Call(secret: key, number: 11)]
    for step in 0..<10 {
      _ = try call.exchange(at: Double(step) * 0.1)
      for index in others.indices { _ = try others[index].exchange(at: Double(step) * 0.1) }
    }
    try #require(call.receiver.state == .open && others.allSatisfy { $0.receiver.state == .open })
    var generator = SeededGenerator(seed: 78)
    let alone = ProcessInfo.processInfo.environment["OVT_HOSTILE_PACKETS"].flatMap { Int($0) }
    // Of each kind one in each round, and no datagram of the call's own but one frame.
    let rounds = max((alone ?? 20_000) / 10, 1000)
    var (tried, memory) = (0, 0)
    let refused = call.receiver.refused
    for round in 0..<rounds {
      if round == rounds / 4 { memory = residentMemory() }
      let time = 1 + Double(round) / 30
      var bad = try others.indices.flatMap { try others[$0].sendFrame(at: time) }
      // A window further on a replay is one that is too old.
      let good = try call.sendFrame(at: time)
      let before = call.decoded
      try #require(before == call.sent)
      for datagram in good {
        bad.append(datagram)
        bad.append(Array(datagram.prefix(Int(generator.next() % UInt64(datagram.count)))))
        var changed = datagram
        changed[Int(generator.next() % UInt64(datagram.count))] ^= 1 << UInt8(generator.next() % 8)
        bad.append(changed)
      }
      var noise = (0..<Int(generator.next() % 20)).flatMap { _ in
        withUnsafeBytes(of: generator.next()) { [UInt8]($0) }
      }
      if noise.count > 2 { noise[0] = 0x80 }
      bad.append(noise)
      for datagram in bad { try call.hear(datagram, at: time) }
      tried += bad.count
      #expect(call.decoded == before)
    }
    #expect(call.receiver.state == .open && call.receiver.refused - refused == tried)
    // That of the process, which is this test's where it runs alone.
    if alone != nil { #expect(residentMemory() - memory < 8_000_000) }
  }
}

/// Bytes of the process that lie in memory.
func residentMemory() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4096 } ?? 0
}
