// SPDX-License-Identifier: Apache-2.0
/// The coded picture buffer of a decoder (C.1.1, C.1.2), as frames are taken out of it in decoding order.
struct BufferState {
  private(set) var buffer: H264EncoderConfiguration.LookAhead.Buffer
  /// Bits in the buffer at the decode time of the next frame: it may take no more.
  private(set) var fullness: Double

  /// Bits that it begins with.
  var agreedFullness: Double { Double(buffer.size) * buffer.initialFullness }

  init(_ buffer: H264EncoderConfiguration.LookAhead.Buffer) {
    self.buffer = buffer
    fullness = Double(buffer.size) * buffer.initialFullness
  }

  /// Another rate and size: as much time's worth is in the buffer as before.
  mutating func change(to new: H264EncoderConfiguration.LookAhead.Buffer) {
    let seconds = fullness / Double(buffer.maximumRate)
    buffer = new
    fullness = min(seconds * Double(new.maximumRate), Double(new.size))
  }

  /// It begins with so many bits.
  mutating func begin(fullness: Double) { self.fullness = min(fullness, size) }

  var size: Double { Double(buffer.size) }
  var rate: Double { Double(buffer.maximumRate) }

  /// Time passes, or less time has passed than was thought.
  mutating func pass(seconds: Double) { fullness = min(fullness + rate * seconds, size) }

  /// A frame is decoded, and so many seconds pass until the next.
  /// - Returns: bits that came in and found no room.
  @discardableResult
  mutating func remove(bits: Double, seconds: Double) -> Double {
    fullness += rate * seconds - bits
    let lost = max(fullness - size, 0)
    fullness -= lost
    return lost
  }
}
