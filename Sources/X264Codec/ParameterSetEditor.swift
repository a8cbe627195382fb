/// Changes what libx264 cannot be told to write into a sequence parameter set: the profile's number and its
/// constraint flags, and the tick of the timing information. The length in bits stays the same.
struct ParameterSetEditor {
  private var bits: BitEditor

  /// - Parameter nalUnit: a sequence parameter set with its NAL header, without start code.
  init(nalUnit: [UInt8]) { bits = BitEditor(rawBytes: Self.removingEmulationPrevention(nalUnit)) }

  var nalUnit: [UInt8] { Self.addingEmulationPrevention(bits.bytes) }

  mutating func setProfile(_ profile: UInt8, constraintFlags: UInt8) {
    guard bits.bytes.count > 3 else { return }
    bits.bytes[1] = profile
    bits.bytes[2] = constraintFlags
  }

  var constraintFlags: UInt8 { bits.bytes.count > 2 ? bits.bytes[2] : 0 }

  /// Puts a tick of `unitsInTick / timeScale` seconds (half a frame) in place of what is there.
  /// - Returns: false if the set has no timing information.
  @discardableResult
  mutating func setTiming(unitsInTick: UInt32, timeScale: UInt32) -> Bool {
    guard let position = positionOfTiming() else { return false }
    bits.write(unitsInTick, at: position)
    bits.write(timeScale, at: position + 32)
    return !bits.isExhausted
  }

  /// Reads up to `num_units_in_tick` (7.3.2.1.1, E.1.1).
  private func positionOfTiming() -> Int? {
    var reader = bits
    reader.position = 8
    let profile = reader.read(8)
    reader.skip(16)
    reader.skipExpGolomb()
    if [100, 110, 122, 244, 44, 83, 86, 118, 128].contains(profile) {
      if reader.readExpGolomb() == 3 { reader.skip(1) }
      reader.skipExpGolomb(2)
      reader.skip(1)
      // Scaling lists are never asked for.
      guard reader.read(1) == 0 else { return nil }
    }
    reader.skipExpGolomb()
    switch reader.readExpGolomb() {
    case 0: reader.skipExpGolomb()
    case 1: return nil
    default: break
    }
    reader.skipExpGolomb()
    reader.skip(1)
    reader.skipExpGolomb(2)
    if reader.read(1) == 0 { reader.skip(1) }
    reader.skip(1)
    if reader.read(1) == 1 { reader.skipExpGolomb(4) }
    guard reader.read(1) == 1 else { return nil }
    if reader.read(1) == 1, reader.read(8) == 255 { reader.skip(32) }
    if reader.read(1) == 1 { reader.skip(1) }
    if reader.read(1) == 1 {
      reader.skip(4)
      if reader.read(1) == 1 { reader.skip(24) }
    }
    if reader.read(1) == 1 { reader.skipExpGolomb(2) }
    guard reader.read(1) == 1, !reader.isExhausted else { return nil }
    return reader.position
  }

  private static func removingEmulationPrevention(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var zeros = 0
    for byte in bytes {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      result.append(byte)
    }
    return result
  }

  private static func addingEmulationPrevention(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var zeros = 0
    for byte in bytes {
      if zeros >= 2, byte <= 3 {
        result.append(3)
        zeros = 0
      }
      zeros = byte == 0 ? zeros + 1 : 0
      result.append(byte)
    }
    return result
  }
}

/// Bits of a byte array, most significant first. Reading past the end gives zeros and is remembered.
private struct BitEditor {
  var bytes: [UInt8]
  var position = 0
  private(set) var isExhausted = false

  init(rawBytes: [UInt8]) { bytes = rawBytes }

  mutating func read(_ count: Int) -> Int {
    var value = 0
    for _ in 0..<count {
      let byte = position >> 3
      if byte >= bytes.count { isExhausted = true }
      let bit = byte < bytes.count ? Int(bytes[byte] >> (7 - position & 7)) & 1 : 0
      value = value << 1 | bit
      position += 1
    }
    return value
  }

  mutating func skip(_ count: Int) { position += count }

  mutating func readExpGolomb() -> Int {
    var zeros = 0
    while zeros < 32, read(1) == 0 { zeros += 1 }
    return (1 << zeros) - 1 + read(zeros)
  }

  mutating func skipExpGolomb(_ count: Int = 1) {
    for _ in 0..<count { _ = readExpGolomb() }
  }

  mutating func write(_ value: UInt32, at start: Int) {
    for i in 0..<32 {
      let at = start + i
      guard at >> 3 < bytes.count else {
        isExhausted = true
        return
      }
      let mask = UInt8(1) << (7 - at & 7)
      if value >> (31 - i) & 1 == 1 { bytes[at >> 3] |= mask } else { bytes[at >> 3] &= ~mask }
    }
  }
}
