// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import WebRTC

/// Two agents on a virtual clock; each datagram takes ten milliseconds.
struct AgentPair {
  let addresses: [TransportAddress]
  var agents: [ICEAgent]
  var time = 0.0
  var transit: [(at: Double, bytes: [UInt8], from: TransportAddress, to: TransportAddress)] = []
  var sent = 0
  /// Which datagrams are lost.
  var loses: (_ index: Int, _ from: Int) -> Bool = { _, _ in false }

  init(
    lite: Bool = false, bothControl: Bool = false, knowsCandidates: Bool = true,
    change: (inout ICEAgent.Configuration) -> Void = { _ in }
  ) throws {
    addresses = [
      try #require(TransportAddress("192.0.2.1", port: 1000)),
      try #require(TransportAddress("192.0.2.2", port: 2000)),
    ]
    var configurations = addresses.enumerated().map { index, address in
      ICEAgent.Configuration(
        isControlling: index == 0 || bothControl, candidates: [ICECandidate(.host, address)])
    }
    configurations[1].isLite = lite
    change(&configurations[0])
    agents = configurations.map { ICEAgent($0, at: 0) }
    let credentials = agents.map(\.credentials)
    agents[0].setRemote(credentials[1], isLite: lite)
    agents[1].setRemote(credentials[0], isLite: false)
    agents[0].add(ICECandidate(.host, addresses[1]))
    // Without it the second agent learns the address from the first one's check.
    if knowsCandidates { agents[1].add(ICECandidate(.host, addresses[0])) }
  }

  mutating func run(until end: Double) {
    while true {
      for index in agents.indices {
        agents[index].poll(at: time)
        for (bytes, to) in agents[index].takeOutgoing() {
          defer { sent += 1 }
          if !loses(sent, index) { transit.append((time + 0.01, bytes, addresses[index], to)) }
        }
      }
      let next = min(transit.map(\.at).min() ?? .infinity, agents.map(\.deadline).min() ?? .infinity)
      guard next <= end else { break }
      // A deadline that stays in the past would be an endless loop; time always advances a little.
      time = max(next, time + 1e-4)
      let due = transit.filter { $0.at <= time }
      transit.removeAll { $0.at <= time }
      for datagram in due {
        guard let index = addresses.firstIndex(of: datagram.to) else { continue }
        agents[index].receive(datagram.bytes, from: datagram.from, at: time)
      }
    }
    time = end
  }
}

@Suite struct ICETests {
  @Test(arguments: [true, false]) func twoAgentsMeet(knowsCandidates: Bool) throws {
    var pair = try AgentPair(knowsCandidates: knowsCandidates)
    pair.run(until: 1)
    #expect(pair.agents.map(\.state) == [.connected, .connected])
    #expect(pair.agents[0].selected == pair.addresses[1] && pair.agents[1].selected == pair.addresses[0])
    #expect(pair.agents.allSatisfy { $0.refused == 0 && $0.hasConsent(at: 1) })
    #expect(abs((pair.agents[0].roundTrip ?? 0) - 0.02) < 0.001)
  }

  @Test func aLiteAgentAnswersAndNeverAsks() throws {
    var pair = try AgentPair(lite: true)
    var asked = 0
    pair.agents[1].poll(at: 0)
    asked += pair.agents[1].takeOutgoing().count
    #expect(asked == 0)
    pair.run(until: 60)
    #expect(pair.agents.map(\.state) == [.connected, .connected])
    #expect(pair.agents[1].hasConsent(at: 60))
  }

  @Test func aConflictOfRolesIsSettled() throws {
    var pair = try AgentPair(bothControl: true)
    pair.run(until: 3)
    #expect(pair.agents.map(\.state) == [.connected, .connected])
    #expect(pair.agents[0].isControlling != pair.agents[1].isControlling)
  }

  @Test func lossesDelayAndDoNotPrevent() throws {
    var pair = try AgentPair()
    pair.loses = { index, _ in index < 6 || index % 3 == 0 }
    pair.run(until: 15)
    #expect(pair.agents.map(\.state) == [.connected, .connected])
  }

  @Test func consentIsAskedForWithNewNumbersAndExpires() throws {
    var pair = try AgentPair()
    pair.run(until: 1)
    let before = pair.sent
    pair.run(until: 61)
    // Each asks some twelve times a minute, and each request is answered.
    #expect((36...62).contains(pair.sent - before))
    #expect(pair.agents.allSatisfy { $0.hasConsent(at: 61) })
    // From now on nothing of the second one arrives.
    pair.loses = { _, from in from == 1 }
    pair.run(until: 80)
    #expect(pair.agents[0].hasConsent(at: 80))
    pair.run(until: 120)
    #expect(pair.agents[0].state == .failed && !pair.agents[0].hasConsent(at: 120))
  }

  @Test func nobodyMeansFailure() throws {
    var pair = try AgentPair()
    pair.loses = { _, _ in true }
    pair.run(until: 40)
    #expect(pair.agents.map(\.state) == [.failed, .failed])
  }

  @Test func unknownAddressIsNotAnswered() throws {
    var pair = try AgentPair()
    pair.run(until: 1)
    let unknownAddress = try #require(TransportAddress("198.51.100.9", port: 9))
    var request = STUNMessage(.request)
    request.username = "\(pair.agents[0].credentials.fragment):\(pair.agents[1].credentials.fragment)"
    request.nominates = true
    request.controlling = .max
    for password in ["guessed", pair.agents[1].credentials.password] {
      let bytes = try #require(request.bytes(password: password))
      pair.agents[0].receive(bytes, from: unknownAddress, at: 1)
    }
    pair.agents[0].receive(try #require(request.bytes(password: nil)), from: unknownAddress, at: 1)
    #expect(pair.agents[0].refused == 3 && pair.agents[0].takeOutgoing().isEmpty)
    #expect(pair.agents[0].selected == pair.addresses[1])
  }

  @Test func answersMustBeOfThePeerAndOfItsAddress() throws {
    var pair = try AgentPair()
    pair.agents[0].poll(at: 0)
    let (bytes, target) = try #require(pair.agents[0].takeOutgoing().first)
    let request = try #require(STUNMessage(bytes))
    let response = STUNMessage(.success, transaction: request.transaction)
    let good = try #require(response.bytes(password: pair.agents[1].credentials.password))
    let forged = try #require(response.bytes(password: pair.agents[0].credentials.password))
    let elsewhere = try #require(TransportAddress("198.51.100.9", port: 9))
    pair.agents[0].receive(forged, from: target, at: 0.01)
    pair.agents[0].receive(good, from: elsewhere, at: 0.01)
    #expect(pair.agents[0].refused == 2 && !pair.agents[0].knows(target) && !pair.agents[0].knows(elsewhere))
    pair.agents[0].receive(good, from: target, at: 0.02)
    #expect(pair.agents[0].knows(target))
    // The same answer again proves nothing.
    pair.agents[0].receive(good, from: target, at: 0.03)
    #expect(pair.agents[0].refused == 3)
  }

  @Test func aServerTellsTheAddressBehindATranslator() throws {
    let server = try #require(TransportAddress("203.0.113.5", port: 3478))
    let outside = try #require(TransportAddress("198.51.100.77", port: 7777))
    var pair = try AgentPair { $0.server = server }
    let asked = pair.agents[0].takeOutgoing().filter { $0.to == server }
    let request = try #require(asked.first.flatMap { STUNMessage($0.bytes) })
    #expect(!pair.agents[0].isGatheringComplete && !request.hasIntegrity)
    var response = STUNMessage(.success, transaction: request.transaction)
    response.mappedAddress = outside
    pair.agents[0].receive(try #require(response.bytes(password: nil)), from: server, at: 0.1)
    #expect(pair.agents[0].isGatheringComplete)
    let found = try #require(pair.agents[0].localCandidates.last)
    #expect(found.kind == .serverReflexive && found.address == outside && found.related == pair.addresses[0])
    #expect(ICECandidate(found.line)?.address == outside)
  }

  @Test func aFloodOfCandidatesIsBounded() throws {
    var pair = try AgentPair()
    for index in 0..<10_000 {
      let address = try #require(
        TransportAddress(bytes: [10, 0, UInt8(index >> 8), UInt8(index & 255)], port: 5))
      pair.agents[0].add(ICECandidate(.host, address))
    }
    pair.loses = { _, _ in true }
    pair.run(until: 31)
    // Each of at most 64 addresses is asked six times.
    #expect(pair.sent < 2 * 64 * 6)
    #expect(pair.agents[0].state == .failed)
  }

  @Test func linesOfCandidates() throws {
    let line =
      "candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 10.0.0.1 rport 46154 generation 0"
    let candidate = try #require(ICECandidate(line))
    #expect(candidate.kind == .serverReflexive && candidate.priority == 1_677_729_535)
    for bad in [
      "candidate:1 2 udp 1 192.0.2.1 1 typ host", "candidate:1 1 tcp 1 192.0.2.1 9 typ host tcptype active",
      "candidate:1 1 udp 1 0b6a1a5e.local 9 typ host", "candidate:1 1 udp 0 192.0.2.1 9 typ host",
      "candidate:",
      "candidate:1 1 udp 1 224.0.0.1 9 typ host", "candidate:1 1 udp 1 192.0.2.1 99999 typ host",
    ] { #expect(ICECandidate(bad) == nil, "\(bad)") }
    // The recommended values of RFC 8445, 5.1.2.1.
    #expect(ICECandidate(.host, candidate.address).priority == 126 << 24 | 65_535 << 8 | 255)
  }
}
