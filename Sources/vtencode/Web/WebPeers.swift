// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import NIOCore
import RealTimeTransport
import WebRTC

/// The browsers that are shown the pictures by WebRTC. Each has a UDP socket of its own at the
/// page's address, and is sent the frames as they came.
///
/// This end is a lite agent of ICE: it answers checks and sends to no address that a page only
/// names, so that no page can have it probe the network.
final class WebPeers: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  /// Why an offer is not answered.
  enum Refusal: Error {
    case tooMany
    /// No key frame has come yet that tells the stream's profile.
    case noPicture
    /// The stream is not H.264, which is all that is sent by WebRTC.
    case codec(VideoCodec)
    case offer(String)
    case system(String)
  }

  private let address: SocketAddress
  private let askForKeyFrame: @Sendable () -> Void
  private let lock = Lock()
  private var peers: [WebPeer] = []
  private var profile: H264Profile.Kind?
  /// Whether a key frame has shown a profile that WebRTC has no name for.
  private var isUnknownProfile = false
  private var codec = VideoCodec.h264
  private var hasAudio = false
  private var isClosed = false

  /// - Parameters:
  ///   - address: the page's address.
  ///   - askForKeyFrame: is called, on any thread, when a browser needs a key frame.
  init(_ address: SocketAddress, askForKeyFrame: @escaping @Sendable () -> Void) {
    self.address = address
    self.askForKeyFrame = askForKeyFrame
  }

  /// The number of browsers.
  var count: Int {
    lock.withLock {
      removeEnded()
      return peers.count
    }
  }

  /// Answers a browser's offer.
  /// - Parameter text: the session description.
  /// - Returns: the answer.
  /// - Throws: a ``Refusal``.
  func answer(_ text: String) throws(Refusal) -> String {
    let offer: PeerDescription
    do { offer = try PeerDescription(text) } catch { throw .offer(error.text) }
    let (codec, kind, isUnknown, offersAudio, isFull) = lock.withLock {
      removeEnded()
      return (
        self.codec, profile, isUnknownProfile, hasAudio, isClosed || peers.count >= WebServer.maxClients
      )
    }
    guard !isFull else { throw .tooMany }
    guard codec == .h264 else { throw .codec(codec) }
    guard let kind else {
      guard !isUnknown else { throw .offer("WebRTC does not support the H.264 profile of the stream") }
      askForKeyFrame()
      throw .noPicture
    }
    let peer: WebPeer
    do { peer = try WebPeer(address, askForKeyFrame: askForKeyFrame) } catch {
      throw .system((error as? Failure)?.message ?? "this machine's OpenSSL does not serve")
    }
    let answer: String
    do throws(VideoNegotiation.Failure) {
      answer = try peer.answer(offer, sending: kind, hasAudio: offersAudio)
    } catch {
      peer.close()
      throw .offer(error.text)
    }
    // Two that were answered at once are both counted now.
    let isLate = lock.withLock {
      guard !isClosed, peers.count < WebServer.maxClients else { return true }
      peers.append(peer)
      return false
    }
    if isLate {
      peer.close()
      throw .tooMany
    }
    return answer
  }

  /// Sends a frame to all browsers.
  func show(_ frame: WebFrame) {
    let all = lock.withLock {
      codec = frame.codec
      if codec == .h264, frame.isKeyFrame, let set = frame.units.first(where: { ($0.first ?? 0) & 31 == 7 }) {
        profile = H264Profile(parameterSet: set)?.kind
        isUnknownProfile = profile == nil
      }
      removeEnded()
      return peers
    }
    for peer in all { peer.show(frame) }
  }

  /// Lets browsers that come from now on have audio.
  func expectAudio() { lock.withLock { hasAudio = true } }

  /// Sends an audio packet to all browsers.
  /// - Parameters:
  ///   - packet: the packet.
  ///   - captured: when it was taken, by `SessionTime`.
  func show(_ packet: AudioReceiver.Packet, captured: Double) {
    for peer in lock.withLock({ peers }) { peer.show(packet, captured: captured) }
  }

  /// Ends all sessions.
  func close() {
    let all = lock.withLock {
      defer { peers = [] }
      isClosed = true
      return peers
    }
    for peer in all { peer.close() }
  }

  private func removeEnded() {
    let ended = peers.filter(\.hasEnded)
    guard !ended.isEmpty else { return }
    peers.removeAll(where: \.hasEnded)
    // Closing waits for the socket's thread, which may wait for this lock.
    for peer in ended { DispatchQueue.global().async { peer.close() } }
  }
}

/// One browser that is shown the pictures by WebRTC.
private final class WebPeer: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  /// The highest bit rate that is sent to a browser, in bits a second: the encoder's own limit is
  /// below.
  private static let maxRate = 100_000_000.0

  private let lock = Lock()
  private let askForKeyFrame: @Sendable () -> Void
  private let identity: DTLSIdentity
  private var transport: PeerTransport
  private var sender: VideoSender?
  private var audio: AudioSender?
  private var socket: DatagramSocket?
  private var limiter = KeyFrameRequestLimiter(maximum: 4)

  /// - Throws: a `Failure` if no port can be opened.
  init(_ address: SocketAddress, askForKeyFrame: @escaping @Sendable () -> Void) throws {
    self.askForKeyFrame = askForKeyFrame
    identity = try DTLSIdentity()
    // Replaced as soon as the port is known.
    transport = PeerTransport(
      identity, isServer: true, ice: .init(isControlling: false, candidates: []), at: SessionTime.now)
    var own = address
    own.port = 0
    let socket = try DatagramSocket(own) { [weak self] path, bytes, time in
      guard let address = TransportAddress(path.remote) else { return }
      self?.receive(bytes, from: address, at: time)
    }
    var candidates: [ICECandidate] = []
    if let bound = TransportAddress(address.ipAddress ?? "", port: UInt16(clamping: socket.port)),
      bound.isUnicast
    {
      candidates = [ICECandidate(.host, bound)]
    } else {
      candidates = PeerAddresses.candidates(socket, takesLoopback: true)
    }
    var configuration = ICEAgent.Configuration(isControlling: false, candidates: candidates)
    configuration.isLite = true
    let made = PeerTransport(identity, isServer: true, ice: configuration, at: SessionTime.now)
    lock.withLock {
      transport = made
      self.socket = socket
    }
    socket.every(milliseconds: 10) { [weak self] in self?.poll() }
  }

  /// Answers the browser's offer.
  /// - Throws: a `VideoNegotiation.Failure`.
  func answer(
    _ offer: PeerDescription, sending kind: H264Profile.Kind, hasAudio: Bool
  ) throws(VideoNegotiation.Failure) -> String {
    var random = SystemRandomNumberGenerator()
    let source: UInt32 = random.next()
    let path = lock.withLock { transport }
    var base = PeerDescription(
      identifier: random.next() >> 1, credentials: path.ice.credentials, fingerprints: [identity.fingerprint],
      setup: .passive)
    base.isLite = true
    base.candidates = path.ice.localCandidates
    base.hasAllCandidates = true
    guard offer.setup != .passive else {
      throw .mismatch("it leaves the beginning of DTLS to this end")
    }
    var (answer, configuration) = try VideoNegotiation.answer(
      to: offer, sending: kind, source: source, repairSource: source &+ 1, base: base)
    configuration.clock = SessionTime.clock
    configuration.rates.maximum = Self.maxRate
    configuration.rates.start = 5_000_000
    var heard = hasAudio ? AudioNegotiation.add(to: &answer, offer, source: source &+ 2) : nil
    heard?.clock = SessionTime.clock
    lock.withLock {
      audio = heard.map { AudioSender($0) }
      transport.setRemote(offer)
      sender = VideoSender(configuration)
    }
    return answer.text
  }

  var hasEnded: Bool {
    lock.withLock { transport.state != .connecting && transport.state != .connected }
  }

  /// Sends a frame. Where the browser or its line is too slow, none is sent up to the next key
  /// frame, as other pages shall not suffer for it.
  func show(_ frame: WebFrame) {
    exchange { [self] in
      let now = SessionTime.now
      guard transport.canSend(at: now), var sending = sender else { return false }
      if sending.isOverfull(at: now) { sending.requireKeyFrame() }
      if sending.wantsKeyFrame, !frame.isKeyFrame {
        sender = sending
        return limiter.countRequest(at: now)
      }
      sending.send(
        frame.units, isKeyFrame: frame.isKeyFrame, captured: frame.captured ?? frame.arrived, at: now)
      sender = sending
      return false
    }
  }

  func show(_ packet: AudioReceiver.Packet, captured: Double) {
    exchange { [self] in
      let now = SessionTime.now
      // A pause between packets is none that the sender has made; their length is not looked at.
      if transport.canSend(at: now) {
        audio?.send(
          packet.payload, position: packet.position, samples: OpusEncoding.rate / 50, captured: captured,
          at: now)
      }
      return false
    }
  }

  private func receive(_ bytes: [UInt8], from address: TransportAddress, at time: Double) {
    exchange { [self] in
      if case .control(let packets)? = transport.receive(bytes, from: address, at: time) {
        sender?.receive(packets, at: time)
        audio?.receive(packets, at: time)
      }
      return false
    }
  }

  private func poll() {
    exchange { [self] in
      let now = SessionTime.now
      transport.poll(at: now)
      sender?.poll(at: now)
      audio?.poll(at: now)
      guard transport.canSend(at: now), sender?.wantsKeyFrame == true else { return false }
      return limiter.countRequest(at: now)
    }
  }

  /// Tells the browser that the session ends, and closes the socket.
  func close() {
    exchange { [self] in
      audio?.sayGoodbye(at: SessionTime.now)
      sender?.sayGoodbye(at: SessionTime.now)
      return false
    }
    exchange { [self] in
      transport.close()
      return false
    }
    let open = lock.withLock {
      defer { socket = nil }
      return socket
    }
    open?.close()
  }

  /// Works under the lock, and sends the datagrams that result.
  /// - Parameter work: returns whether a key frame is to be asked for.
  private func exchange(_ work: () -> Bool) {
    let (outlet, asks) = lock.withLock {
      let asks = work()
      for (bytes, isControl) in (sender?.takeOutgoing() ?? []) + (audio?.takeOutgoing() ?? []) {
        transport.send(bytes, isControl: isControl, at: SessionTime.now)
      }
      for (bytes, to) in transport.takeOutgoing() {
        if let path = socket?.path(to: to) { socket?.enqueue(bytes, to: path) }
      }
      return (socket, asks)
    }
    outlet?.flush()
    if asks { askForKeyFrame() }
  }
}
