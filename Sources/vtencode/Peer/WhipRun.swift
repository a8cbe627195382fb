// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import NIOCore
import RealTimeTransport
import VideoToolbox
import WebRTC

/// A session of `vtencode send --whip`. Pictures are read and encoded on the thread that calls
/// `run`; datagrams come and are resent on the socket's thread.
final class WhipRun: @unchecked Sendable {
  // Sendable: `lock` guards what both threads use; only the thread that calls `run` uses the rest.
  private let options: SendOptions
  private let source: SendSource
  private var pictures: any CallPictures
  private let audio: (any CallAudio)?
  private let client: SignallingClient
  private let stun: SocketAddress?
  private let rate: Int
  private let lock = Lock()
  private var transport: PeerTransport?
  private var sender: VideoSender?
  private var audioSender: AudioSender?
  private var pump: AudioPump?
  private var socket: DatagramSocket?
  private var line: LiveLine
  private var meter = RateMeter()
  private var current = 0
  private var (skipped, withheld, dropped) = (0, 0, 0)
  private var encoderBusy = 0.0

  init(
    _ options: SendOptions, source: SendSource, pictures: any CallPictures, audio: (any CallAudio)?,
    client: SignallingClient, stun: SocketAddress?
  ) {
    self.options = options
    self.source = source
    self.pictures = pictures
    self.audio = audio
    self.client = client
    self.stun = stun
    rate =
      options.bitrate?.bitsPerSecond
      ?? BitRate.suggested(
        width: source.width, height: source.height, frameRate: source.frameRate, codec: .avc1
      ).bitsPerSecond
    line = LiveLine(isQuiet: options.wire.progressOption.quiet)
  }

  /// The level of H.264 that the pictures need at least (ITU-T H.264, table A-1).
  private var level: Int {
    let blocks = ((source.width + 15) / 16) * ((source.height + 15) / 16)
    let perSecond = Double(blocks) * source.frameRate
    return blocks <= 3600 && perSecond <= 108_000
      ? 31 : blocks <= 8192 && perSecond <= 245_760 ? 40 : blocks <= 8704 && perSecond <= 522_240 ? 42 : 52
  }

  func run() throws -> SummaryTable {
    let socket = try DatagramSocket.atAllAddresses { [weak self] path, bytes, time in
      guard let address = TransportAddress(path.remote) else { return }
      self?.receive(bytes, from: address, at: time)
    }
    lock.withLock { self.socket = socket }
    defer { socket.close() }
    var random = SystemRandomNumberGenerator()
    let ssrc: UInt32 = random.next()
    let video = VideoNegotiation.media(
      .sendOnly, profiles: [.init(.high, level: level), .init(.constrainedBaseline, level: level)],
      source: ssrc, repairSource: ssrc &+ 1)
    let audioMedia = audio.map { _ in AudioNegotiation.media(.sendOnly, source: ssrc &+ 2) }
    var offer = try PeerOffer(
      socket, server: client.server, stun: stun, media: [video] + (audioMedia.map { [$0] } ?? []))
    lock.withLock { transport = offer.transport }
    socket.every(milliseconds: 5) { [weak self] in self?.poll() }
    _ = wait(for: 3) { offer.transport.ice.isGatheringComplete }
    let text = lock.withLock { offer.text() }
    let answer = try client.post(text)
    defer { client.delete(answer.session) }
    let (configuration, profile) = try accept(answer.text, offer)
    let encoder = try encoder(profile)
    try openAudio(answer.text, offer)
    lock.withLock { sender = VideoSender(configuration) }
    guard wait(for: 15, { offer.transport.state != .connecting }) else {
      if Interrupt.shared.isRequested { throw Failure("interrupted", status: Interrupt.shared.status) }
      throw Failure("no path to \(client.server.place) was found in 15 s; a firewall may be in the way")
    }
    try check()
    if !options.wire.progressOption.quiet {
      Console.note("Sending to \(client.server.place); Ctrl-C ends it")
    }
    defer { close() }
    return try send(with: encoder)
  }

  /// Prepares the audio, if the server takes it.
  private func openAudio(_ text: String, _ offer: PeerOffer) throws {
    guard let audio else { return }
    let answer = try PeerOffer.read(text, from: client.server)
    guard var configuration = AudioNegotiation.accept(answer, sending: offer.description) else {
      if !options.wire.progressOption.quiet {
        Console.note("\(client.server.place) takes no audio; the pictures are sent without it")
      }
      return
    }
    configuration.clock = SessionTime.clock
    lock.withLock { audioSender = AudioSender(configuration) }
    pump = try AudioPump(audio, maxRate: configuration.maxRate) { [weak self] packet, captured in
      self?.exchange { [weak self] in
        self?.audioSender?.send(
          packet.bytes, position: packet.position, samples: packet.samples, captured: captured,
          at: SessionTime.now)
      }
    }
  }

  /// Takes the server's answer.
  private func accept(
    _ text: String, _ offer: PeerOffer
  ) throws -> (VideoSender.Configuration, H264Profile) {
    let description = try PeerOffer.read(text, from: client.server)
    let accepted: (configuration: VideoSender.Configuration, profile: H264Profile)
    do { accepted = try VideoNegotiation.accept(description, sending: offer.description) } catch {
      throw Failure("\(client.server.place) has answered, but \(error.text)")
    }
    var configuration = accepted.configuration
    configuration.packetSize = options.losses.mtu
    configuration.clock = SessionTime.clock
    configuration.rates.maximum = Double(rate) / 0.95
    configuration.rates.start = min(configuration.rates.maximum, 1_000_000)
    configuration.rates.minimum = min(configuration.rates.maximum, 50_000)
    lock.withLock { offer.transport.setRemote(description) }
    return (configuration, accepted.profile)
  }

  private func encoder(_ profile: H264Profile) throws -> CallEncoder {
    var settings = CallEncoder.Settings(
      width: source.width, height: source.height, frameRate: source.frameRate, rate: rate, maxRate: rate)
    settings.recovery = .keyframe
    settings.effort = options.encoding.effort.value
    settings.threads = options.encoding.threads
    settings.maximumQP = options.encoding.maxQp
    settings.window = max(0.25, CallPlan.windowFrames / max(source.frameRate, 0.1))
    if !profile.decodes(.high) { settings.profile = kVTProfileLevel_H264_ConstrainedBaseline_AutoLevel }
    return try CallEncoder(settings)
  }

  /// Reads, encodes and sends the pictures at their times.
  private func send(with encoder: CallEncoder) throws -> SummaryTable {
    var start: Double?
    var sent = 0
    while sent < options.length.frames ?? .max, let picture = try pictures.next(),
      !source.hasEnded(at: picture.time)
    {
      let due = picture.captured ?? (start ?? SessionTime.now - picture.time) + picture.time
      start = start ?? due - picture.time
      pump?.start(at: due - picture.time)
      guard wait(until: due) else { break }
      sent += 1
      if picture.captured == nil, SessionTime.now - due > 2 / source.frameRate {
        skipped += 1
        continue
      }
      if lock.withLock({ sender?.isOverfull(at: SessionTime.now) ?? false }) {
        withheld += 1
        continue
      }
      try send(picture, captured: due, with: encoder)
      line.update(at: SessionTime.now) { progress() }
    }
    let end = SessionTime.now
    // So that the other end can still ask for packets of the last pictures.
    _ = wait(until: end + 0.3)
    line.finish()
    try check()
    return summary(after: end - (start ?? end))
  }

  /// - Parameter captured: when the picture was taken, or is due: by it the other end plays
  ///   pictures and audio together.
  private func send(_ picture: CallPicture, captured: Double, with encoder: CallEncoder) throws {
    let begin = SessionTime.now
    if let test = pictures as? TestPictures {
      test.stamp(picture.buffer, milliseconds: UInt64(Date().timeIntervalSince1970 * 1000))
    }
    let (wantsKey, target) = lock.withLock {
      (sender?.wantsKeyFrame ?? false, Int(sender?.targetRate(at: begin) ?? Double(rate)))
    }
    if abs(target - current) > current / 50 {
      current = target
      try encoder.setRate(target, maximum: target)
    }
    var requirements = RecoveryPolicy.FrameRequirements()
    requirements.forcesKeyFrame = wantsKey
    let output = try encoder.encode(
      CallPicture(buffer: picture.buffer, time: captured),
      options: CallEncoder.options(requirements, lostTimes: []))
    encoderBusy += SessionTime.now - begin
    guard let output else {
      dropped += 1
      return
    }
    exchange { [self] in
      sender?.send(
        output.units, isKeyFrame: output.coded.isKeyFrame, captured: captured, at: SessionTime.now)
    }
  }

  // MARK: - The path

  private func receive(_ bytes: [UInt8], from address: TransportAddress, at time: Double) {
    exchange { [self] in
      if case .control(let packets)? = transport?.receive(bytes, from: address, at: time) {
        sender?.receive(packets, at: time)
        audioSender?.receive(packets, at: time)
      }
    }
  }

  private func poll() {
    exchange { [self] in
      transport?.poll(at: SessionTime.now)
      sender?.poll(at: SessionTime.now)
      audioSender?.poll(at: SessionTime.now)
    }
  }

  private func close() {
    pump?.stop()
    exchange { [self] in
      audioSender?.sayGoodbye(at: SessionTime.now)
      sender?.sayGoodbye(at: SessionTime.now)
    }
    exchange { [self] in transport?.close() }
  }

  /// Works under the lock, and sends the datagrams that result.
  private func exchange(_ work: () -> Void) {
    let outlet = lock.withLock {
      work()
      guard let transport else { return socket }
      for (bytes, isControl) in (sender?.takeOutgoing() ?? []) + (audioSender?.takeOutgoing() ?? []) {
        transport.send(bytes, isControl: isControl, at: SessionTime.now)
      }
      for (bytes, to) in transport.takeOutgoing() {
        if let path = socket?.path(to: to) { socket?.enqueue(bytes, to: path) }
      }
      return socket
    }
    // Sending may block, so it happens outside of the lock.
    outlet?.flush()
  }

  private var isOpen: Bool { lock.withLock { transport?.state == .connected } }

  /// - Throws: a `Failure` if the path has failed.
  private func check() throws {
    if case .failed(let failure)? = lock.withLock({ transport?.state }) {
      throw Failure("the session with \(client.server.place) has failed: \(failure.text)")
    }
  }

  private func wait(for seconds: Double, _ condition: () -> Bool) -> Bool {
    let end = SessionTime.now + seconds
    while !lock.withLock(condition) {
      guard SessionTime.now < end, !Interrupt.shared.isRequested else { return false }
      SessionTime.sleep(until: SessionTime.now + 0.01)
    }
    return true
  }

  private func wait(until due: Double) -> Bool {
    while true {
      guard !Interrupt.shared.isRequested, isOpen else { return false }
      let now = SessionTime.now
      if now >= due { return true }
      SessionTime.sleep(until: min(due, now + 0.1))
    }
  }

  // MARK: - Messages

  private func progress() -> String {
    let (counts, trip, loss) = lock.withLock {
      (sender?.counts ?? .init(), sender?.roundTrip, sender?.lossShare ?? 0)
    }
    meter.add(counts.bytes + counts.resentBytes, at: SessionTime.now)
    return "\(TextFormat.plural(counts.frames, "frame"))  \(TextFormat.bitRate(meter.rate * 8))  "
      + "loss \(TextFormat.fixed(loss * 100, 1)) %  rtt \(trip.map { TextFormat.fixed($0 * 1000, 0) } ?? "-") ms"
  }

  private func summary(after seconds: Double) -> SummaryTable {
    let (state, counts, trip, profile, heard) = lock.withLock {
      (
        transport?.state, sender?.counts ?? .init(), sender?.roundTrip, transport?.profile,
        audioSender?.counts
      )
    }
    var table = SummaryTable(
      "\(source.name): \(source.width)x\(source.height) to \(client.server.place), \(TextFormat.fixed(seconds, 1)) s"
    )
    let bits = Double(counts.bytes * 8)
    table.row(
      "frames",
      "\(TextFormat.grouped(counts.frames)) sent, \(TextFormat.plural(counts.keyFrames, "key frame"))"
        + (dropped > 0 ? ", \(dropped) dropped by rate control" : "")
        + (withheld > 0 ? ", \(withheld) left out as the path was full" : "")
        + (skipped > 0 ? ", \(skipped) left out as this machine was too slow" : ""))
    let took = encoderBusy / Double(max(counts.frames + dropped, 1)) * 1000
    table.row(
      "rate",
      "\(TextFormat.bitRate(bits / max(seconds, 0.001))), up to \(TextFormat.bitRate(Double(rate))) as the path takes; "
        + "\(TextFormat.fixed(took, 1)) ms a frame to encode")
    if let heard {
      table.row("audio", AudioSummary.sent(heard, after: seconds, failure: pump?.failure))
      table.figure("soundPackets", heard.packets)
      table.figure("soundBits", heard.bytes * 8)
    }
    table.row("repair", "\(TextFormat.plural(counts.resentPackets, "packet")) sent again")
    table.row("round trip", trip.map { "\(TextFormat.fixed($0 * 1000, 0)) ms" } ?? "not measured")
    if let profile { table.row("encryption", profile) }
    if state == .closed { table.row("end", "the other end has left") }
    table.figure("frames", counts.frames)
    table.figure("keyFrames", counts.keyFrames)
    table.figure("dropped", dropped)
    table.figure("skipped", skipped)
    table.figure("withheld", withheld)
    table.figure("seconds", seconds)
    table.figure("mediaBits", bits)
    table.figure("resentPackets", counts.resentPackets)
    table.figure("resentBits", counts.resentBytes * 8)
    table.figure("requests", counts.requests)
    table.figure("ignoredRequests", counts.ignoredRequests)
    table.figure("roundTrip", trip)
    table.figure("encodingSeconds", took / 1000)
    return table
  }
}
