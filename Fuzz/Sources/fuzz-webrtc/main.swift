// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzDriver
import RealTimeTransport
import WebRTC

/// Reads arbitrary messages of STUN, candidates and records of DTLS, and writes what was read
/// again.
private func fuzzMessages(_ input: inout FuzzInput) {
  while !input.isEmpty {
    let data = [UInt8](input.piece())
    if let message = STUNMessage(data) {
      _ = message.isAuthentic(password: "a password of a peer")
      if message.unknownAttributes.isEmpty, let bytes = message.bytes(password: "a password of a peer") {
        let again = STUNMessage(bytes)
        require(again == message || bytes.count > STUNMessage.maxBytes, "another message after a round")
        require(
          again?.isAuthentic(password: "a password of a peer") ?? true, "what was written is not authentic")
      }
    }
    if let candidate = ICECandidate(String(decoding: data, as: UTF8.self)) {
      require(ICECandidate(candidate.line)?.address == candidate.address, "another candidate after a round")
    }
    let records = DTLSRecord.split(data[...])
    require(records.reduce(0) { $0 + $1.count } <= data.count, "records of more than there is")
    require(DTLSRecord.datagrams(data[...], mtu: 1200).reduce(0) { $0 + $1.count } <= data.count, "too much")
  }
}

/// Reads an arbitrary session description, answers it, and reads what was written.
private func fuzzDescriptions(_ input: inout FuzzInput) {
  let text = String(decoding: input.rest(), as: UTF8.self)
  guard let offer = try? PeerDescription(text) else { return }
  require(offer.candidates.count <= 64 && offer.media.count <= 32, "more than is kept")
  guard let again = try? PeerDescription(offer.text) else {
    // An answer that refuses all media has no transport to write.
    require(!offer.media.contains { !$0.isRejected }, "what was written cannot be read")
    return
  }
  require(again.media.count == offer.media.count, "other media after a round")
  _ = AudioNegotiation.accept(receiving: offer, source: 3)
  _ = AudioNegotiation.accept(offer, sending: again)
  guard
    var (answer, _) = try? VideoNegotiation.answer(
      to: offer, sending: .constrainedBaseline, source: 1, repairSource: 2, base: offer)
  else { return }
  if let audio = AudioNegotiation.add(to: &answer, offer, source: 3) {
    require((6000...510_000).contains(audio.maxRate ?? 6000), "a rate that Opus does not have")
  }
  require(answer.media.count == offer.media.count, "an answer has the offer's media")
  require((try? PeerDescription(answer.text)) != nil, "an answer cannot be read")
}

private let identity = try? DTLSIdentity()

/// Passes arbitrary datagrams to a path that waits for its peer, and to one end of the media.
private func fuzzPath(_ input: inout FuzzInput) {
  guard let identity, let own = TransportAddress("192.0.2.1", port: 1),
    let peer = TransportAddress("192.0.2.2", port: 2)
  else { return }
  var configuration = ICEAgent.Configuration(isControlling: false, candidates: [ICECandidate(.host, own)])
  configuration.isLite = input.byte() & 1 == 0
  let path = PeerTransport(identity, isServer: true, ice: configuration, at: 0)
  var description = PeerDescription(
    identifier: 1, credentials: .random(), fingerprints: [identity.fingerprint], setup: .active)
  description.candidates = [ICECandidate(.host, peer)]
  path.setRemote(description)
  var receiving = VideoReceiver.Configuration(source: 1, payloadTypes: [96])
  receiving.repairTypes = [97: 96]
  receiving.extensions.transportSequence = 3
  receiving.extensions.sendTime = 2
  var receiver = VideoReceiver(receiving)
  var sending = VideoSender.Configuration(source: 9, payloadType: 96)
  sending.extensions.transportSequence = 3
  var sender = VideoSender(sending)
  var listening = AudioReceiver.Configuration(source: 1, payloadTypes: [98])
  listening.repairTypes = [99]
  listening.retransmits = true
  var listener = AudioReceiver(listening)
  var speaking = AudioSender.Configuration(source: 8, payloadType: 98)
  speaking.retransmits = true
  var speaker = AudioSender(speaking)
  var time = 0.0
  while !input.isEmpty {
    let kind = input.byte()
    let data = [UInt8](input.piece())
    time += Double(kind & 31) / 1000
    require(path.receive(data, from: peer, at: time) == nil, "media without keys")
    path.poll(at: time)
    require(path.takeOutgoing().count < 8, "much is answered to little")
    try? receiver.receive(data, at: time) { $0.units.count % 2 == 0 }
    if let packets = RTCPPacket.parse(data) {
      sender.receive(packets, at: time)
      receiver.receiveControl(packets, at: time)
      listener.receiveControl(packets, at: time)
      speaker.receive(packets, at: time)
    }
    listener.receive(data, at: time)
    listener.poll(at: time)
    require(listener.takeOutgoing().count < 4, "much is asked for")
    for packet in listener.takePackets() {
      require(packet.payload.count <= AudioReceiver.maxPacket, "a packet that is too long")
      _ = listener.captureTime(of: packet.timestamp)
    }
    speaker.send([kind, 1, 2], position: Int64(time * 48_000), samples: 960, captured: time, at: time)
    speaker.poll(at: time)
    require(speaker.takeOutgoing().count < 1000, "much is sent for little")
    try? receiver.poll(at: time) { _ in true }
    require(receiver.takeOutgoing().count < 4, "much is asked for")
    sender.send([[0x65, kind, 1, 2]], isKeyFrame: sender.wantsKeyFrame, captured: time, at: time)
    sender.poll(at: time)
    require(sender.takeOutgoing().count < 2000, "much is sent for little")
    require(sender.targetRate(at: time) >= 20_000, "a rate at which nothing can be shown")
  }
}

runFuzzer { data, size in
  var input = FuzzInput(UnsafeBufferPointer(start: data, count: size))
  switch input.byte() % 3 {
  case 0: fuzzMessages(&input)
  case 1: fuzzDescriptions(&input)
  default: fuzzPath(&input)
  }
  return 0
}
