// SPDX-License-Identifier: Apache-2.0
/// The fullness of a decoder's coded picture buffer (C.1.1, C.1.2) while access units are removed
/// from it in decoding order.
package struct BufferState {
  /// The size and the rate of the buffer.
  package private(set) var buffer: CodedPictureBuffer
  /// The bits in the buffer at the removal time of the next access unit.
  private var bucket: LeakyBucket
  /// The bits in the buffer at the removal time of the next access unit, which may take no more
  /// than that.
  package var fullness: Double { bucket.fullness }

  /// The bits in the buffer when the first access unit is removed; also those at a join with
  /// another stream.
  var agreedFullness: Double { Double(buffer.size) * buffer.initialFullness }

  /// Begins with the initial fullness of the buffer.
  package init(_ buffer: CodedPictureBuffer) {
    self.buffer = buffer
    bucket = LeakyBucket(
      capacity: Double(buffer.size), rate: Double(buffer.maximumRate),
      fullness: Double(buffer.size) * buffer.initialFullness)
  }

  /// Changes the rate and the size. The buffer then holds as many seconds of the rate as before.
  package mutating func change(to new: CodedPictureBuffer) {
    let seconds = fullness / rate
    buffer = new
    bucket = LeakyBucket(
      capacity: Double(new.size), rate: Double(new.maximumRate),
      fullness: seconds * Double(new.maximumRate))
  }

  /// Sets the fullness with which the stream begins, in bits.
  mutating func begin(fullness: Double) {
    bucket = LeakyBucket(capacity: size, rate: rate, fullness: fullness)
  }

  /// The size of the buffer in bits.
  package var size: Double { bucket.capacity }
  /// The rate at which it fills, in bits per second.
  var rate: Double { bucket.rate }

  /// Lets the buffer fill for some seconds; a negative number takes back time that has not passed.
  mutating func pass(seconds: Double) { bucket.fill(seconds: seconds) }

  /// Removes an access unit and lets the buffer fill until the next removal.
  /// - Parameters:
  ///   - bits: the bits of the access unit.
  ///   - seconds: the time until the next removal.
  /// - Returns: the bits that arrived and overflowed.
  @discardableResult
  mutating func remove(bits: Double, seconds: Double) -> Double {
    bucket.add(rate * seconds - bits)
  }

  /// The bits that would have to be stuffed so that no more than `maximum` are in the buffer at the
  /// next removal; a negative number is free room.
  /// - Parameters:
  ///   - maximum: the bits that may be in the buffer.
  ///   - bits: the bits of the access unit that is removed now.
  ///   - seconds: the time until the next removal.
  package func excess(over maximum: Double, removing bits: Double, seconds: Double) -> Double {
    bucket.excess(over: maximum, removing: bits, seconds: seconds)
  }
}
