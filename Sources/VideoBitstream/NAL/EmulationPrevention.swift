// SPDX-License-Identifier: Apache-2.0
/// Inserts and removes emulation_prevention_three_byte (7.3.1, 7.4.1), which is the same in H.264
/// and HEVC.
package enum EmulationPrevention {
  /// Returns the number of bytes that emulation prevention inserts into a payload.
  /// - Parameters:
  ///   - payload: the raw byte sequence payload.
  ///   - count: its size in bytes.
  package static func byteCount(_ payload: UnsafePointer<UInt8>, count: Int) -> Int {
    var result = 0
    var zeros = 0
    var i = 0
    while i < count {
      if zeros == 0 && i &+ 8 <= count {
        let word = UnsafeRawPointer(payload + i).loadUnaligned(as: UInt64.self)
        if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 == 0 {
          i &+= 8
          continue
        }
      }
      let byte = payload[i]
      if zeros == 2 && byte <= 3 {
        result &+= 1
        zeros = 0
      }
      zeros = byte == 0 ? zeros &+ 1 : 0
      i &+= 1
    }
    return result
  }

  /// Copies a payload, and inserts emulation_prevention_three_byte where three bytes would
  /// otherwise resemble a start code (7.4.1). Eight bytes without a zero are copied at once.
  /// - Parameters:
  ///   - payload: the raw byte sequence payload.
  ///   - count: its size in bytes.
  ///   - destination: has room for `NALUnitWriter.worstCase(payload:)` bytes.
  /// - Returns: the end of the copy.
  static func escape(
    _ payload: UnsafePointer<UInt8>, count: Int, into destination: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    var source = payload
    let end = payload + count
    var out = destination
    var zeros = 0
    while source < end {
      if zeros == 0 {
        while end - source >= 8 {
          let word = UnsafeRawPointer(source).loadUnaligned(as: UInt64.self)
          // The subtraction carries into the top bit of a zero byte; bytes of 0x80 and more are
          // masked out.
          if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { break }
          UnsafeMutableRawPointer(out).storeBytes(of: word, as: UInt64.self)
          source += 8
          out += 8
        }
      }
      // Copies up to eight bytes one by one: those of a word with a zero, or the last ones.
      var left = min(8, end - source)
      while left > 0 {
        let byte = source.pointee
        if zeros == 2 && byte <= 3 {
          out.pointee = 3
          out += 1
          zeros = 0
        }
        out.pointee = byte
        out += 1
        source += 1
        zeros = byte == 0 ? zeros + 1 : 0
        left -= 1
      }
    }
    // A payload that ends with a zero byte (cabac_zero_words) must not run into the next start
    // code.
    if count > 0 && end[-1] == 0 {
      out.pointee = 3
      out += 1
    }
    return out
  }

  /// Returns a NAL unit without its emulation prevention bytes.
  package static func removing<Bytes: Collection<UInt8>>(from unit: Bytes) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(unit.count)
    var zeros = 0
    for byte in unit {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      result.append(byte)
    }
    return result
  }

  /// Returns a NAL unit with emulation prevention bytes.
  /// - Parameters:
  ///   - header: the bytes of the NAL unit header.
  ///   - payload: the raw byte sequence payload.
  package static func adding(header: [UInt8], payload: [UInt8]) -> [UInt8] {
    let capacity = header.count + NALUnitWriter.worstCase(payload: payload.count)
    return [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
      guard let base = memory.baseAddress else { return }
      for (index, byte) in header.enumerated() { (base + index).initialize(to: byte) }
      count = escape(payload, count: payload.count, into: base + header.count) - base
    }
  }
}
