// SPDX-License-Identifier: Apache-2.0
import NIOCore
import RealTimeTransport

/// An audio packet for a web page.
struct WebAudio: Sendable {
  /// The first byte of the message, which tells it from a frame (`WebFrame.kind`).
  static let kind: UInt8 = 2
  /// The size of the message header in bytes.
  static let headerSize = 12

  var packet: AudioReceiver.Packet

  /// The message: one byte for its kind, three zero bytes, the packet's place in frames of 48 kHz
  /// from the first packet on (64 bits, big-endian), and the packet of Opus.
  var encoded: ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: Self.headerSize + packet.payload.count)
    buffer.writeInteger(Self.kind)
    buffer.writeRepeatingByte(0, count: 3)
    buffer.writeInteger(packet.position)
    buffer.writeBytes(packet.payload)
    return buffer
  }
}
