// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import NIOCore
import RealTimeTransport

/// A session of `vtencode receive`, on one thread but for the socket's.
final class ReceiveRun: @unchecked Sendable {
  // Sendable: one thread after the other uses it.
  private let options: ReceiveOptions
  private let inbox = DatagramInbox()
  private let socket: DatagramSocket
  private let output: ReceivedOutput
  private var session: ReceiverSession
  private var peer: DatagramPath?
  private var line: LiveLine
  private var meter = RateMeter()
  /// When the session was over.
  private var end = 0.0

  /// Opens the socket.
  init(
    _ options: ReceiveOptions, address: SocketAddress, secret: (any SharedSecret)?, place: ReceivedFile.Place?
  ) throws {
    self.options = options
    output = ReceivedOutput(place, mostFrames: options.frames ?? .max)
    var random = SystemRandomNumberGenerator()
    let configuration = ReceiverSession.Configuration(
      clock: SessionTime.clock, source: random.next(), nonce: .random(using: &random))
    session = ReceiverSession(configuration, secret: secret)
    line = LiveLine(isQuiet: options.wire.quiet)
    socket = try DatagramSocket(address) { [inbox] path, bytes, time in
      inbox.put(.init(path: path, bytes: bytes, time: time))
    }
    Interrupt.shared.onRequest { [inbox] in inbox.wake() }
    if !options.wire.quiet {
      Console.note("Listening on \(address.text); Ctrl-C ends it")
    }
  }

  /// - Returns: Why the session ended too early, if it did.
  func run() throws -> Failure? {
    defer { socket.close() }
    while !Interrupt.shared.isRequested, session.state == .waiting || session.state == .open, !output.isFull {
      let batch = inbox.take(until: min(session.deadline, SessionTime.now + 0.5))
      for datagram in batch where !output.isFull && !Interrupt.shared.isRequested { try take(datagram) }
      // Who decodes more slowly than datagrams come has not heard nothing: they wait.
      let now = inbox.isEmpty ? SessionTime.now : batch.last?.time ?? SessionTime.now
      if !output.isFull { try session.poll(at: now, decode: decode) }
      output.settle { session.captureTime(of: $0) }
      if let peer { socket.send(session.takeOutgoing(), to: peer) }
      line.update(at: SessionTime.now) { progress() }
    }
    line.finish()
    end = SessionTime.now
    if !output.isFull { try session.finish(decode: decode) }
    output.settle { session.captureTime(of: $0) }
    session.sayGoodbye(at: SessionTime.now)
    if let peer { socket.send(session.takeOutgoing(), to: peer) }
    if session.state == .waiting {
      return Failure("nobody has called", status: Interrupt.shared.status)
    }
    guard session.state == .silent else { return nil }
    return Failure(
      "the sender has said nothing for \(Int(SenderSession.silenceTime)) s; the network or the sender is gone"
    )
  }

  private func take(_ datagram: DatagramInbox.Datagram) throws {
    if Greeting.isGreeting(datagram.bytes) {
      // Of a session that goes on, only the address that began it.
      guard peer == nil || peer?.remote == datagram.path.remote else { return }
      let belongs = session.greet(datagram.bytes, at: datagram.time)
      socket.send(session.takeOutgoing(), to: datagram.path)
      guard belongs else { return }
      if peer == nil, !options.wire.quiet { Console.note("Receiving from \(datagram.path.remote.text)") }
      peer = datagram.path
    } else if datagram.path.remote == peer?.remote {
      try session.take(datagram.bytes, at: datagram.time, decode: decode)
      socket.send(session.takeOutgoing(), to: datagram.path)
    }
  }

  private func decode(_ frame: MediaReceiver.Frame) throws -> Bool { try output.take(frame) }

  private func progress() -> String {
    guard session.state == .open else { return "waiting for a sender" }
    let counts = session.counts
    meter.add(counts.bytes + counts.recoveredBytes + counts.parityBytes, at: SessionTime.now)
    let trip = session.roundTrip.map { Wording.fixed($0 * 1000, 0) } ?? "-"
    let lost = Double(max(counts.lostPackets, 0)) / Double(max(counts.packets + counts.lostPackets, 1))
    let delay = output.log.delays.last.map { "  delay \(Wording.fixed($0 * 1000, 0)) ms" } ?? ""
    return "\(Wording.plural(counts.decoded, "frame"))  \(Wording.bitRate(meter.rate * 8))  "
      + "loss \(Wording.fixed(lost * 100, 1)) %  rtt \(trip) ms\(delay)"
  }

  /// Ends the file, and sums up.
  func finish() async throws -> SummaryTable {
    let path = try await output.finish()
    if path == nil, options.out != nil, session.state != .waiting {
      throw Failure("no picture came that could be decoded; nothing was written")
    }
    let counts = session.counts
    let log = output.log
    let frameRate = session.frameRate ?? 30
    let seconds = max(end - (log.times.first ?? end), 0)
    let sent = max(output.sentCount, output.frames)
    let still = log.standstill(frameRate: frameRate, until: end)
    var table = SummaryTable(
      "from \(peer?.remote.text ?? "nobody"), \(Wording.fixed(seconds, 1)) s\(path.map { ", written to \($0)" } ?? "")"
    )
    func milliseconds(_ share: Double) -> String {
      log.delay(share).map { Wording.fixed($0 * 1000, 0) } ?? "-"
    }
    let bits = Double((counts.bytes + counts.recoveredBytes + counts.parityBytes) * 8)
    let lost =
      Double(max(counts.lostPackets, 0)) / Double(max(counts.packets + max(counts.lostPackets, 0), 1))
    if inbox.droppedCount > 0 {
      table.row("flooded", "\(Wording.plural(inbox.droppedCount, "datagram")) more than could be taken")
    }
    table.row("shown", "\(Wording.grouped(output.frames)) of \(Wording.plural(sent, "frame"))")
    table.row(
      "stands still",
      "\(Wording.fixed(still.share * 100, 1)) % of the time, the longest \(Wording.fixed(still.longest, 2)) s"
    )
    table.row(
      "delay",
      log.delays.isEmpty
        ? "not known" : "\(milliseconds(0.5)) ms p50, \(milliseconds(0.95)) ms p95, capture to decoded")
    table.row(
      "network",
      "\(Wording.bitRate(bits / max(seconds, 0.001))), \(Wording.fixed(lost * 100, 1)) % lost, round trip "
        + (session.roundTrip.map { "\(Wording.fixed($0 * 1000, 0)) ms" } ?? "not known"))
    table.row(
      "repair",
      "\(Wording.plural(counts.recoveredPackets, "packet")) came again, \(counts.restoredPackets) made of others, "
        + "\(Wording.fixed(Double((counts.recoveredBytes + counts.parityBytes) * 8) / max(bits, 1) * 100, 1)) % of the bits; "
        + "\(Wording.plural(counts.requests, "request")) for a new picture")
    if session.refused > 0 {
      table.row("refused", "\(Wording.plural(session.refused, "datagram")) that were not the sender's")
    }
    table.figure("shown", output.frames)
    table.figure("sent", sent)
    table.figure("seconds", seconds)
    table.figure("standstillShare", still.share)
    table.figure("longestStandstill", still.longest)
    table.figure("delayP50", log.delay(0.5))
    table.figure("delayP95", log.delay(0.95))
    table.figure("lossShare", lost)
    table.figure("bits", bits)
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
    return table
  }
}
