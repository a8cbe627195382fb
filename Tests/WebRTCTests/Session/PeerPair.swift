// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Testing

@testable import WebRTC

/// A sender and a receiver of pictures on a virtual clock, with a line between them that loses
/// packets as it is configured. Checks and the handshake of DTLS are not lost: the clock of the
/// latter's repetitions is OpenSSL's own.
final class PeerPair {
  let addresses: [TransportAddress]
  let peers: [PeerTransport]
  var sender: VideoSender
  var receiver: VideoReceiver
  private(set) var time = 0.0
  private var links: [NetworkLink]
  private var loss: LossProcess
  private var transit: [(at: Double, order: Int, bytes: [UInt8], from: Int)] = []
  private var order = 0
  /// The frames that were sent and received: their units by the RTP time stamp.
  var sentFrames: [[[UInt8]]] = []
  var received: [VideoReceiver.Frame] = []
  /// The time at which each of them was output.
  private(set) var times: [Double] = []
  /// Whether requests for lost packets vanish on the path.
  var losesRequests = false
  private var generator = SeededGenerator(seed: 3)

  init(
    loss: LossModel = .none, bandwidth: Double = 5_000_000, hasFeedback: Bool = true, hasRepair: Bool = true
  ) throws {
    addresses = [
      try #require(TransportAddress("192.0.2.1", port: 1000)),
      try #require(TransportAddress("192.0.2.2", port: 2000)),
    ]
    let identities = [try DTLSIdentity(), try DTLSIdentity()]
    let made = addresses
    peers = identities.enumerated().map { index, identity in
      PeerTransport(
        identity, isServer: index == 1,
        ice: .init(isControlling: index == 0, candidates: [ICECandidate(.host, made[index])]), at: 0)
    }
    var line = NetworkLink.Configuration(bandwidth: BandwidthSchedule(constant: bandwidth))
    line.delay = 0.02
    links = [NetworkLink(line, seed: 1), NetworkLink(line, seed: 2)]
    self.loss = LossProcess(loss, seed: 9)
    var offer = Self.description(peers[0], identities[0], .either)
    offer.media = [
      VideoNegotiation.media(
        .sendOnly, profiles: [H264Profile(.high, level: 31)], source: 10, repairSource: 11)
    ]
    var answer = Self.description(peers[1], identities[1], .passive)
    answer.media = offer.media
    answer.media[0].direction = .receiveOnly
    if !hasRepair { answer.media[0].formats.removeLast() }
    if !hasFeedback {
      answer.media[0].extensions[HeaderExtensionURI.transportSequence] = nil
      offer.media[0].extensions[HeaderExtensionURI.transportSequence] = nil
    }
    // Both read what the other has written.
    let (readOffer, readAnswer) = (try PeerDescription(offer.text), try PeerDescription(answer.text))
    peers[0].setRemote(readAnswer)
    peers[1].setRemote(readOffer)
    var configuration = try VideoNegotiation.accept(readAnswer, sending: offer).configuration
    configuration.rates.maximum = 4_000_000
    sender = VideoSender(configuration)
    var asked = answer
    asked.media[0].direction = .receiveOnly
    var given = readOffer
    given.setup = .active
    given.media[0].formats = answer.media[0].formats
    receiver = VideoReceiver(try VideoNegotiation.accept(given, receiving: asked, source: 20))
  }

  private static func description(
    _ peer: PeerTransport, _ identity: DTLSIdentity, _ setup: PeerDescription.Setup
  ) -> PeerDescription {
    var description = PeerDescription(
      identifier: 1, credentials: peer.ice.credentials, fingerprints: [identity.fingerprint], setup: setup)
    description.candidates = peer.ice.localCandidates
    return description
  }

  /// Sends a frame of random units at the rate that the sender allows.
  private func sendFrame() {
    guard peers[0].canSend(at: time), !sender.isOverfull(at: time) else { return }
    let isKey = sender.wantsKeyFrame
    let size = Int(sender.targetRate(at: time) / 30 / 8) * (isKey ? 3 : 1)
    let units = [
      [isKey ? 0x65 : 0x41] + (0..<max(size, 20)).map { _ in UInt8.random(in: 0...255, using: &generator) }
    ]
    sentFrames.append(units)
    sender.send(units, isKeyFrame: isKey, captured: time, at: time)
  }

  private func flush() {
    for (bytes, isControl) in sender.takeOutgoing() { peers[0].send(bytes, isControl: isControl, at: time) }
    for bytes in receiver.takeOutgoing() where !(losesRequests && hasRequest(bytes)) {
      peers[1].send(bytes, isControl: true, at: time)
    }
    for index in peers.indices {
      for (bytes, _) in peers[index].takeOutgoing() {
        guard PeerTransport.Kind(bytes) != .media || !loss.losesNext() else { continue }
        guard case .arrives(let at) = links[index].send(bytes: bytes.count + 28, at: time) else { continue }
        order += 1
        transit.append((at, order, bytes, index))
      }
    }
  }

  private func hasRequest(_ bytes: [UInt8]) -> Bool {
    (RTCPPacket.parse(bytes) ?? []).contains {
      if case .retransmissionRequest = $0 { true } else { false }
    }
  }

  private func decode(_ frame: VideoReceiver.Frame) -> Bool {
    received.append(frame)
    times.append(time)
    return true
  }

  /// Runs for a time, with thirty frames a second.
  func run(for seconds: Double, sends: Bool = true) throws {
    let end = time + seconds
    var nextFrame = time
    while time < end {
      if time >= nextFrame {
        nextFrame += 1.0 / 30
        if sends { sendFrame() }
      }
      for peer in peers { peer.poll(at: time) }
      sender.poll(at: time)
      if let trip = peers[1].ice.roundTrip, receiver.roundTrip != trip { receiver.note(roundTrip: trip) }
      try receiver.poll(at: time, decode: decode)
      flush()
      // Steps of a fixed length: what is due in between waits for a millisecond at most.
      time += 0.001
      let due = transit.filter { $0.at <= time }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
      transit.removeAll { $0.at <= time }
      for datagram in due {
        let to = 1 - datagram.from
        switch peers[to].receive(datagram.bytes, from: addresses[datagram.from], at: time) {
        case .media(let bytes): try receiver.receive(bytes, at: time, decode: decode)
        case .control(let packets):
          if to == 0 { sender.receive(packets, at: time) } else { receiver.receiveControl(packets, at: time) }
        case nil: break
        }
      }
    }
  }
}
