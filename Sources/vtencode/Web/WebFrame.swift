// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// A coded frame on its way to a page.
struct WebFrame: Sendable {
  /// Bytes before the frame itself, as `encoded` says.
  static let headerSize = 28
  /// What the first byte of a frame's message is: another layout has another.
  static let kind: UInt8 = 1

  /// Counted by the sender, modulo 2^32.
  var number: UInt32
  /// Parameter sets come before its slices.
  var isKeyFrame: Bool
  /// When its picture was taken, and when it was whole here, in seconds of `SessionTime`; nil if that is not known.
  var captured: Double?
  var arrived: Double
  /// Mean of the slices' QP; nil if a slice cannot be read.
  var qp: Double?
  /// NAL units without start codes.
  var units: [[UInt8]]

  /// The message: a byte for its kind, one for flags (1: key frame), two that are 0, the number (32 bits), the times of
  /// capture and of arrival (64-bit floating point, NaN if not known), the QP (32-bit floating point, NaN if not known), all
  /// with the highest byte first; then the frame as a byte stream (H.264, Annex B).
  var encoded: ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: byteCount)
    buffer.writeInteger(Self.kind)
    buffer.writeInteger(isKeyFrame ? 1 : 0, as: UInt8.self)
    buffer.writeInteger(0, as: UInt16.self)
    buffer.writeInteger(number)
    buffer.writeInteger((captured ?? .nan).bitPattern)
    buffer.writeInteger(arrived.bitPattern)
    buffer.writeInteger(Float(qp ?? .nan).bitPattern)
    for unit in units {
      buffer.writeInteger(1, as: UInt32.self)
      buffer.writeBytes(unit)
    }
    return buffer
  }

  var byteCount: Int { units.reduce(Self.headerSize) { $0 + 4 + $1.count } }
}

/// Requests for key frames, each a while after the one before: a second at first, twice as long each time.
struct KeyFramePace {
  /// Seconds between two at the most.
  let most: Double
  private var pause = WebGate.leastPause
  private var next = -Double.infinity

  init(most: Double) { self.most = most }

  func mayAsk(at time: Double) -> Bool { time >= next }

  /// - Returns: Whether one may be made, which is counted then.
  mutating func take(at time: Double) -> Bool {
    guard mayAsk(at: time) else { return false }
    if time > next + 2 * most { pause = WebGate.leastPause }
    next = time + pause
    pause = min(pause * 2, most)
    return true
  }
}

/// What goes to one page, and what is left out for it. A browser that takes frames more slowly than they come gets none up
/// to the next key frame; nothing waits here beyond these limits.
struct WebGate {
  /// Frames and bytes that may be on their way to a page; a key frame alone may be larger.
  static let mostFrames = 30
  static let mostBytes = 4 << 20
  /// Seconds from the first request for a key frame because of a slow page to the next, and at most: one that never keeps up
  /// is not to cost the others their picture.
  static let leastPause = 1.0
  static let mostPause = 16.0

  /// Frames that are on their way.
  private(set) var frames = 0
  private(set) var bytes = 0
  /// Frames that were left out since there was no room.
  private(set) var dropped = 0
  /// No frame goes before the next key frame.
  private(set) var isWaiting = true
  private var pace = KeyFramePace(most: mostPause)

  /// Takes a frame, or leaves it out.
  mutating func admits(isKeyFrame: Bool, bytes size: Int) -> Bool {
    let hasRoom = frames < Self.mostFrames && bytes + size <= Self.mostBytes || frames == 0
    guard hasRoom, isKeyFrame || !isWaiting else {
      if !hasRoom { isWaiting = true }
      dropped += 1
      return false
    }
    isWaiting = false
    frames += 1
    bytes += size
    return true
  }

  /// A frame has gone to the system.
  mutating func leave(bytes size: Int) {
    frames = max(frames - 1, 0)
    bytes = max(bytes - size, 0)
  }

  /// Whether a key frame is to be asked for, so that the page goes on.
  /// - Parameter common: of all pages: one that comes again and again has a gate of its own each time.
  mutating func wantsKeyFrame(at time: Double, _ common: inout KeyFramePace) -> Bool {
    // There is room again.
    guard isWaiting, frames == 0, pace.mayAsk(at: time), common.take(at: time) else { return false }
    return pace.take(at: time)
  }

  /// The page begins anew, with the next key frame: its decoder lost its thread.
  mutating func restart() { isWaiting = true }
}
