// SPDX-License-Identifier: Apache-2.0
import CallTransport
import Foundation
import VideoToolbox

/// What the sender makes of the receivers' feedback: options for its next frame.
struct RecoveryPolicy {
  /// What is asked of the next frame.
  struct Wish {
    var acknowledged: [Int64] = []
    var forcesKeyFrame = false
    var forcesRefresh = false
    /// Numbers of frames that a receiver lacks.
    var lost: [UInt16] = []
  }

  private let mode: RecoveryMode
  private let receiverCount: Int
  /// Round trip in seconds: what the receivers' reports say, until then a guess.
  private(set) var roundTrip: Double
  private var holders: [Int64: Set<Int>] = [:]
  private var acknowledged: [Int64] = []
  private var isAsked = false
  private var lost: [UInt16] = []
  private var lastRepair = -Double.infinity

  init(_ mode: RecoveryMode, receiverCount: Int, roundTrip: Double) {
    self.mode = mode
    self.receiverCount = receiverCount
    self.roundTrip = roundTrip
  }

  /// Takes a compound packet of a receiver.
  mutating func take(_ packets: [RTCPPacket], from receiver: Int, at time: Double) {
    for packet in packets {
      switch packet {
      case .receiverReport(_, let blocks): for block in blocks { measure(block, at: time) }
      case .pictureLoss:
        // One that was sent before the repair came says nothing new.
        if time >= lastRepair + roundTrip { isAsked = true }
      case .referenceSelection(_, _, _, let token):
        holders[token, default: []].insert(receiver)
        // A refresh must serve all.
        if holders[token]?.count == receiverCount {
          acknowledged.append(token)
          holders[token] = nil
        }
      case .lostFrames(_, let frames): lost += frames
      default: break
      }
    }
  }

  private mutating func measure(_ block: RTCPPacket.ReportBlock, at time: Double) {
    guard block.lastReport != 0 else { return }
    let now = UInt32(truncatingIfNeeded: CallClock.ntpTime(at: time) >> 16)
    let trip = Double(now &- block.lastReport &- block.delaySinceLastReport) / 65_536
    if trip < 10 { roundTrip += (trip - roundTrip) * 0.25 }
  }

  /// What the next frame must answer.
  mutating func takeWish() -> Wish {
    var wish = Wish()
    wish.acknowledged = acknowledged
    acknowledged.removeAll()
    switch mode {
    // Without feedback as a rule, a receiver asks for the key frame to begin with.
    case .keyframe, .intraRefresh: wish.forcesKeyFrame = isAsked
    case .ltr: wish.forcesRefresh = isAsked
    case .invalidate: wish.lost = lost
    }
    isAsked = false
    lost.removeAll()
    return wish
  }

  mutating func noteRepair(at time: Double) { lastRepair = time }
}

/// The call's virtual time as others see it.
enum CallClock {
  /// 2026-01-01 in seconds since 1900.
  private static let start = 3_976_214_400.0

  /// Seconds since 1900 in 32.32 bits, for sender reports.
  static func ntpTime(at time: Double) -> UInt64 {
    let whole = (start + time).rounded(.down)
    return UInt64(whole) << 32 | UInt64(((start + time) - whole) * 4_294_967_296)
  }

  /// In units of RTP's clock for video.
  static func rtpTime(at time: Double, offset: UInt32) -> UInt32 {
    offset &+ UInt32(truncatingIfNeeded: Int64((time * 90_000).rounded()))
  }
}
