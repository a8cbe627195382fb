/// What is wrong with a parameter set.
package enum ParameterSetError: Error {
  /// It ends too early.
  case truncated
  /// A value is not allowed by the standard.
  case invalid
}

/// Reads the bits of a NAL unit's payload. The bytes may come from anywhere: nothing is trusted.
package struct RBSPReader {
  private let bytes: [UInt8]
  private var position = 0
  private let bitCount: Int

  /// - Parameter nalUnit: With its header; emulation prevention bytes are taken out here.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes, headerLength: Int) {
    var payload: [UInt8] = []
    payload.reserveCapacity(nalUnit.count)
    var zeros = 0
    for byte in nalUnit.dropFirst(headerLength) {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      payload.append(byte)
    }
    bytes = payload
    bitCount = payload.count * 8
  }

  package var bitsLeft: Int { bitCount - position }

  package mutating func bit() throws -> Bool {
    guard position < bitCount else { throw ParameterSetError.truncated }
    let bit = bytes[position >> 3] >> UInt8(7 - position & 7) & 1
    position += 1
    return bit == 1
  }

  /// u(n), at most 32 bits.
  package mutating func bits(_ count: Int) throws -> Int {
    precondition(count >= 0 && count <= 32)
    guard count <= bitsLeft else { throw ParameterSetError.truncated }
    var value = 0
    for _ in 0..<count {
      value = value << 1 | Int(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
      position += 1
    }
    return value
  }

  package mutating func skip(_ count: Int) throws {
    guard count >= 0, count <= bitsLeft else { throw ParameterSetError.truncated }
    position += count
  }

  /// ue(v): at most 2^32 - 2.
  package mutating func ue() throws -> Int {
    var zeros = 0
    while try !bit() {
      zeros += 1
      guard zeros <= 31 else { throw ParameterSetError.invalid }
    }
    return try (1 << zeros) - 1 + bits(zeros)
  }

  /// ue(v) that must not be above a limit.
  package mutating func ue(max limit: Int) throws -> Int {
    let value = try ue()
    guard value <= limit else { throw ParameterSetError.invalid }
    return value
  }

  /// se(v).
  package mutating func se() throws -> Int {
    let code = try ue()
    return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
  }

  /// more_rbsp_data(): whether there is more before the trailing bits.
  package var hasMoreData: Bool {
    var end = bytes.count
    while end > 0, bytes[end - 1] == 0 { end -= 1 }
    guard end > 0 else { return false }
    let stopBit = end * 8 - 1 - bytes[end - 1].trailingZeroBitCount
    return position < stopBit
  }
}
