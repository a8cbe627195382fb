// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Foundation
import VideoToolbox

/// Simulates a call in one process on a virtual clock, with a sender, a network, and one or two
/// receivers. The same plan and pictures give the same call. Encoding and decoding take no
/// simulated time.
final class CallSimulation {
  private static let reportInterval = 1.0
  /// The longest interval between pictures in seconds. It is limited because reports are simulated
  /// during the interval.
  private static let longestGap = 3600.0
  private static let media: UInt32 = 0x5645_4E43

  private let plan: CallPlan
  private var pictures: any CallPictures
  private let loop = EventLoop()
  private let sender: CallSender
  private var paths: [CallPath] = []
  private var receivers: [CallReceiver] = []
  private var comparisons: [ReceivedPictureComparison] = []
  private var feedbackLinks: [NetworkLink] = []
  /// When each receiver's next request for packets is scheduled; infinite if none is.
  private var requestTimes: [Double] = []
  /// The index of the picture for each frame number.
  private var pictureOfNumber: [Int] = []
  private var packets: [CapturedPacket] = []
  private var isFinished = false
  private var sentCount = 0
  private var lastTime = 0.0
  /// Is called after each picture with the number of pictures so far.
  var progress: (Int) -> Void = { _ in }

  init(_ plan: CallPlan, pictures: any CallPictures) throws {
    self.plan = plan
    self.pictures = pictures
    let lines = [plan.link.bandwidth] + (plan.bottleneck.map { [$0] } ?? [])
    sender = try CallSender(plan, receiverCount: lines.count)
    for (index, line) in lines.enumerated() {
      var configuration = plan.link
      configuration.bandwidth = line
      paths.append(
        CallPath(
          plan, media: Self.media,
          link: NetworkLink(configuration, seed: plan.seed &* 16 &+ UInt64(index))))
      // Feedback needs little bandwidth. It has the delay and jitter of the link, and losses of its
      // own.
      var back = NetworkLink.Configuration(bandwidth: BandwidthSchedule(constant: 10_000_000))
      back.delay = plan.link.delay
      back.jitter = plan.link.jitter
      back.loss = plan.feedbackLoss
      feedbackLinks.append(NetworkLink(back, seed: plan.seed &* 16 &+ 8 &+ UInt64(index)))
      receivers.append(
        CallReceiver(
          plan, name: index == 0 ? "receiver" : "receiver behind the bottleneck",
          source: 0x5245_4330 + UInt32(index), media: Self.media, bandwidth: line))
      requestTimes.append(.infinity)
      comparisons.append(ReceivedPictureComparison(measures: plan.measuresQuality))
    }
  }

  /// Runs the call.
  /// - Returns: the results.
  /// - Throws: a `Failure` if encoding or decoding fails, if there is no picture, or after an
  ///   interrupt.
  func run() throws -> CallRecord {
    try scheduleNextPicture()
    for index in paths.indices { scheduleReports(index, at: 0.2 + 0.05 * Double(index)) }
    try loop.run()
    try Interrupt.shared.check()
    var record = CallRecord()
    record.encoderID = sender.encoder.id
    record.frameRate = plan.frameRate
    record.frames = sender.frames
    for index in receivers.indices {
      var receiver = receivers[index].finish()
      receiver.lostPackets = paths[index].link.lostPackets
      receiver.droppedPackets = paths[index].link.droppedPackets
      receiver.resentPackets = paths[index].stream.resentPackets
      receiver.resentBytes = paths[index].stream.resentBytes
      receiver.shown = comparisons[index].finish()
      record.receivers.append(receiver)
    }
    record.packets = packets.sorted { $0.time < $1.time }
    record.parameterSets = sender.encoder.parameterSets
    guard !record.frames.isEmpty else { throw Failure("the movie has no picture to send") }
    return record
  }

  // MARK: - Sending

  private func scheduleNextPicture() throws {
    guard sentCount < plan.frameLimit ?? .max, !Interrupt.shared.isRequested,
      let picture = try pictures.next()
    else {
      isFinished = true
      return
    }
    guard picture.time - lastTime <= Self.longestGap else {
      throw Failure(
        "the movie has no new picture for \(TextFormat.fixed(picture.time - lastTime, 0)) s after "
          + "\(TextFormat.plural(sentCount, "picture")), and a call may wait at most an hour for one; send the "
          + "pictures before with --frames \(sentCount)")
    }
    lastTime = picture.time
    sentCount += 1
    loop.schedule(at: picture.time) { [self] in
      try send(picture)
      progress(sentCount)
      try scheduleNextPicture()
    }
  }

  private func send(_ picture: CallPicture) throws {
    let frame: MediaFrame?
    if isOverfull {
      sender.dropPicture(picture)
      frame = nil
    } else {
      let resent = paths.indices.map { paths[$0].repair.resentRate(at: loop.now) }.max() ?? 0
      frame = try sender.send(picture, resentRate: resent)
    }
    if frame != nil { pictureOfNumber.append(sender.frames.count - 1) }
    for index in paths.indices {
      comparisons[index].add(picture.buffer, quality: sender.frames.last?.quality)
      guard let frame else { continue }
      if paths[index].shouldDrop(frame.descriptor, at: loop.now) {
        comparisons[index].markAsDroppedForLink()
        continue
      }
      for packet in paths[index].stream.packets(of: frame, at: loop.now) {
        transmit(packet, on: index, channel: .media)
      }
      comparisons[index].setQueueingDelay(paths[index].link.queueingDelay(at: loop.now))
    }
  }

  /// Whether another picture would only delay the retransmissions. With two links it is sent
  /// anyway, because the other link may have room.
  private var isOverfull: Bool {
    guard plan.retransmits, paths.count == 1, let path = paths.first else { return false }
    return path.repair.isOverfull(
      at: loop.now, rate: plan.link.bandwidth.rate(at: loop.now), lastFrame: sender.lastFrame)
  }

  private func transmit(_ bytes: [UInt8], on index: Int, channel: CapturedPacket.Channel) {
    if channel == .media {
      paths[index].repair.noteSent(bytes, at: loop.now, rate: paths[index].rate(at: loop.now))
    }
    let size = bytes.count + CallPlan.datagramHeaderSize
    guard case .arrives(let time) = paths[index].link.send(bytes: size, at: loop.now) else { return }
    loop.schedule(at: time) { [self] in
      keep(bytes, channel, index)
      if channel == .media {
        try show(receivers[index].receive(bytes, at: loop.now), at: index)
        if let deadline = receivers[index].deadline {
          loop.schedule(at: deadline) { [self] in
            try show(receivers[index].release(at: loop.now), at: index)
            answer(index)
          }
        }
        answer(index)
        scheduleRequest(index)
      } else {
        receivers[index].receiveControl(bytes, at: loop.now)
      }
    }
  }

  private func show(_ shown: [CallReceiver.Shown], at index: Int) {
    for one in shown where pictureOfNumber.indices.contains(Int(one.number)) {
      comparisons[index].show(
        one.image, picture: pictureOfNumber[Int(one.number)], at: loop.now)
    }
  }

  // MARK: - Feedback and reports

  private func answer(_ index: Int) {
    if let feedback = receivers[index].feedback(at: loop.now) { sendBack(feedback, from: index) }
  }

  /// Schedules a request for the packets that are still missing.
  private func scheduleRequest(_ index: Int) {
    guard let deadline = receivers[index].requestDeadline, deadline < requestTimes[index] else { return }
    requestTimes[index] = deadline
    loop.schedule(at: deadline) { [self] in
      // Only the request that was scheduled last is marked as done, since an earlier one may have
      // been scheduled after it.
      if requestTimes[index] == deadline { requestTimes[index] = .infinity }
      answer(index)
      scheduleRequest(index)
    }
  }

  private func sendBack(_ bytes: [UInt8], from index: Int) {
    keep(bytes, .receiverControl, index)
    let size = bytes.count + CallPlan.datagramHeaderSize
    guard case .arrives(let time) = feedbackLinks[index].send(bytes: size, at: loop.now) else { return }
    loop.schedule(at: time) { [self] in
      guard let feedback = RTCPPacket.parse(bytes) else { return }
      sender.receive(feedback, from: index, at: loop.now)
      for case .receiverReport(_, let blocks) in feedback {
        for block in blocks { paths[index].repair.update(block, at: loop.now) }
      }
      let trip = 2 * plan.link.delay
      let again = paths[index].packets(askedFor: feedback, at: loop.now, pause: trip * 0.9)
      let isBurst = paths[index].repair.plan(
        again.map(\.number), at: loop.now, roundTrip: trip, isProtected: false)
      for (_, packet) in again { sendAgain(packet, on: index, isBurst: isBurst) }
      scheduleCopies(index)
    }
  }

  private func sendAgain(_ packet: [UInt8], on index: Int, isBurst: Bool) {
    paths[index].repair.noteResent(packet, isBurst: isBurst, at: loop.now)
    transmit(packet, on: index, channel: .media)
  }

  private func scheduleCopies(_ index: Int) {
    let due = paths[index].repair.nextCopy
    guard due < .infinity else { return }
    loop.schedule(at: due) { [self] in
      for number in paths[index].repair.takeCopies(at: loop.now) {
        if let packet = paths[index].packet(again: number, at: loop.now) {
          sendAgain(packet, on: index, isBurst: false)
        }
      }
    }
  }

  private func scheduleReports(_ index: Int, at time: Double) {
    loop.schedule(at: time) { [self] in
      guard !isFinished, !Interrupt.shared.isRequested else { return }
      transmit(
        RTCPPacket.compound(paths[index].stream.report(at: loop.now, name: "sender")), on: index,
        channel: .senderControl)
      sendBack(receivers[index].report(at: loop.now), from: index)
      scheduleReports(index, at: time + Self.reportInterval)
    }
  }

  private func keep(_ bytes: [UInt8], _ channel: CapturedPacket.Channel, _ index: Int) {
    guard plan.keepsPackets, index == 0 else { return }
    packets.append(CapturedPacket(time: loop.now, channel: channel, payload: bytes))
  }
}
