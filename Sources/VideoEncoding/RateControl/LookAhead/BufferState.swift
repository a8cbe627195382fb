// SPDX-License-Identifier: Apache-2.0
/// The fullness of a decoder's coded picture buffer (C.1.1, C.1.2) while access units are removed
/// from it in decoding order.
package struct BufferState {
  /// The size and the rate of the buffer.
  package private(set) var buffer: CodedPictureBuffer
  /// The bits in the buffer at the removal time of the next access unit, which may take no more
  /// than that.
  package private(set) var fullness: Double

  /// The bits in the buffer when the first access unit is removed; also those at a join with
  /// another stream.
  var agreedFullness: Double { Double(buffer.size) * buffer.initialFullness }

  /// Begins with the initial fullness of the buffer.
  package init(_ buffer: CodedPictureBuffer) {
    self.buffer = buffer
    fullness = Double(buffer.size) * buffer.initialFullness
  }

  /// Changes the rate and the size. The buffer then holds as many seconds of the rate as before.
  package mutating func change(to new: CodedPictureBuffer) {
    let seconds = fullness / Double(buffer.maximumRate)
    buffer = new
    fullness = min(seconds * Double(new.maximumRate), Double(new.size))
  }

  /// Sets the fullness with which the stream begins, in bits.
  package mutating func begin(fullness: Double) { self.fullness = min(fullness, size) }

  /// The size of the buffer in bits.
  package var size: Double { Double(buffer.size) }
  /// The rate at which it fills, in bits per second.
  package var rate: Double { Double(buffer.maximumRate) }

  /// Lets the buffer fill for some seconds; a negative number takes back time that has not passed.
  package mutating func pass(seconds: Double) { fullness = min(fullness + rate * seconds, size) }

  /// Removes an access unit and lets the buffer fill until the next removal.
  /// - Parameters:
  ///   - bits: the bits of the access unit.
  ///   - seconds: the time until the next removal.
  /// - Returns: the bits that arrived and overflowed.
  @discardableResult
  package mutating func remove(bits: Double, seconds: Double) -> Double {
    fullness += rate * seconds - bits
    let lost = max(fullness - size, 0)
    fullness -= lost
    return lost
  }
}
