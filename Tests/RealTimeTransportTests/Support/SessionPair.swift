// SPDX-License-Identifier: Apache-2.0
@testable import RealTimeTransport

/// The references of an encoder, and when it must do without.
struct ModelEncoder {
  private var references: [Double] = []
  private var acknowledged = false
  private var tokens: Set<Int64> = []

  /// - Returns: Whether the frame is a key frame.
  mutating func encode(
    _ requirements: RecoveryPolicy.FrameRequirements, _ attempt: FrameSequencer.Attempt, at time: Double,
    token: Int64?
  ) -> Bool {
    if requirements.acknowledged.contains(where: tokens.contains) { acknowledged = true }
    if let first = attempt.lostTimes.filter({ references.contains($0) }).min() {
      references.removeAll { $0 >= first }
    }
    let isKey =
      references.isEmpty || requirements.forcesKeyFrame || requirements.forcesRefresh && !acknowledged
    if isKey {
      references.removeAll()
      tokens.removeAll()
      acknowledged = false
    }
    if let token { tokens.insert(token) }
    references = Array((references + [time]).suffix(8))
    return isKey
  }
}

/// A line that calls may share: a queue, and what it carried.
final class TestLine {
  var link: NetworkLink
  /// The queueing delay of each packet.
  fileprivate(set) var waits: [(time: Double, wait: Double)] = []

  init(_ configuration: NetworkLink.Configuration, seed: UInt64) {
    link = NetworkLink(configuration, seed: seed)
  }
}

/// Both ends of a call under the simulator's clock, with made-up frames.
final class SessionPair {
  let loop: EventLoop
  var sender: SenderSession
  var receiver: ReceiverSession
  private let forth: TestLine
  private var back: NetworkLink
  /// Frames that the receiver gave out, with the age of their pictures.
  var shown: [(number: Int64, time: Double, delay: Double?)] = []
  var sentTimes: [Double] = []
  var keyFrames = 0
  /// The packets sent before the receiver had answered.
  var early: [[UInt8]] = []
  /// Changes, or drops, what goes forth.
  var meddle: ([UInt8]) -> [[UInt8]] = { [$0] }
  /// From when on nothing gets through any more, either way.
  var cut = Double.infinity
  /// The receiver's clock, in seconds.
  let ahead: Double
  /// Sees what is sent, and which way.
  var packetObserver: ([UInt8], _ isForth: Bool, Double) -> Void = { _, _, _ in }
  /// Changes what the receiver says.
  var answers: ([RTCPPacket]) -> [RTCPPacket] = { $0 }
  /// Frames are as large as the sender's rate says, in the mean, and left out where the path is
  /// full.
  var followsRate = false
  /// By how much of their size frames differ from the mean, at most.
  var spread = 0.3
  private var sizes: SeededGenerator
  private(set) var withheld = 0
  /// The queueing delay of each packet of all calls.
  var waits: [(time: Double, wait: Double)] { forth.waits }
  /// Bits of this call when they were through the line.
  private(set) var carried: [(time: Double, bits: Int)] = []
  /// Seconds that a datagram is on its way forth behind the line, beyond the line's own delay, and
  /// as much back.
  private let distance: Double
  /// When it begins, in seconds.
  private let begin: Double
  private let codec: VideoCodec
  /// The NAL units of the frames that were sent, and of those that the receiver gave out.
  private(set) var units: (sent: [[[UInt8]]], shown: [[[UInt8]]]) = ([], [])

  init(
    delay: Double = 0.02, jitter: Double = 0, loss: LossModel = .none, ahead: Double = 0,
    bandwidth: BandwidthSchedule = .init(constant: 4_000_000),
    recovery: RecoveryMode = .ltr, seed: UInt64 = 1, sharing other: SessionPair? = nil, start: Double = 0,
    distance: Double = 0, taking codecs: Set<VideoCodec> = Set(VideoCodec.allCases),
    _ change: (inout SenderSession.Configuration) -> Void = { _ in }
  ) {
    self.ahead = ahead
    self.distance = distance
    begin = start
    loop = other?.loop ?? EventLoop()
    sizes = SeededGenerator(seed: seed)
    var configuration = SenderSession.Configuration(source: 0x1000, nonce: .init([1, 2, 3]))
    configuration.recovery = recovery
    change(&configuration)
    sender = SenderSession(configuration, at: start)
    let clock = MediaClock(start: MediaClock.simulated.start + ahead)
    var heard = ReceiverSession.Configuration(clock: clock, source: 0x2000, nonce: .init([9, 8, 7]))
    heard.codecs = codecs
    receiver = ReceiverSession(heard)
    codec = configuration.stream.codec
    var line = NetworkLink.Configuration(bandwidth: bandwidth)
    line.delay = delay
    line.loss = loss
    line.jitter = jitter
    line.reorders = jitter > 0
    forth = other?.forth ?? TestLine(line, seed: seed)
    line.loss = .none
    back = NetworkLink(line, seed: seed + 100)
  }

  func flush() {
    for bytes in sender.takeOutgoing() {
      packetObserver(bytes, true, loop.now)
      if sender.state == .greeting, !Greeting.isGreeting(bytes) { early.append(bytes) }
      forth.waits.append((loop.now, forth.link.queueingDelay(at: loop.now)))
      guard case .arrives(let time) = forth.link.send(bytes: bytes.count + 28, at: loop.now) else { continue }
      carried.append((time - forth.link.configuration.delay, (bytes.count + 28) * 8))
      guard loop.now < cut else { continue }
      for piece in meddle(bytes) { loop.schedule(at: time + distance) { [self] in try arrive(piece) } }
    }
    for bytes in receiver.takeOutgoing() {
      packetObserver(bytes, false, loop.now)
      guard loop.now < cut, case .arrives(let time) = back.send(bytes: bytes.count + 28, at: loop.now) else {
        continue
      }
      loop.schedule(at: time + distance) { [self] in
        let said = Greeting.isGreeting(bytes) ? nil : RTCPPacket.parse(bytes).map(answers)
        sender.receive(said.map(RTCPPacket.compound) ?? bytes, at: loop.now)
        flush()
      }
    }
  }

  private func arrive(_ bytes: [UInt8]) throws {
    if Greeting.isGreeting(bytes) {
      _ = receiver.greet(bytes, at: loop.now)
    } else {
      var frames: [MediaReceiver.Frame] = []
      try receiver.receive(bytes, at: loop.now) {
        frames.append($0)
        return true
      }
      show(frames)
    }
    flush()
  }

  private func show(_ frames: [MediaReceiver.Frame]) {
    for frame in frames {
      shown.append((frame.number, loop.now, receiver.captureTime(of: frame.timestamp).map { loop.now - $0 }))
      units.shown.append(frame.units)
      if frame.descriptor.isKeyFrame { keyFrames += 1 }
    }
  }

  /// Lets a call happen with a frame of so many bytes each thirtieth of a second; key frames have
  /// eight times as many.
  func run(frames: Int, bytes: Int = 3000, start: Double = 0.3, end: Double? = nil) throws {
    plan(frames: frames, bytes: bytes, start: start, end: end)
    try loop.run()
  }

  /// The same, to happen with others' calls.
  /// - Parameters:
  ///   - start: of the frames, in seconds after ``begin``.
  ///   - wobble: seconds by which frames come late, at most.
  func plan(frames: Int, bytes: Int = 3000, start: Double = 0.3, end: Double? = nil, wobble: Double = 0) {
    for tick in 0..<Int((end ?? Double(frames) / 30 + start + 0.7) * 200) {
      loop.schedule(at: begin + Double(tick) / 200) { [self] in
        sender.poll(at: loop.now)
        var frames: [MediaReceiver.Frame] = []
        try receiver.poll(at: loop.now) {
          frames.append($0)
          return true
        }
        show(frames)
        flush()
      }
    }
    var token: Int64 = 0
    var encoder = ModelEncoder()
    for index in 0..<frames {
      loop.schedule(at: begin + start + Double(index) / 30 + (wobble > 0 ? wobble * sizes.unit() : 0)) {
        [self] in
        if followsRate, sender.isOverfull(at: loop.now) {
          withheld += 1
          return
        }
        let (requirements, attempt) = sender.takeRequirements(at: loop.now)
        let isKey = encoder.encode(
          requirements, attempt, at: loop.now, token: index % 8 == 0 ? token + 1 : nil)
        var coded = FrameSequencer.CodedFrame(isKeyFrame: isKey)
        if index % 8 == 0 {
          token += 1
          coded.token = token
        }
        let share = (isKey ? 3 : 1 - spread) + 2 * spread * sizes.unit()
        let size = followsRate ? max(Int(sender.targetRate / 240 * share), 2) : bytes
        var unit = [UInt8](
          repeating: UInt8(truncatingIfNeeded: index), count: isKey && !followsRate ? size * 8 : size)
        switch codec {
        case .h264: unit[0] = isKey ? 0x65 : 0x41
        case .hevc: unit.replaceSubrange(..<2, with: [isKey ? 0x26 : 0x02, 1])
        }
        let sets: [[UInt8]] = codec == .hevc && isKey ? [[0x40, 1, 7], [0x42, 1, 8], [0x44, 1, 9]] : []
        units.sent.append(sets + [unit])
        sender.send(sets + [unit], coded, attempt, captured: loop.now, at: loop.now)
        sentTimes.append(loop.now)
        flush()
      }
    }
  }
}
