// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing
import TestSupport
import WebRTC

@testable import vtencode

/// WebRTC's sessions from the command line. `scripts/check-webrtc` has them with other programs.
@Suite struct PeerTests {
  @Test func whatMakesNoSenseIsRefused() throws {
    let whip = "https://127.0.0.1:1/whip"
    for (arguments, words) in [
      (["send", "test:", "--whip", "ftp://a.example"], "an address of http or https"),
      (["send", "test:", "--whip", "https://user:word@a.example"], "an address of http or https"),
      (["send", "test:", "--whip", whip, "--to", "127.0.0.1:5004"], "omit --to"),
      (["send", "test:", "--whip", whip, "--web", "8080"], "omit --web"),
      (["send", "test:", "--whip", whip, "--secret", "12345678"], "omit --secret"),
      (["send", "test:", "--whip", whip, "--recovery", "ltr"], "omit --recovery"),
      (["send", "test:", "--whip", whip, "--fec"], "omit --fec"),
      (["send", "test:", "--whip", whip, "--profile", "high444"], "Browsers do not decode"),
      (["send", "test:", "--web", "8080", "--profile", "high444"], "Browsers do not decode"),
      (["send", "test:", "--whip", whip, "--stun", "3478"], "--stun needs a host"),
      (["send", "test:", "--to", "127.0.0.1:5004", "--stun", "a.example:3478"], "--stun requires --whip"),
      (["receive", "--out", "a.mp4"], "--listen port, or --whep url"),
      (["receive", "--whep", whip, "--listen", "5004"], "omit --listen"),
      (["receive", "--whep", whip, "--web", "8080"], "omit --web"),
      (["receive", "--listen", "5004", "--whep-token-file", "token"], "require --whep"),
    ] {
      let run = try CommandLine.run(CommandLine.vtencode, arguments)
      #expect(run.status == 64 && run.complaints.contains(words), "\(arguments): \(run.complaints)")
    }
  }

  @Test func aTokenDoesNotGoInTheClear() throws {
    let far = try #require(SignallingURL(argument: "http://192.0.2.1/whip/room?key=hidden"))
    #expect(far.place == "http://192.0.2.1" && !far.isLocal && !far.isEncrypted)
    let folder = try Folder()
    let path = folder.url.appendingPathComponent("token").path
    _ = FileManager.default.createFile(
      atPath: path, contents: Data("abc.def\n".utf8), attributes: [.posixPermissions: 0o600])
    #expect(throws: Failure.self) { try far.token(file: path, variable: "NONE", isInsecure: false) }
    #expect(try far.token(file: path, variable: "NONE", isInsecure: true) == "abc.def")
    let near = try #require(SignallingURL(argument: "http://127.0.0.1:8080/whip"))
    #expect(try near.token(file: path, variable: "NONE", isInsecure: false) == "abc.def")
    #expect(try near.token(file: nil, variable: "OVT_NO_SUCH_VARIABLE", isInsecure: false) == nil)
    _ = FileManager.default.createFile(
      atPath: path, contents: Data("two words\n".utf8), attributes: [.posixPermissions: 0o600])
    #expect(throws: Failure.self) { try near.token(file: path, variable: "NONE", isInsecure: false) }
  }

  @Test func browsersAreAnsweredOnceThereIsAPicture() throws {
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
    let asked = Counter()
    let peers = WebPeers(address) { asked.add() }
    defer { peers.close() }
    #expect(throws: WebPeers.Refusal.self) { try peers.answer("v=0\r\n") }
    #expect(throws: WebPeers.Refusal.self) { try peers.answer(Self.offer) }
    #expect(asked.value == 1 && peers.count == 0)
    let set: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0, 0]
    peers.show(
      WebFrame(number: 1, isKeyFrame: true, captured: 0, arrived: 0, qp: nil, units: [set, [0x65, 1, 2, 3]]))
    for count in 1...WebServer.maxClients {
      let answer = try peers.answer(Self.offer)
      #expect(answer.contains("a=ice-lite\r\n") && answer.contains("a=sendonly\r\n"))
      #expect(answer.contains("127.0.0.1") && peers.count == count)
    }
    // No more than the page's limit.
    #expect(throws: WebPeers.Refusal.self) { try peers.answer(Self.offer) }
  }

  @Test func bothFamiliesOfAddressesAreOfferedInTurns() throws {
    let addresses = try [
      "127.0.0.1", "192.0.2.1", "192.0.2.2", "::1", "fe80::1", "2001:db8::1", "192.0.2.1", "ff02::1",
    ].map { try SocketAddress(ipAddress: $0, port: 0) }
    func hosts(isIPv6: Bool, takesLoopback: Bool) -> [String] {
      PeerAddresses.candidates(addresses, port: 9, isIPv6: isIPv6, takesLoopback: takesLoopback)
        .sorted { $0.priority > $1.priority }.map(\.address.host)
    }
    #expect(hosts(isIPv6: true, takesLoopback: false) == ["2001:db8::1", "192.0.2.1", "192.0.2.2"])
    #expect(
      hosts(isIPv6: true, takesLoopback: true) == [
        "2001:db8::1", "192.0.2.1", "192.0.2.2", "::1", "127.0.0.1",
      ]
    )
    #expect(hosts(isIPv6: false, takesLoopback: true) == ["192.0.2.1", "192.0.2.2", "127.0.0.1"])
  }

  @Test func oneSocketSendsToBothFamilies() throws {
    let arrived = Inbox()
    let sender = try DatagramSocket.atAllAddresses { _, _, _ in }
    defer { sender.close() }
    for host in ["127.0.0.1", "::1"] where !host.contains(":") || sender.isIPv6 {
      let receiver = try DatagramSocket(SocketAddress(ipAddress: host, port: 0)) { path, bytes, _ in
        arrived.add(bytes, TransportAddress(path.remote)?.host)
      }
      defer { receiver.close() }
      let address = try #require(TransportAddress(host, port: UInt16(receiver.port)))
      sender.send([Array(host.utf8)], to: try #require(sender.path(to: address)))
      #expect(blockUntil { arrived.hosts.contains(host) }, "\(arrived.hosts)")
    }
  }

  @Test func addressesOfIPv4AreThoseOfIPv4AtASocketOfBothFamilies() throws {
    let mapped = try #require(TransportAddress(try SocketAddress(ipAddress: "::ffff:192.0.2.7", port: 8)))
    #expect(mapped == TransportAddress("192.0.2.7", port: 8))
    let long = try #require(TransportAddress(try SocketAddress(ipAddress: "2001:db8::7", port: 8)))
    #expect(long.isIPv6 && long.host == "2001:db8::7")
  }

  @Test func browsersAreInformedThatHEVCDoesNotGoByWebRTC() throws {
    let asked = Counter()
    let peers = WebPeers(try SocketAddress(ipAddress: "127.0.0.1", port: 0)) { asked.add() }
    defer { peers.close() }
    peers.show(
      WebFrame(
        codec: .hevc, number: 1, isKeyFrame: true, captured: 0, arrived: 0, qp: nil, units: [[0x26, 1, 2]]))
    let refusal = #expect(throws: WebPeers.Refusal.self) { try peers.answer(Self.offer) }
    guard case .codec(.hevc)? = refusal else {
      Issue.record("refused for \(String(describing: refusal))")
      return
    }
    #expect(asked.value == 0 && peers.count == 0)
  }

  /// The offer of a browser, shortened.
  private static let offer = [
    "v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0", "m=video 9 UDP/TLS/RTP/SAVPF 96",
    "c=IN IP4 0.0.0.0", "a=mid:0", "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuv", "a=setup:actpass",
    "a=fingerprint:sha-256 " + repeatElement("AB", count: 32).joined(separator: ":"), "a=recvonly",
    "a=rtcp-mux",
    "a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f", "a=rtcp-fb:96 nack",
  ].map { $0 + "\r\n" }.joined()
}

/// The datagrams that sockets have received.
private final class Inbox: @unchecked Sendable {
  // Sendable: `lock` guards the list.
  private let lock = NSLock()
  private var list: [String] = []
  /// The texts that came from the addresses that they name.
  var hosts: [String] { lock.withLock { list } }

  func add(_ bytes: [UInt8], _ source: String?) {
    let text = String(decoding: bytes, as: UTF8.self)
    if text == source { lock.withLock { list.append(text) } }
  }
}

private final class Counter: @unchecked Sendable {
  // Sendable: `lock` guards the count.
  private let lock = NSLock()
  private var count = 0
  var value: Int { lock.withLock { count } }
  func add() { lock.withLock { count += 1 } }
}
