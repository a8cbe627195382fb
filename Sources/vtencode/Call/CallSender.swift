// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import VideoToolbox

/// The sender of a simulated call. It encodes pictures as the receivers' feedback requires.
final class CallSender {
  private let plan: CallPlan
  let encoder: CallEncoder
  private var policy: RecoveryPolicy
  private var sequencer = FrameSequencer()
  private(set) var frames: [CallRecord.Frame] = []
  /// The time of the last picture that was not dropped.
  private(set) var lastFrame = -Double.infinity

  init(_ plan: CallPlan, receiverCount: Int) throws {
    self.plan = plan
    encoder = try CallEncoder(plan.encoderSettings)
    policy = RecoveryPolicy(
      plan.recovery, receiverCount: receiverCount, roundTrip: 2 * plan.link.delay + 1 / plan.frameRate,
      clock: .simulated)
  }

  func receive(_ feedback: [RTCPPacket], from receiver: Int, at time: Double) {
    policy.receive(feedback, from: receiver, at: time)
  }

  /// The estimated time in seconds from sending a frame to receiving feedback on it.
  var roundTrip: Double { policy.roundTrip }

  /// Drops a picture so that the packets that are being sent again are not delayed.
  func dropPicture(_ picture: CallPicture) {
    frames.append(.init(time: picture.time, rate: plan.rate(at: picture.time), isDropped: true))
  }

  /// Encodes a picture.
  /// - Parameters:
  ///   - picture: the picture.
  ///   - resentRate: the rate of retransmissions on the link, in bits a second.
  /// - Returns: the frame; nil if rate control dropped the picture.
  func send(_ picture: CallPicture, resentRate: Double) throws -> MediaFrame? {
    let rate = plan.rate(at: picture.time, resentRate: resentRate)
    try encoder.setRate(rate, maximum: plan.maxRate(at: picture.time))
    let requirements = policy.takeRequirements(at: picture.time, leavesReference: sequencer.leavesReference)
    let attempt = sequencer.attempt(requirements)
    var record = CallRecord.Frame(time: picture.time, rate: rate)
    let options = CallEncoder.options(requirements, lostTimes: attempt.lostTimes)
    guard let output = try encoder.encode(picture, options: options) else {
      record.isDropped = true
      frames.append(record)
      sequencer.drop(attempt)
      return nil
    }
    let (descriptor, isRepair) = sequencer.finish(attempt, output.coded, time: picture.time)
    record.bytes = output.units.reduce(0) { $0 + $1.count }
    record.isKeyFrame = output.coded.isKeyFrame
    record.isRepair = isRepair
    record.layer = output.coded.layer
    record.averageQP = output.averageQP
    record.highestQP = output.highestQP
    record.quality = output.meanSquaredError.map { PictureComparison.decibels(meanSquaredError: $0) }
    frames.append(record)
    policy.note(output.coded, isRepair: isRepair, at: picture.time)
    lastFrame = picture.time
    return MediaFrame(time: picture.time, units: output.units, descriptor: descriptor)
  }
}
