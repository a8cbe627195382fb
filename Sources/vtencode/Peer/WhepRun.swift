// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import RealTimeTransport
import WebRTC

/// A session of `vtencode receive --whep`. It runs on one thread, except for the socket's.
final class WhepRun: @unchecked Sendable {
  // Sendable: one thread after the other uses it; the inbox has a lock of its own.
  struct Settings: Sendable {
    var client: SignallingClient
    var stun: SocketAddress?
    var place: ReceivedFile.Place?
    var maxFrames = Int.max
    var takesAudio = true
    var isQuiet = false
    var screen: LiveScreen.Kind?
    var snapshot: AuxiliaryFile?
  }

  /// How long a server may take until a path is found, and until media comes, in seconds.
  private static let patience = 20.0
  /// The time without a packet after which the sender counts as gone.
  private static let silence = 10.0

  private let settings: Settings
  private let inbox = DatagramInbox()
  private let output: ReceivedOutput
  private var receiver: VideoReceiver?
  private var audio: AudioReceiver?
  private var line: LiveLine
  private var meter = RateMeter()
  private var screen: LiveScreen?
  /// Plays the audio next to a window; nil if there is none.
  private var audioOutput: LiveAudioOutput?
  private var seen: (shown: Int, dropped: Int)?
  private var (lastMedia, end) = (0.0, 0.0)
  private var hasLeft = false
  private var profile: String?

  private var server: SignallingURL { settings.client.server }

  init(_ settings: Settings) throws {
    self.settings = settings
    output = ReceivedOutput(settings.place, maxFrames: settings.maxFrames)
    var isTerminal = false
    if case .terminal = settings.screen { isTerminal = true }
    line = LiveLine(isQuiet: settings.isQuiet || isTerminal)
    screen = try settings.screen.map { kind in try LiveScreen(kind) { [inbox] in inbox.close() } }
    Interrupt.shared.onRequest { [inbox] in inbox.wake() }
  }

  /// Receives until the session ends.
  /// - Returns: the error if it has ended too early; nil otherwise.
  /// - Throws: a `Failure` if there is no session, or the output fails.
  func run() throws -> Failure? {
    defer {
      audioOutput?.stop()
      if seen == nil { seen = screen?.close() }
    }
    let socket = try DatagramSocket.atAllAddresses { [inbox] path, bytes, time in
      inbox.enqueue(.init(path: path, bytes: bytes, time: time))
    }
    defer { socket.close() }
    var random = SystemRandomNumberGenerator()
    // Level 5.2 takes all that is usual; a server sends less where it has less.
    let profiles = [
      H264Profile(.high, level: 52), .init(.main, level: 52), .init(.constrainedBaseline, level: 52),
    ]
    let audioMedia = settings.takesAudio ? [AudioNegotiation.media(.receiveOnly)] : []
    var offer = try PeerOffer(
      socket, server: server, stun: settings.stun,
      media: [VideoNegotiation.media(.receiveOnly, profiles: profiles)] + audioMedia)
    let transport = offer.transport
    let gathered = SessionTime.now + 3
    while !transport.ice.isGatheringComplete, SessionTime.now < gathered, !Interrupt.shared.isRequested {
      try step(transport, socket, until: min(gathered, SessionTime.now + 0.1))
    }
    let answer = try settings.client.post(offer.text())
    defer { settings.client.delete(answer.session) }
    let description = try PeerOffer.read(answer.text, from: server)
    do {
      receiver = VideoReceiver(
        try VideoNegotiation.accept(description, receiving: offer.description, source: random.next()))
    } catch {
      throw Failure("\(server.place) has answered, but \(error.text)")
    }
    if settings.takesAudio,
      let configuration = AudioNegotiation.accept(receiving: description, source: random.next())
    {
      audio = AudioReceiver(configuration)
      output.audio = try ReceivedAudio()
      if screen?.isWindow == true { audioOutput = try LiveAudioOutput() }
    }
    transport.setRemote(description)
    defer {
      transport.close()
      flush(transport, socket)
    }
    let failure = try receive(transport, socket)
    line.finish()
    end = SessionTime.now
    if let file = settings.snapshot, output.frames > 0 { try screen?.snapshot(to: file) }
    seen = screen?.close()
    return failure
  }

  private func receive(_ transport: PeerTransport, _ socket: DatagramSocket) throws -> Failure? {
    let began = SessionTime.now
    var isOpen = false
    while !Interrupt.shared.isRequested, !inbox.isClosed, !output.isFull, !hasLeft {
      let now = SessionTime.now
      let due = min(
        transport.deadline(at: now), receiver?.deadline ?? .infinity, audio?.deadline ?? .infinity)
      try step(transport, socket, until: min(due, now + 0.1))
      switch transport.state {
      case .connecting:
        if SessionTime.now - began > Self.patience {
          return Failure("no path to \(server.place) was found in \(Int(Self.patience)) s")
        }
      case .connected:
        if !isOpen {
          isOpen = true
          lastMedia = SessionTime.now
          profile = transport.profile
          if !settings.isQuiet, screen?.isTerminal != true { Console.note("Receiving from \(server.place)") }
        }
        if SessionTime.now - lastMedia > (output.frames == 0 ? Self.patience : Self.silence) {
          return Failure("nothing has come from \(server.place) for \(Int(SessionTime.now - lastMedia)) s")
        }
      case .closed: return nil
      case .failed(let failure):
        return Failure("the session with \(server.place) has failed: \(failure.text)")
      }
      line.update(at: SessionTime.now) { progress() }
    }
    guard isOpen else { return Failure("there was no session", status: Interrupt.shared.status) }
    return nil
  }

  /// Takes what comes until a time, and does what is due.
  private func step(_ transport: PeerTransport, _ socket: DatagramSocket, until time: Double) throws {
    for datagram in inbox.dequeue(until: time) where !output.isFull {
      guard let address = TransportAddress(datagram.path.remote) else { continue }
      switch transport.receive(datagram.bytes, from: address, at: datagram.time) {
      case .media(let bytes):
        lastMedia = SessionTime.now
        // Feedback about the path is of all packets.
        try receiver?.receive(bytes, at: datagram.time, decode: decode)
        audio?.receive(bytes, at: datagram.time)
      case .control(let packets):
        receiver?.receiveControl(packets, at: datagram.time)
        audio?.receiveControl(packets, at: datagram.time)
        if receiver?.isGoodbye(packets) == true { hasLeft = true }
      case nil: break
      }
    }
    let now = SessionTime.now
    transport.poll(at: now)
    if let trip = transport.ice.roundTrip, receiver?.roundTrip != trip {
      receiver?.note(roundTrip: trip)
      audio?.note(roundTrip: trip)
    }
    try stepAudio(transport, at: now)
    if !output.isFull { try receiver?.poll(at: now, decode: decode) }
    for bytes in receiver?.takeOutgoing() ?? [] { transport.send(bytes, isControl: true, at: now) }
    flush(transport, socket)
    try output.showDecoded {
      captureTime(of: $0)
    } show: {
      try screen?.show($0.picture)
    }
  }

  private func stepAudio(_ transport: PeerTransport, at time: Double) throws {
    guard audio != nil else { return }
    audio?.poll(at: time)
    for packets in audio?.takeOutgoing() ?? [] {
      transport.send(RTCPPacket.compound(packets), isControl: true, at: time)
    }
    let packets = audio?.takePackets() ?? []
    audioOutput?.play(packets)
    try output.take(packets) {
      receiver?.captureTime(of: $0)
    } audioTime: {
      audio?.captureTime(of: $0)
    }
  }

  private func flush(_ transport: PeerTransport, _ socket: DatagramSocket) {
    for (bytes, to) in transport.takeOutgoing() {
      if let path = socket.path(to: to) { socket.send([bytes], to: path) }
    }
  }

  /// The time of capture, as far as the sender's clock is this machine's: no clock is compared.
  private func captureTime(of timestamp: UInt32) -> Double? {
    server.isLocal ? receiver?.captureTime(of: timestamp).map { SessionTime.clock.time(ofNTP: $0) } : nil
  }

  private func decode(_ frame: VideoReceiver.Frame) throws -> Bool {
    var descriptor = FrameDescriptor(
      number: UInt16(truncatingIfNeeded: frame.number), previous: UInt16(truncatingIfNeeded: frame.number - 1)
    )
    descriptor.isKeyFrame = frame.isKeyFrame
    return try output.decode(
      MediaReceiver.Frame(
        number: frame.number, timestamp: frame.timestamp, units: frame.units, descriptor: descriptor))
  }

  private func progress() -> String {
    let counts = receiver?.counts ?? .init()
    meter.add(counts.bytes + counts.recoveredBytes, at: SessionTime.now)
    let trip = receiver?.roundTrip.map { TextFormat.fixed($0 * 1000, 0) } ?? "-"
    return "\(TextFormat.plural(output.frames, "frame"))  \(TextFormat.bitRate(meter.rate * 8))  "
      + "loss \(TextFormat.fixed(lossShare * 100, 1)) %  rtt \(trip) ms"
  }

  private var lossShare: Double {
    let counts = receiver?.counts ?? .init()
    return Double(counts.lostPackets) / Double(max(counts.packets + counts.lostPackets, 1))
  }

  /// Completes the file, and returns the summary.
  /// - Throws: a `Failure` if the file cannot be written, or no picture was decoded.
  func finish() async throws -> SummaryTable {
    let path = try await output.finish()
    if path == nil, settings.place != nil {
      throw Failure("no picture came that could be decoded; nothing was written")
    }
    let counts = receiver?.counts ?? .init()
    let log = output.log
    let seconds = max(end - (log.times.first ?? end), 0)
    let gaps = zip(log.times, log.times.dropFirst()).map { $1 - $0 }.sorted()
    let frameRate = gaps.isEmpty ? 30 : 1 / max(gaps[gaps.count / 2], 0.005)
    let bits = Double((counts.bytes + counts.recoveredBytes) * 8)
    var table = SummaryTable(
      "from \(server.place), \(TextFormat.fixed(seconds, 1)) s\(path.map { ", written to \($0)" } ?? "")")
    table.row("shown", TextFormat.plural(output.frames, "frame"))
    table.addTimes(log, frameRate: frameRate, until: end)
    table.row(
      "network",
      "\(TextFormat.bitRate(bits / max(seconds, 0.001))), \(TextFormat.fixed(lossShare * 100, 1)) % lost, round trip "
        + (receiver?.roundTrip.map { "\(TextFormat.fixed($0 * 1000, 0)) ms" } ?? "not known"))
    table.row(
      "repair",
      "\(TextFormat.plural(counts.recoveredPackets, "packet")) came again; "
        + "\(TextFormat.plural(counts.requests, "request")) for a key frame")
    if let heard = audio?.counts {
      table.addAudio(heard, isWritten: output.writesAudio, isPlayed: audioOutput?.isPlaying == true)
    }
    if let profile { table.row("encryption", profile) }
    table.addScreen(seen)
    table.figure("shown", output.frames)
    table.figure("seconds", seconds)
    table.figure("lossShare", lossShare)
    table.figure("bits", bits)
    table.figure("recoveredPackets", counts.recoveredPackets)
    table.figure("requests", counts.requests)
    table.figure("incomplete", counts.incomplete)
    table.figure("unusable", counts.unusable)
    table.figure("decodeErrors", counts.decodeErrors)
    table.figure("roundTrip", receiver?.roundTrip)
    return table
  }
}
