// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import NIOCore
import RealTimeTransport

/// A session of `vtencode receive`. It runs on one thread, except for the socket's thread.
final class ReceiveRun: @unchecked Sendable {
  // Sendable: one thread after the other uses it. `stop` may be called from any thread.
  struct Settings: Sendable {
    var address: SocketAddress
    var secret: (any SharedSecret)?
    /// The codecs to take.
    var codecs = CallDecoder.codecs
    var place: ReceivedFile.Place?
    var maxFrames = Int.max
    var takesAudio = true
    var isQuiet = false
    var web: WebOptions.Place?
    var screen: LiveScreen.Kind?
    /// The file for a snapshot at the end; nil if none is wanted.
    var snapshot: AuxiliaryFile?
  }

  private let settings: Settings
  private let inbox = DatagramInbox()
  private let socket: DatagramSocket
  private let output: ReceivedOutput
  private var session: ReceiverSession
  private var peer: DatagramPath?
  private var hasNotedRefusal = false
  private var line: LiveLine
  private var meter = RateMeter()
  private var page: ReceivedPage?
  private var screen: LiveScreen?
  /// Plays the audio next to a window; nil if there is none.
  private var audioOutput: LiveAudioOutput?
  /// The numbers of pictures that the screen has shown and dropped.
  private var seen: (shown: Int, dropped: Int)?
  /// When the session ended, in seconds of `SessionTime`.
  private var end = 0.0

  /// Opens the socket, and the port of the web page.
  /// - Throws: a `Failure` if one of them, or the screen, cannot be opened.
  init(_ settings: Settings) throws {
    self.settings = settings
    output = ReceivedOutput(settings.place, maxFrames: settings.maxFrames)
    var random = SystemRandomNumberGenerator()
    var configuration = ReceiverSession.Configuration(
      clock: SessionTime.clock, source: random.next(), nonce: .random(using: &random))
    configuration.codecs = settings.codecs
    session = ReceiverSession(configuration, secret: settings.secret)
    var isTerminal = false
    if case .terminal = settings.screen { isTerminal = true }
    line = LiveLine(isQuiet: settings.isQuiet || isTerminal)
    socket = try DatagramSocket(settings.address) { [inbox] path, bytes, time in
      inbox.enqueue(.init(path: path, bytes: bytes, time: time))
    }
    do {
      page = try settings.web.map { place in try ReceivedPage(place) { [inbox] in inbox.wake() } }
      do {
        screen = try settings.screen.map { kind in try LiveScreen(kind) { [inbox] in inbox.close() } }
      } catch {
        page?.close()
        throw error
      }
    } catch {
      socket.close()
      throw error
    }
    Interrupt.shared.onRequest { [inbox] in inbox.wake() }
    Interrupt.shared.onRepeat { [inbox] in inbox.wake() }
    // Messages would appear within the pictures in the terminal.
    if !settings.isQuiet, !isTerminal {
      Console.note("Listening on \(settings.address.text); Ctrl-C ends it")
    }
  }

  /// The UDP port that it listens on.
  var port: Int { socket.port }

  /// Ends the session. It may be called from any thread.
  func stop() { inbox.close() }

  /// Receives until the session ends.
  /// - Returns: the error if the session ended too early; nil otherwise.
  /// - Throws: a `Failure` if the output or the screen fails.
  func run() throws -> Failure? {
    defer {
      page?.close()
      audioOutput?.stop()
      if seen == nil { seen = screen?.close() }
      socket.close()
    }
    do {
      try receive()
    } catch {
      // The sender is notified, so that it does not go on sending.
      endSession()
      throw error
    }
    line.finish()
    end = SessionTime.now
    if !output.isFull { try session.finish(decode: decode) }
    try showDecoded()
    endSession()
    if session.state == .waiting {
      return Failure("nobody has called", status: Interrupt.shared.status)
    }
    if let file = settings.snapshot { try screen?.snapshot(to: file) }
    seen = screen?.close()
    guard session.state == .silent else { return nil }
    return Failure(
      "the sender has said nothing for \(Int(SenderSession.silenceTime)) s; the network or the sender is gone"
    )
  }

  private var continues: Bool {
    !Interrupt.shared.isRequested && !inbox.isClosed && !output.isFull
      && (session.state == .waiting || session.state == .open)
  }

  private func receive() throws {
    while continues {
      let batch = inbox.dequeue(until: min(session.deadline, SessionTime.now + (page == nil ? 0.5 : 0.1)))
      page?.applyRequests(&session, at: SessionTime.now)
      for datagram in batch where !output.isFull && !Interrupt.shared.isRequested {
        if page?.shouldDrop(datagram.bytes) == true { continue }
        try receive(datagram)
      }
      // While datagrams wait to be processed, silence is measured up to the last one's arrival, so
      // that a slow decoder does not appear as a silent sender.
      let now = inbox.isEmpty ? SessionTime.now : batch.last?.time ?? SessionTime.now
      if !output.isFull { try session.poll(at: now, decode: decode) }
      try showDecoded()
      try takeAudio()
      page?.sendStatus(session, output, at: SessionTime.now)
      if let peer { socket.send(session.takeOutgoing(), to: peer) }
      line.update(at: SessionTime.now) { progress() }
    }
  }

  private func takeAudio() throws {
    let packets = session.takeAudio()
    guard settings.takesAudio else { return }
    page?.show(packets, at: SessionTime.now) { session.audioCaptureTime(of: $0) }
    audioOutput?.play(packets)
    try output.take(packets) {
      session.senderTime(of: $0)
    } audioTime: {
      session.senderAudioTime(of: $0)
    }
  }

  private func showDecoded() throws {
    try output.showDecoded {
      session.captureTime(of: $0)
    } show: {
      page?.show($0, session.codec ?? .h264)
      try screen?.show($0.picture)
    }
  }

  /// Sends a goodbye until it is answered, for at most a second, or only once after a second
  /// interrupt. If the sender has said goodbye, the session has answered it.
  private func endSession() {
    session.sayGoodbye(at: SessionTime.now)
    while let peer {
      socket.send(session.takeOutgoing(), to: peer)
      guard session.state == .open, !Interrupt.shared.isRepeated else { return }
      // `dequeue` does not wait if the queue is closed.
      if inbox.isClosed { SessionTime.sleep(until: SessionTime.now + 0.005) }
      for datagram in inbox.dequeue(until: session.deadline) where datagram.path.remote == peer.remote {
        try? session.receive(datagram.bytes, at: datagram.time) { _ in true }
      }
      try? session.poll(at: SessionTime.now) { _ in true }
    }
  }

  private func receive(_ datagram: DatagramInbox.Datagram) throws {
    if Greeting.isGreeting(datagram.bytes) {
      // During a session, only greetings from its sender's address are accepted.
      guard peer == nil || peer?.remote == datagram.path.remote else { return }
      let belongs = session.greet(datagram.bytes, at: datagram.time)
      socket.send(session.takeOutgoing(), to: datagram.path)
      noteRefusal(datagram.path)
      guard belongs else { return }
      if peer == nil, !settings.isQuiet, screen?.isTerminal != true {
        Console.note("Receiving from \(datagram.path.remote.text)")
      }
      if peer == nil {
        meter.add(0, at: SessionTime.now)
        if let codec = session.codec { output.expect(codec) }
        if session.hasAudio, settings.takesAudio {
          output.audio = try ReceivedAudio()
          page?.expectAudio()
          if screen?.isWindow == true { audioOutput = try LiveAudioOutput() }
        }
      }
      peer = datagram.path
    } else if datagram.path.remote == peer?.remote {
      try session.receive(datagram.bytes, at: datagram.time, decode: decode)
      socket.send(session.takeOutgoing(), to: datagram.path)
    }
  }

  /// Says once that a sender was refused.
  private func noteRefusal(_ path: DatagramPath) {
    guard !hasNotedRefusal, let codec = session.refusedCodec, !settings.isQuiet, screen?.isTerminal != true
    else { return }
    hasNotedRefusal = true
    let taken = settings.codecs.map(\.name).sorted().joined(separator: " and ")
    Console.note("\(path.remote.text) sends \(codec.name) and was refused, as \(taken) alone is taken here")
  }

  private func decode(_ frame: MediaReceiver.Frame) throws -> Bool { try output.decode(frame) }

  private func progress() -> String {
    guard session.state == .open else { return "waiting for a sender" }
    let counts = session.counts
    meter.add(counts.bytes + counts.recoveredBytes + counts.parityBytes, at: SessionTime.now)
    let trip = session.roundTrip.map { TextFormat.fixed($0 * 1000, 0) } ?? "-"
    let lost = Double(max(counts.lostPackets, 0)) / Double(max(counts.packets + counts.lostPackets, 1))
    let delay = output.log.delays.last.map { "  delay \(TextFormat.fixed($0 * 1000, 0)) ms" } ?? ""
    return "\(TextFormat.plural(counts.decoded, "frame"))  \(TextFormat.bitRate(meter.rate * 8))  "
      + "loss \(TextFormat.fixed(lost * 100, 1)) %  rtt \(trip) ms\(delay)"
  }

  /// Completes the file, and returns the summary.
  /// - Throws: a `Failure` if the file cannot be written or no picture was decoded.
  func finish() async throws -> SummaryTable {
    let path = try await output.finish()
    if path == nil, settings.place != nil, session.state != .waiting {
      throw Failure("no picture came that could be decoded; nothing was written")
    }
    let counts = session.counts
    let log = output.log
    let seconds = max(end - (log.times.first ?? end), 0)
    let sent = max(output.sentCount, output.frames)
    var table = SummaryTable(
      "from \(peer?.remote.text ?? "nobody"), \(TextFormat.fixed(seconds, 1)) s\(path.map { ", written to \($0)" } ?? "")"
    )
    let bits = Double((counts.bytes + counts.recoveredBytes + counts.parityBytes) * 8)
    let lost =
      Double(max(counts.lostPackets, 0)) / Double(max(counts.packets + max(counts.lostPackets, 0), 1))
    if inbox.droppedCount > 0 {
      table.row("flooded", "\(TextFormat.plural(inbox.droppedCount, "datagram")) more than could be taken")
    }
    table.row("shown", "\(TextFormat.grouped(output.frames)) of \(TextFormat.plural(sent, "frame"))")
    table.addTimes(log, frameRate: session.frameRate ?? 30, until: end)
    table.row(
      "network",
      "\(TextFormat.bitRate(bits / max(seconds, 0.001))), \(TextFormat.fixed(lost * 100, 1)) % lost, round trip "
        + (session.roundTrip.map { "\(TextFormat.fixed($0 * 1000, 0)) ms" } ?? "not known"))
    table.row(
      "repair",
      "\(TextFormat.plural(counts.recoveredPackets, "packet")) came again, \(counts.restoredPackets) made of others, "
        + "\(TextFormat.fixed(Double((counts.recoveredBytes + counts.parityBytes) * 8) / max(bits, 1) * 100, 1)) % of the bits; "
        + "\(TextFormat.plural(counts.requests, "request")) for a new picture")
    if session.hasAudio, settings.takesAudio {
      table.addAudio(
        session.audioCounts, isWritten: output.writesAudio, isPlayed: audioOutput?.isPlaying == true)
    }
    if session.refused > 0 {
      table.row("refused", "\(TextFormat.plural(session.refused, "datagram")) that were not the sender's")
    }
    page?.sum(&table)
    table.addScreen(seen)
    table.figure("shown", output.frames)
    table.figure("sent", sent)
    table.figure("seconds", seconds)
    table.figure("lossShare", lost)
    table.figure("bits", bits)
    addRepair(to: &table)
    return table
  }

  /// Adds the figures of the repair of losses.
  private func addRepair(to table: inout SummaryTable) {
    let counts = session.counts
    table.figure("recoveredPackets", counts.recoveredPackets)
    table.figure("recoveredBits", counts.recoveredBytes * 8)
    table.figure("restoredPackets", counts.restoredPackets)
    table.figure("parityBits", counts.parityBytes * 8)
    table.figure("requests", counts.requests)
    table.figure("incomplete", counts.incomplete)
    table.figure("unusable", counts.unusable)
    table.figure("decodeErrors", counts.decodeErrors)
    table.figure("refused", session.refused)
    table.figure("roundTrip", session.roundTrip)
  }
}
