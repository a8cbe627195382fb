// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import Testing
import ToolSupport

@testable import RealTimeSecurity

/// Keys, and what they keep out.
@Suite struct SecurityTests {
  private let senderNonce = Greeting.Nonce(Array(1...16))
  private let receiverNonce = Greeting.Nonce(Array(101...116))

  private func pair(_ one: PresharedKey, _ other: PresharedKey) throws -> (
    any PacketProtection, any PacketProtection
  ) {
    (
      try one.protection(sender: senderNonce, receiver: receiverNonce, isSender: true),
      try other.protection(sender: senderNonce, receiver: receiverNonce, isSender: false)
    )
  }

  private func expect(
    _ packet: [UInt8], isControl: Bool, at end: inout any PacketProtection, gives plain: [UInt8]?
  ) {
    let result = end.unprotect(packet, isControl: isControl)
    #expect(result == plain)
  }

  private func packet(_ number: UInt16, size: Int = 900) -> [UInt8] {
    var packet = RTPPacket(
      payloadType: 96, sequenceNumber: number, timestamp: UInt32(number) * 3000, source: 7,
      payload: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(number)) })
    packet.headerExtension = FrameDescriptor(number: number, previous: number).headerExtension
    return packet.bytes
  }

  @Test("A key is read from hexadecimal digits and from Base64, and from nothing else")
  func reading() throws {
    let bytes = (0..<32).map { UInt8($0 * 8 + 3) }
    let digits = bytes.map { String(format: "%02x", $0) }.joined()
    let message = Array("greetings".utf8)
    let tag = try PresharedKey(bytes: bytes).authenticate(message)
    #expect(tag.count == 32)
    for text in [digits, digits.uppercased(), Data(bytes).base64EncodedString()] {
      #expect(try PresharedKey(text: text).authenticate(message) == tag)
    }
    for text in ["", "00", digits + "0", String(digits.dropLast()) + "g", "é" + digits] {
      #expect(throws: PresharedKey.Failure.malformed) { try PresharedKey(text: text) }
    }
    #expect(throws: PresharedKey.Failure.tooShort) { try PresharedKey(secret: "1234567") }
    let (one, again) = try (PresharedKey(secret: "correct horse"), PresharedKey(secret: "correct horse"))
    #expect(one.authenticate(message) == again.authenticate(message))
    #expect(try PresharedKey(secret: "correct horst").authenticate(message) != one.authenticate(message))
  }

  @Test("What a key leaves behind is nothing")
  func wiping() throws {
    var bytes = [UInt8](repeating: 0xA5, count: 44)
    let key = KeyBytes(bytes)
    #expect(key.count == 44 && key.withBytes { Array(UnsafeBufferPointer(start: $0, count: 44)) } == bytes)
    KeyBytes.wipe(&bytes)
    #expect(bytes == [UInt8](repeating: 0, count: 44))
    // Memory that a key had, seen from outside: found by what is in it, and not found any more
    // after its end.
    let pattern: [UInt8] = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 77) }
    func findings(_ address: UInt) throws -> Bool {
      // The process reads itself through the system, so that what was given back is no matter.
      let file = open("/proc/self/mem", O_RDONLY)
      try #require(file >= 0)
      defer { close(file) }
      var content = [UInt8](repeating: 0, count: pattern.count)
      let count = pread(file, &content, content.count, off_t(address))
      // The allocator's own words may stand at its beginning.
      return count == pattern.count && content[64...].elementsEqual(pattern[64...])
    }
    var long: KeyBytes? = KeyBytes(pattern)
    let address = long?.withBytes { UInt(bitPattern: $0) } ?? 0
    let isThere = try findings(address)
    withExtendedLifetime(long) {}
    #expect(isThere)
    long = nil
    #expect(try !findings(address))
    #expect(KeyBytes(count: 8) { _ in false } == nil)
  }

  @Test(
    "openssl makes the same tags: HKDF of RFC 5869, HMAC of RFC 2104",
    .enabled(if: Tool("openssl").isInstalled))
  func independent() throws {
    let key = [UInt8](repeating: 0x42, count: 32)
    let hex = key.map { String(format: "%02x", $0) }.joined()
    let (status, text) = try Tool("sh").run([
      "-c",
      "k=$(openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:\(hex) "
        + "-kdfopt info:'OpenVideoToolbox greeting' HKDF | tr -d ':\\n'); "
        + "printf 'a message' | openssl dgst -sha256 -mac HMAC -macopt hexkey:$k | sed 's/.*= //'",
    ])
    try #require(status == 0 && text.count > 60, "\(text)")
    let tag = try PresharedKey(bytes: key).authenticate(Array("a message".utf8))
    #expect(
      tag.map { String(format: "%02x", $0) }.joined() == text.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  @Test("Packets come through, hidden, once each, in both directions")
  func round() throws {
    let key = try PresharedKey(bytes: [UInt8](repeating: 9, count: 32))
    var (sender, receiver) = try pair(key, key)
    for number in 0..<2000 as Range<UInt16> {
      let plain = packet(number)
      let result = sender.protect(plain, isControl: false)
      let hidden = try #require(result)
      #expect(hidden.count == plain.count + 16 && hidden.suffix(900) != plain.suffix(900))
      expect(hidden, isControl: false, at: &receiver, gives: plain)
      // The same once more is a replay.
      expect(hidden, isControl: false, at: &receiver, gives: nil)
      let control = RTCPPacket.compound([.receiverReport(source: 8, blocks: []), .bye(source: 8)])
      let answer = receiver.protect(control, isControl: true)
      let back = try #require(answer)
      expect(back, isControl: true, at: &sender, gives: control)
      expect(back, isControl: true, at: &sender, gives: nil)
    }
  }

  @Test("Wrong keys, changed, truncated, replayed and random packets: none comes through")
  func hostile() throws {
    let (key, wrong) = try (
      PresharedKey(bytes: [UInt8](repeating: 9, count: 32)),
      PresharedKey(bytes: [UInt8](repeating: 8, count: 32))
    )
    var (sender, receiver) = try pair(key, key)
    var (unrelatedSender, _) = try pair(wrong, wrong)
    // A session before this one, with the same key.
    var earlier = try key.protection(
      sender: .init(Array(2...17)), receiver: receiverNonce, isSender: true)
    var generator = SeededGenerator(seed: 77)
    var through = 0
    var memory = 0
    // In each round ten packets that are not to come through. Run alone,
    // OVT_HOSTILE_PACKETS=1000000 tries as many.
    let alone = ProcessInfo.processInfo.environment["OVT_HOSTILE_PACKETS"].flatMap { Int($0) }
    let rounds = max((alone ?? 100_000) / 10, 1000)
    for round in 0..<rounds {
      if round == rounds / 4 { memory = residentMemory() }
      let number = UInt16(truncatingIfNeeded: round)
      let plain = packet(number, size: 24)
      let result = sender.protect(plain, isControl: false)
      let good = try #require(result)
      var bad: [[UInt8]] = []
      if let other = unrelatedSender.protect(plain, isControl: false) { bad.append(other) }
      if let old = earlier.protect(plain, isControl: false) { bad.append(old) }
      bad.append(Array(good.prefix(Int(generator.next() % UInt64(good.count)))))
      var changed = good
      changed[Int(generator.next() % UInt64(good.count))] ^= 1 << UInt8(generator.next() % 8)
      bad.append(changed)
      let size = Int(generator.next() % 160)
      var noise = withUnsafeBytes(of: generator.next()) { [UInt8]($0) }
      while noise.count < size { noise += noise }
      noise = Array(noise.prefix(size))
      if noise.count > 2 { noise[0] = 0x80 }
      bad.append(noise)
      for bytes in bad {
        if receiver.unprotect(bytes, isControl: false) != nil { through += 1 }
        if receiver.unprotect(bytes, isControl: true) != nil { through += 1 }
      }
      expect(good, isControl: false, at: &receiver, gives: plain)
      if receiver.unprotect(good, isControl: false) != nil { through += 1 }
    }
    #expect(through == 0)
    // That of the process, which is this test's where it runs alone.
    if alone != nil { #expect(residentMemory() - memory < 8_000_000) }
  }

  @Test("Two ends with one key meet; with two, or one and none, they do not")
  func sessions() throws {
    let key = try PresharedKey(bytes: [UInt8](repeating: 1, count: 32))
    let wrong = try PresharedKey(bytes: [UInt8](repeating: 2, count: 32))
    for (one, other, meets) in [
      (key, key, true), (key, wrong, false), (key, nil, false), (nil, key, false),
    ] as [(PresharedKey?, PresharedKey?, Bool)] {
      var sender = SenderSession(.init(source: 5, nonce: senderNonce), secret: one, at: 0)
      var receiver = ReceiverSession(.init(clock: .simulated, source: 6, nonce: receiverNonce), secret: other)
      var frames = 0
      var sent: [[UInt8]] = []
      func exchange(at time: Double) throws {
        sender.poll(at: time)
        for bytes in sender.takeOutgoing() {
          sent.append(bytes)
          if Greeting.isGreeting(bytes) {
            _ = receiver.greet(bytes, at: time)
          } else {
            try receiver.receive(bytes, at: time) { _ in
              frames += 1
              return true
            }
          }
        }
        for bytes in receiver.takeOutgoing() { sender.receive(bytes, at: time) }
      }
      for index in 0..<30 {
        let time = Double(index) / 30
        try exchange(at: time)
        let (_, attempt) = sender.takeRequirements(at: time)
        sender.send(
          [[0x65, 1, 2, 3, UInt8(index)]], .init(isKeyFrame: index == 0), attempt, captured: time, at: time)
        try exchange(at: time)
      }
      #expect((sender.state == .open) == meets && frames == (meets ? 30 : 0))
      #expect(meets || sender.counts.refused + receiver.refused > 0)
      guard meets else { continue }
      // All of it once more, to the same session and to the next.
      let (refused, before) = (receiver.refused, frames)
      var next = ReceiverSession(.init(clock: .simulated, source: 6, nonce: .init([99])), secret: key)
      for bytes in sent {
        if Greeting.isGreeting(bytes) {
          _ = next.greet(bytes, at: 2)
        } else {
          try receiver.receive(bytes, at: 2) { _ in
            frames += 1
            return true
          }
          try next.receive(bytes, at: 2) { _ in
            frames += 1
            return true
          }
        }
      }
      // The next one's number is not in the greeting: it begins nothing.
      #expect(frames == before && receiver.refused > refused + 30 && next.state == .waiting)
    }
  }
}
