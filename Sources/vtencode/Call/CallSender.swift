// SPDX-License-Identifier: Apache-2.0
import CallTransport
import Foundation
import VideoToolbox

/// The sender: takes pictures, encodes them as the receivers' feedback asks, and describes the frames.
final class CallSender {
  /// A frame, ready to be split into packets.
  struct Frame {
    /// The number of its picture, dropped ones counted.
    var picture: Int
    var time: Double
    var units: [[UInt8]]
    var descriptor: FrameDescriptor
  }

  private let plan: CallPlan
  let encoder: CallEncoder
  private var policy: RecoveryPolicy
  private var nextNumber: UInt16 = 0
  /// When the frame of each number was taken, for reports of losses.
  private var times: [UInt16: Double] = [:]
  /// Reference frames since the last key frame that may still be referred to, the oldest first.
  private var references: [UInt16] = []
  /// A refresh was asked for, and the frame that should have been one was dropped.
  private var owesRefresh = false
  private(set) var frames: [CallRecord.Frame] = []

  init(_ plan: CallPlan, receiverCount: Int) throws {
    self.plan = plan
    encoder = try CallEncoder(plan)
    policy = RecoveryPolicy(
      plan.recovery, receiverCount: receiverCount, roundTrip: 2 * plan.link.delay + 1 / plan.frameRate)
  }

  func take(_ feedback: [UInt8], from receiver: Int, at time: Double) {
    guard let packets = RTCPPacket.parse(feedback) else { return }
    policy.take(packets, from: receiver, at: time)
  }

  /// Seconds from a frame to the feedback on it, as far as is known.
  var roundTrip: Double { policy.roundTrip }

  /// - Returns: nil if rate control dropped the picture.
  func send(_ picture: CallPicture) throws -> Frame? {
    let rate = plan.rate(at: picture.time)
    try encoder.setRate(at: picture.time, plan)
    let wish = policy.takeWish()
    var record = CallRecord.Frame(time: picture.time, rate: rate)
    let lost = Set(wish.lost).intersection(references)
    let isRefresh = wish.forcesRefresh || owesRefresh
    guard let output = try encoder.encode(picture, options: options(wish)) else {
      record.isDropped = true
      frames.append(record)
      owesRefresh = isRefresh
      giveUp(lost)
      return nil
    }
    owesRefresh = false
    giveUp(lost)

    let number = nextNumber
    nextNumber &+= 1
    times[number] = picture.time
    times[number &- 20_000] = nil
    var descriptor = FrameDescriptor(number: number, previous: references.last ?? number)
    descriptor.isKeyFrame = output.isKeyFrame
    descriptor.isRefresh = isRefresh && !output.isKeyFrame
    descriptor.isDiscardable = !output.isReference
    descriptor.layer = UInt8(clamping: output.layer)
    descriptor.token = output.token
    if output.isKeyFrame {
      descriptor.previous = number
      references.removeAll()
    } else if isRefresh {
      // Nothing to come refers to what was before.
      references.removeAll()
    }
    if output.isReference { references.append(number) }

    record.bytes = output.units.reduce(0) { $0 + $1.count }
    record.isKeyFrame = output.isKeyFrame
    record.isRepair = isRefresh || !lost.isEmpty || output.isKeyFrame && !frames.isEmpty
    record.layer = output.layer
    record.averageQP = output.averageQP
    record.highestQP = output.highestQP
    record.quality = output.meanSquaredError.map { PictureComparison.decibels(meanSquaredError: $0) }
    frames.append(record)
    if record.isRepair { policy.noteRepair(at: picture.time) }
    return Frame(
      picture: frames.count - 1, time: picture.time, units: output.units, descriptor: descriptor)
  }

  /// What depends on a lost frame is lost as well.
  private func giveUp(_ lost: Set<UInt16>) {
    guard let first = references.firstIndex(where: lost.contains) else { return }
    references.removeSubrange(first...)
  }

  private func options(_ wish: RecoveryPolicy.Wish) -> [CFString: Any] {
    var options: [CFString: Any] = [:]
    if !wish.acknowledged.isEmpty {
      options[kVTEncodeFrameOptionKey_AcknowledgedLTRTokens] = wish.acknowledged.map { NSNumber(value: $0) }
    }
    if wish.forcesKeyFrame { options[kVTEncodeFrameOptionKey_ForceKeyFrame] = true }
    if wish.forcesRefresh { options[kVTEncodeFrameOptionKey_ForceLTRRefresh] = true }
    let lostTimes = wish.lost.compactMap { times[$0] }.compactMap {
      CMTimeCopyAsDictionary(CMTime(seconds: $0, preferredTimescale: 90_000), allocator: nil)
    }
    if !lostTimes.isEmpty { options[kOVTEncodeFrameOptionKey_LostFrameTimes] = lostTimes }
    return options
  }
}
