// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import NIOCore
import RealTimeTransport
import VideoToolbox

/// A session of `vtencode send`. Pictures are read and encoded on the thread that calls `run`;
/// datagrams are received and resent on the socket's thread.
final class SendRun: @unchecked Sendable {
  // Sendable: `lock` guards the state that both threads use; only the thread that calls `run` uses
  // the rest.
  private let options: SendOptions
  private let source: SendSource
  private var pictures: any CallPictures
  private let address: SocketAddress
  /// The destination as the user gave it.
  private let destination: Endpoint
  /// The address for RTCP if it has a port of its own, as players expect (RFC 3550, section 11).
  private let control: SocketAddress?
  private let isSecured: Bool
  private var isDescribed = false
  private let encoder: CallEncoder
  /// The highest bit rate and the current target bit rate of the encoder, in bits a second.
  private let rate: Int
  private var current = 0
  private let sdp: AuxiliaryFile?
  private let lock = Lock()
  private var session: SenderSession
  private var socket: DatagramSocket?
  private var line: LiveLine
  private var meter = RateMeter()
  private var pump: AudioPump?
  private var skipped = 0
  /// The number of pictures that were dropped because the path was full.
  private var droppedForCongestion = 0
  private var dropped = 0
  private var encoderBusy = 0.0

  init(
    _ options: SendOptions, source: SendSource, pictures: any CallPictures, destination: Endpoint,
    address: SocketAddress, audio: (any CallAudio)?, secret: (any SharedSecret)?, description: AuxiliaryFile?
  ) throws {
    self.options = options
    sdp = description
    self.source = source
    self.pictures = pictures
    self.address = address
    self.destination = destination
    isSecured = secret != nil
    control = options.description.sdp == nil ? nil : address.nextPort
    rate =
      options.bitrate?.bitsPerSecond
      ?? BitRate.suggested(
        width: source.width, height: source.height, frameRate: source.frameRate, codec: options.codec
      ).bitsPerSecond
    var settings = CallEncoder.Settings(
      width: source.width, height: source.height, frameRate: source.frameRate, rate: rate, maxRate: rate)
    let recovery = options.losses.recovery ?? (options.description.sdp == nil ? .ltr : .keyframe)
    settings.codec = options.codec
    settings.recovery = recovery
    settings.effort = options.encoding.effort.value
    settings.threads = options.encoding.threads
    settings.maximumQP = options.encoding.maxQp
    settings.window = max(0.25, CallPlan.windowFrames / max(source.frameRate, 0.1))
    if recovery == .invalidate { settings.referenceCount = 8 }
    if let frames = options.losses.intraRefreshFrames { settings.intraRefreshFrames = frames }
    if options.encoding.profile == .high444 {
      settings.profile = kOVTProfileLevel_H264_High444Predictive_AutoLevel
    }
    // A profile that every browser decodes by WebRTC too. The stream goes no further than this
    // machine.
    if options.web.web != nil, options.codec == .avc1 {
      settings.profile = kVTProfileLevel_H264_ConstrainedBaseline_AutoLevel
    }
    encoder = try CallEncoder(settings)
    var random = SystemRandomNumberGenerator()
    var configuration = SenderSession.Configuration(source: random.next(), nonce: .random(using: &random))
    configuration.recovery = recovery
    configuration.isOneWay = options.description.sdp != nil
    // Leaves room for RTP headers and retransmissions in addition to the encoder's rate.
    configuration.rates.maximum = Double(rate) / 0.95
    configuration.rates.start = min(configuration.rates.maximum, 1_000_000)
    configuration.rates.minimum = min(configuration.rates.maximum, 50_000)
    configuration.frameRate = source.frameRate
    configuration.hasAudio = audio != nil
    configuration.stream.codec = options.codec.transportCodec
    configuration.stream.packetSize = options.losses.mtu
    configuration.stream.protects = options.losses.fec ?? (options.description.sdp == nil)
    configuration.stream.retransmits = options.losses.retransmission ?? (options.description.sdp == nil)
    configuration.stream.clock = SessionTime.clock
    configuration.stream.firstSequence = random.next() & 0x7FFF
    configuration.stream.timestampOffset = random.next()
    session = SenderSession(configuration, secret: secret, at: SessionTime.now)
    line = LiveLine(isQuiet: options.wire.progressOption.quiet)
    pump = try audio.map { audio in
      try AudioPump(audio, maxRate: nil) { [weak self] packet, captured in
        self?.exchange {
          $0.sendAudio(
            packet.bytes, position: packet.position, samples: packet.samples, captured: captured,
            at: SessionTime.now)
        }
      }
    }
  }

  func run() throws -> SummaryTable {
    let socket = try DatagramSocket(
      SocketAddress(ipAddress: address.protocol == .inet6 ? "::" : "0.0.0.0", port: 0)
    ) {
      [weak self] path, bytes, time in
      guard let self, path.remote == address else { return }
      // Datagrams from other addresses have been ignored.
      exchange { $0.receive(bytes, at: time) }
    }
    lock.withLock { self.socket = socket }
    defer {
      pump?.stop()
      // The peer is notified also when the source or the encoder fails.
      endSession()
      socket.close()
    }
    socket.every(milliseconds: 5) { [weak self] in self?.exchange { $0.poll(at: SessionTime.now) } }
    if options.description.sdp == nil { try waitForAnswer() }
    if !options.wire.progressOption.quiet { Console.note("Sending to \(address.text); Ctrl-C ends it") }
    let begin = SessionTime.now
    var start: Double?
    var sent = 0
    while sent < options.length.frames ?? .max, let picture = try pictures.next(),
      !source.hasEnded(at: picture.time)
    {
      // The clock begins with the first picture, which may take longer to decode.
      let due = picture.captured ?? (start ?? SessionTime.now - picture.time) + picture.time
      start = start ?? due - picture.time
      pump?.start(at: due - picture.time)
      guard wait(until: due) else { break }
      sent += 1
      // A machine that is too slow skips pictures instead of falling behind; a device skips them
      // itself.
      if picture.captured == nil, SessionTime.now - due > 2 / source.frameRate {
        skipped += 1
        continue
      }
      if lock.withLock({ session.isOverfull(at: SessionTime.now) }) {
        droppedForCongestion += 1
        continue
      }
      try send(picture, captured: due)
      // Players do not answer, so an unreachable address shows only in a system error.
      if options.description.sdp != nil, let failure = failure(of: socket) { throw failure }
      line.update(at: SessionTime.now) { progress() }
    }
    let end = SessionTime.now
    // Waits so that the receiver can still request packets of the last pictures.
    let trip = lock.withLock { session.roundTrip } ?? 0
    if options.description.sdp == nil { _ = wait(until: end + min(0.05 + 2 * trip, 0.5)) }
    line.finish()
    return try finish(after: end - (start ?? begin))
  }

  /// Sends a goodbye until it is answered, or for a second.
  private func endSession() {
    exchange { $0.sayGoodbye(at: SessionTime.now) }
    while lock.withLock({ session.state }) == .open { SessionTime.sleep(until: SessionTime.now + 0.005) }
  }

  /// Waits until a time by `SessionTime`.
  /// - Returns: false if the session has ended or is to end before.
  private func wait(until due: Double) -> Bool {
    while true {
      guard !Interrupt.shared.isRequested, lock.withLock({ session.state }) == .open else { return false }
      let now = SessionTime.now
      if now >= due { return true }
      SessionTime.sleep(until: min(due, now + 0.1))
    }
  }

  /// Changes the session under the lock, and sends the datagrams that result.
  private func exchange(_ work: (inout SenderSession) -> Void) {
    let outlet = lock.withLock {
      work(&session)
      for datagram in session.takeOutgoing() {
        let target = control.flatMap { RTCPPacket.isControl(datagram) ? $0 : nil } ?? address
        socket?.enqueue(datagram, to: DatagramPath(remote: target))
      }
      return socket
    }
    // Sending may block, so it happens outside of the lock.
    outlet?.flush()
  }

  private func waitForAnswer() throws {
    let end = SessionTime.now + (options.losses.wait?.value ?? 10)
    while lock.withLock({ session.state }) == .greeting, SessionTime.now < end {
      if Interrupt.shared.isRequested { throw Failure("interrupted", status: Interrupt.shared.status) }
      if let failure = failure(of: lock.withLock { socket }) { throw failure }
      Thread.sleep(forTimeInterval: 0.01)
    }
    let state = lock.withLock { session.state }
    guard state != .refused else {
      throw Failure(
        "the receiver at \(address.text) does not take \(options.codec.name); "
          + (options.codec == .hvc1
            ? "omit --codec, or start a vtencode receive there that takes it"
            : "send HEVC with --codec hevc, or start vtencode receive there without --codec"))
    }
    guard state == .open else {
      let refused = lock.withLock { session.counts.refused }
      throw Failure(
        refused > 0
          ? "the program that answers at \(address.text) is not vtencode receive; is another program at that "
            + "port?"
          : "nobody answers at \(destination.text); start vtencode receive --listen \(destination.port) there"
            + (isSecured ? ", with the same key" : ""))
    }
  }

  /// The error of an address to which nothing could be sent; nil if something was sent.
  private func failure(of socket: DatagramSocket?) -> Failure? {
    guard let socket, socket.acceptedCount == 0, let code = socket.lastError, code != EAGAIN, code != ENOBUFS
    else { return nil }
    let reason =
      switch code {
      case EACCES: "it is a broadcast address; give the address of one machine"
      case EPERM: "this machine's firewall forbids it"
      default: String(cString: strerror(code)).lowercased()
      }
    return Failure("cannot send to \(address.text): \(reason)")
  }

  /// - Parameter captured: when the picture was taken, or is due: by it the other end plays
  ///   pictures and audio together.
  private func send(_ picture: CallPicture, captured: Double) throws {
    let begin = SessionTime.now
    if let test = pictures as? TestPictures {
      test.stamp(picture.buffer, milliseconds: UInt64(Date().timeIntervalSince1970 * 1000))
    }
    let (requirements, attempt) = lock.withLock { session.takeRequirements(at: begin) }
    try followPath()
    let output = try encoder.encode(
      CallPicture(buffer: picture.buffer, time: captured),
      options: CallEncoder.options(requirements, lostTimes: attempt.lostTimes))
    encoderBusy += SessionTime.now - begin
    guard let output else {
      dropped += 1
      lock.withLock { session.drop(attempt) }
      return
    }
    try describe()
    exchange { $0.send(output.units, output.coded, attempt, captured: captured, at: SessionTime.now) }
  }

  /// Writes the session description once the encoder's parameter sets are known.
  private func describe() throws {
    guard let file = sdp, !isDescribed else { return }
    isDescribed = true
    var description = SessionDescription(
      port: UInt16(clamping: address.port ?? 0), payloadType: RTPPayloadType.media,
      codec: options.codec.transportCodec, parameterSets: encoder.parameterSets)
    description.address = address.ipAddress ?? description.address
    description.frameRate = source.frameRate
    description.name = "vtencode send"
    description.hasFeedback = false
    try file.write(Data(description.text.utf8))
  }

  /// Sets the encoder's bit rate to the session's target. Changes of less than 2 % are ignored.
  private func followPath() throws {
    let target = lock.withLock { Int(session.targetRate) }
    guard abs(target - current) > current / 50 else { return }
    current = target
    try encoder.setRate(target, maximum: target)
  }

  private func progress() -> String {
    let (counts, trip, loss) = lock.withLock { (session.counts, session.roundTrip, session.lossShare) }
    meter.add(counts.mediaBytes + counts.resentBytes + counts.parityBytes, at: SessionTime.now)
    return "\(TextFormat.plural(counts.frames, "frame"))  \(TextFormat.bitRate(meter.rate * 8))  "
      + "loss \(TextFormat.fixed(loss * 100, 1)) %  rtt \(trip.map { TextFormat.fixed($0 * 1000, 0) } ?? "-") ms"
  }

  private func finish(after seconds: Double) throws -> SummaryTable {
    let (state, counts, trip) = lock.withLock { (session.state, session.counts, session.roundTrip) }
    if state == .silent {
      throw Failure(
        "\(address.text) has not answered for \(Int(SenderSession.silenceTime)) s; the network or the receiver is gone"
      )
    }
    var table = SummaryTable(
      "\(source.name): \(source.width)x\(source.height) to \(address.text), \(TextFormat.fixed(seconds, 1)) s"
    )
    let bits = Double(counts.mediaBytes * 8)
    let extra = Double((counts.resentBytes + counts.repairBytes + counts.parityBytes) * 8)
    let took = encoderBusy / Double(max(counts.frames + dropped, 1)) * 1000
    table.row(
      "frames",
      "\(TextFormat.grouped(counts.frames)) sent, \(TextFormat.plural(counts.keyFrames, "key frame"))"
        + (dropped > 0 ? ", \(dropped) dropped by rate control" : "")
        + (droppedForCongestion > 0 ? ", \(droppedForCongestion) left out as the path was full" : "")
        + (skipped > 0 ? ", \(skipped) left out as this machine was too slow" : ""))
    table.row(
      "rate",
      "\(TextFormat.bitRate(bits / max(seconds, 0.001))), up to \(TextFormat.bitRate(Double(rate))) as the path takes; "
        + "\(TextFormat.fixed(took, 1)) ms a frame to encode")
    if let pump {
      let audio = lock.withLock { session.audioCounts }
      table.row("audio", AudioSummary.sent(audio, after: seconds, failure: pump.failure))
      table.figure("soundPackets", audio.packets)
      table.figure("soundBits", audio.bytes * 8)
    }
    table.row(
      "repair",
      "\(TextFormat.plural(counts.resentPackets, "packet")) sent again, \(TextFormat.plural(counts.repairs, "frame")) "
        + "made again, \(TextFormat.plural(counts.parityPackets, "packet")) ahead; \(TextFormat.fixed(extra / max(bits, 1) * 100, 1)) "
        + "% of the bits"
    )
    table.row("round trip", trip.map { "\(TextFormat.fixed($0 * 1000, 0)) ms" } ?? "not measured")
    if counts.ignoredRequests > 0 {
      table.row(
        "not repaired",
        "\(TextFormat.plural(counts.ignoredRequests, "packet")) that the receiver asked for beyond what repair may take"
      )
    }
    if counts.refused > 0 {
      table.row("refused", "\(TextFormat.plural(counts.refused, "datagram")) that were not the receiver's")
    }
    if state == .closed { table.row("end", "the receiver has left") }
    table.figure("frames", counts.frames)
    table.figure("keyFrames", counts.keyFrames)
    table.figure("dropped", dropped)
    table.figure("skipped", skipped)
    table.figure("withheld", droppedForCongestion)
    table.figure("seconds", seconds)
    table.figure("mediaBits", bits)
    table.figure("resentPackets", counts.resentPackets)
    table.figure("resentBits", counts.resentBytes * 8)
    table.figure("repairBits", counts.repairBytes * 8)
    table.figure("repairs", counts.repairs)
    table.figure("parityPackets", counts.parityPackets)
    table.figure("parityBits", counts.parityBytes * 8)
    table.figure("ignoredRequests", counts.ignoredRequests)
    table.figure("refused", counts.refused)
    table.figure("roundTrip", trip)
    table.figure("encodingSeconds", took / 1000)
    return table
  }
}
