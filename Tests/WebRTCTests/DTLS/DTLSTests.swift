// SPDX-License-Identifier: Apache-2.0
import CSRTP
import Testing

@testable import WebRTC

@Suite struct DTLSTests {
  /// A client and a server whose datagrams are exchanged until there are none.
  private func exchange(
    _ client: DTLSEndpoint, _ server: DTLSEndpoint, change: ([UInt8]) -> [[UInt8]] = { [$0] }
  ) {
    client.startIfClient()
    for _ in 0..<32 {
      let forth = client.takeOutgoing().flatMap(change)
      for datagram in forth { server.receive(datagram) }
      let back = server.takeOutgoing().flatMap(change)
      for datagram in back { client.receive(datagram) }
      if forth.isEmpty, back.isEmpty { break }
    }
  }

  private func pair(
    client: [CertificateFingerprint]? = nil, server: [CertificateFingerprint]? = nil
  ) throws -> (DTLSEndpoint, DTLSEndpoint) {
    let (one, other) = (try DTLSIdentity(), try DTLSIdentity())
    return (
      DTLSEndpoint(one, isServer: false, fingerprints: client ?? [other.fingerprint]),
      DTLSEndpoint(other, isServer: true, fingerprints: server ?? [one.fingerprint])
    )
  }

  @Test func bothEndsAgreeOnKeys() throws {
    let (client, server) = try pair()
    exchange(client, server)
    #expect(client.state == .connected && server.state == .connected)
    let forth = try #require(client.protection), back = try #require(server.protection)
    #expect(forth.profile == "SRTP_AEAD_AES_128_GCM" && back.profile == forth.profile)
    let packet: [UInt8] = [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 1, 2, 3]
    let hidden = try #require(forth.protect(packet, isControl: false))
    #expect(hidden.count == packet.count + 16 && hidden.suffix(19).prefix(3) != packet.suffix(3))
    #expect(back.unprotect(hidden, isControl: false) == packet)
    // A replay.
    #expect(back.unprotect(hidden, isControl: false) == nil)
    // The other direction has keys of its own.
    let answer = try #require(back.protect(packet, isControl: false))
    #expect(answer != hidden && forth.unprotect(answer, isControl: false) == packet)
  }

  @Test func anotherCertificateIsRefused() throws {
    let wrongFingerprint = try DTLSIdentity().fingerprint
    let (client, server) = try pair(client: [wrongFingerprint])
    exchange(client, server)
    #expect(client.state == .failed(.wrongFingerprint) && client.protection == nil)
    let (second, third) = try pair(server: [wrongFingerprint])
    exchange(second, third)
    #expect(third.state == .failed(.wrongFingerprint) && third.protection == nil)
    let (fourth, fifth) = try pair(server: [])
    exchange(fourth, fifth)
    #expect(fifth.state == .failed(.wrongFingerprint))
  }

  @Test func aClosedAssociationIsReported() throws {
    let (client, server) = try pair()
    exchange(client, server)
    client.close()
    for datagram in client.takeOutgoing() { server.receive(datagram) }
    #expect(server.state == .closed)
  }

  @Test func damagedAndRepeatedDatagramsDoNoHarm() throws {
    let (client, server) = try pair()
    // Each comes truncated, changed and twice.
    exchange(client, server) { datagram in
      var changed = datagram
      changed[datagram.count / 2] ^= 1
      return [
        Array(datagram.prefix(datagram.count / 2)), datagram, datagram, [UInt8](repeating: 22, count: 20),
      ]
        + (datagram.count < 13 ? [] : [[23] + changed.dropFirst()])
    }
    #expect(client.state == .connected && server.state == .connected)
  }

  @Test func aFloodBeforeTheHandshakeEndsIt() throws {
    let (client, server) = try pair()
    client.startIfClient()
    let hello = try #require(client.takeOutgoing().first)
    for _ in 0..<2000 {
      server.receive(Array(hello.prefix(40)))
      server.receive([UInt8](repeating: 0x16, count: 600))
      _ = server.takeOutgoing()
    }
    guard case .failed = server.state else {
      Issue.record("the server still takes datagrams: \(server.state)")
      return
    }
  }

  @Test func fingerprintsAreReadAsTheyAreWritten() throws {
    let fingerprint = try DTLSIdentity().fingerprint
    #expect(CertificateFingerprint(fingerprint.text) == fingerprint && fingerprint.bytes.count == 32)
    #expect(CertificateFingerprint(fingerprint.text.lowercased()) == fingerprint)
    for bad in [
      "sha-1 " + repeatElement("AA", count: 20).joined(separator: ":"), "sha-256 AA:BB", "sha-256", "",
      "sha-256 " + repeatElement("GG", count: 32).joined(separator: ":"),
    ] { #expect(CertificateFingerprint(bad) == nil) }
  }

  @Test func recordsArePackedUpToTheLimit() {
    func record(_ size: Int) -> [UInt8] {
      [22, 254, 253] + [UInt8](repeating: 0, count: 8) + [UInt8(size >> 8), UInt8(size & 255)]
        + [UInt8](repeating: 7, count: size)
    }
    let bytes = record(500) + record(500) + record(300) + record(1300)
    #expect(DTLSRecord.datagrams(bytes[...], mtu: 1200).map(\.count) == [1026, 313, 1313])
    #expect(DTLSRecord.split(record(100).dropLast()).isEmpty)
  }
}
