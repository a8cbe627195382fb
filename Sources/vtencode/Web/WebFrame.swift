// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import RealTimeTransport

/// A coded frame for a web page.
struct WebFrame: Sendable {
  /// The size of the message header in bytes; see `encoded`.
  static let headerSize = 28
  /// The first byte of the message, which identifies this layout.
  static let kind: UInt8 = 1

  var codec = VideoCodec.h264
  /// The sender's frame number modulo 2^32.
  var number: UInt32
  /// Whether it is a key frame, with its parameter sets before its slices.
  var isKeyFrame: Bool
  /// The times of capture and of complete reception in seconds of `SessionTime`; the former is nil
  /// if it is not known.
  var captured: Double?
  var arrived: Double
  /// The mean of the slices' QP; nil if no slice header can be read.
  var qp: Double?
  /// The NAL units without start codes.
  var units: [[UInt8]]

  /// The message: one byte for its kind, one for flags (1: key frame, 2: HEVC), two zero bytes, the
  /// frame number (32 bits), the times of capture and of reception (64-bit floating point, NaN if
  /// not known) and the QP (32-bit floating point, NaN if not known), all in big-endian order,
  /// followed by the frame as a byte stream (annex B of H.264 and of HEVC).
  var encoded: ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: byteCount)
    buffer.writeInteger(Self.kind)
    buffer.writeInteger((isKeyFrame ? 1 : 0) | (codec == .hevc ? 2 : 0), as: UInt8.self)
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

/// Limits how often key frames are requested. The least interval is one second and doubles with
/// each request.
struct KeyFrameRequestLimiter {
  /// The largest interval in seconds.
  let maximum: Double
  private var pause = PageQueue.minPause
  private var next = -Double.infinity

  init(maximum: Double) { self.maximum = maximum }

  func mayRequest(at time: Double) -> Bool { time >= next }

  /// Counts a request if one may be made.
  /// - Returns: whether it may be made.
  mutating func countRequest(at time: Double) -> Bool {
    guard mayRequest(at: time) else { return false }
    if time > next + 2 * maximum { pause = PageQueue.minPause }
    next = time + pause
    pause = min(pause * 2, maximum)
    return true
  }
}

/// Decides which frames are sent to one page. A browser that takes frames too slowly gets none
/// until the next key frame, so that the queue stays within these limits.
struct PageQueue {
  /// The limits of frames and bytes in the queue to a page. A single key frame may be larger.
  static let maxFrames = 30
  static let maxBytes = 4 << 20
  /// The least and the largest interval in seconds between key frame requests for a slow page. The
  /// limit protects the other pages' quality from a page that never keeps up.
  static let minPause = 1.0
  static let maxPause = 16.0

  /// The number of frames in the queue, and their bytes.
  private(set) var frames = 0
  private(set) var bytes = 0
  /// The number of frames that were dropped for lack of room.
  private(set) var dropped = 0
  /// Whether frames are dropped until the next key frame.
  private(set) var isWaiting = true
  private var limiter = KeyFrameRequestLimiter(maximum: maxPause)

  /// Decides whether to send a frame, and counts it.
  mutating func admits(isKeyFrame: Bool, bytes size: Int) -> Bool {
    let hasRoom = frames < Self.maxFrames && bytes + size <= Self.maxBytes || frames == 0
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

  /// Notes that a frame has been written to the socket.
  mutating func didWrite(bytes size: Int) {
    frames = max(frames - 1, 0)
    bytes = max(bytes - size, 0)
  }

  /// Whether to request a key frame so that the page can continue.
  /// - Parameters:
  ///   - time: the time in seconds.
  ///   - common: the pace of all pages together. A page that reconnects repeatedly has a new gate
  ///     each time.
  mutating func wantsKeyFrame(at time: Double, _ common: inout KeyFrameRequestLimiter) -> Bool {
    // Requests wait until there is room again.
    guard isWaiting, frames == 0, limiter.mayRequest(at: time), common.countRequest(at: time) else {
      return false
    }
    return limiter.countRequest(at: time)
  }

  /// Makes the page wait for the next key frame, after an error of its decoder.
  mutating func restart() { isWaiting = true }
}
