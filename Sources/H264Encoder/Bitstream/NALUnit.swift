/// nal_unit_type (Table 7-1), those that the encoder writes.
enum NALUnitType {
  static let slice: UInt8 = 1
  static let idrSlice: UInt8 = 5
  static let sei: UInt8 = 6
  static let sequenceParameterSet: UInt8 = 7
  static let pictureParameterSet: UInt8 = 8
  static let accessUnitDelimiter: UInt8 = 9
  static let endOfSequence: UInt8 = 10
  static let fillerData: UInt8 = 12
  static let prefix: UInt8 = 14
}

/// What stands before each NAL unit.
enum NALUnitFraming {
  /// Nothing: the caller uses the ranges.
  case none
  /// Annex B, 00 00 01.
  case shortStartCode
  /// Annex B with zero_byte, 00 00 00 01: for the first unit of an access unit and for parameter sets.
  case startCode
  /// The unit's length in four bytes, big-endian, as in MP4.
  case length

  var byteCount: Int {
    switch self {
    case .none: 0
    case .shortStartCode: 3
    case .startCode, .length: 4
    }
  }
}

/// Packs raw byte sequence payloads into NAL units (7.3.1), one after another in memory that the
/// caller owns.
struct NALUnitWriter {
  let memory: UnsafeMutablePointer<UInt8>
  let capacity: Int
  /// Bytes written so far.
  private(set) var count = 0
  /// A unit did not fit and was left out.
  private(set) var overflowed = false

  init(_ memory: UnsafeMutablePointer<UInt8>, capacity: Int) {
    self.memory = memory
    self.capacity = capacity
  }

  /// Memory that surely holds a unit with `payload` bytes, whatever they are.
  static func worstCase(payload: Int) -> Int { payload + payload / 2 + 32 }

  /// Writes a NAL unit and returns where it lies in the memory, its header included and its framing
  /// not. Nil if it might not fit: `worstCase(payload:)` bytes must be free.
  ///
  /// - Parameter headerExtension: the three bytes that follow the header in types 14 and 20.
  @discardableResult
  mutating func append(
    type: UInt8, refIDC: UInt8, headerExtension: (UInt8, UInt8, UInt8)? = nil,
    payload: UnsafePointer<UInt8>, count payloadCount: Int, framing: NALUnitFraming
  ) -> Range<Int>? {
    guard capacity - count >= Self.worstCase(payload: payloadCount) else {
      overflowed = true
      return nil
    }
    let first = count + framing.byteCount
    var out = memory + first
    out.pointee = refIDC << 5 | type
    out += 1
    if let headerExtension {
      out[0] = headerExtension.0
      out[1] = headerExtension.1
      out[2] = headerExtension.2
      out += 3
    }
    out = Self.escape(payload, count: payloadCount, into: out)
    let last = out - memory

    let prefix = memory + count
    switch framing {
    case .none: break
    case .shortStartCode:
      prefix[0] = 0
      prefix[1] = 0
      prefix[2] = 1
    case .startCode:
      prefix[0] = 0
      prefix[1] = 0
      prefix[2] = 0
      prefix[3] = 1
    case .length:
      let length = UInt32(truncatingIfNeeded: last - first)
      UnsafeMutableRawPointer(prefix).storeBytes(of: length.bigEndian, as: UInt32.self)
    }
    count = last
    return first..<last
  }

  /// How many bytes emulation prevention adds to a payload.
  static func preventionBytes(_ payload: UnsafePointer<UInt8>, count: Int) -> Int {
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

  /// Copies a payload and puts emulation_prevention_three_byte where three bytes would otherwise look
  /// like a start code (7.4.1). Returns the end of the copy. Words without a zero byte are copied whole.
  private static func escape(
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
          // A zero byte borrows from its top bit; a byte above 0x80 is masked out.
          if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { break }
          UnsafeMutableRawPointer(out).storeBytes(of: word, as: UInt64.self)
          source += 8
          out += 8
        }
      }
      // Up to eight bytes one by one: the word with the zero, or the end.
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
    // A payload that ends with a zero byte (cabac_zero_words) must not run into the next start code.
    if count > 0 && end[-1] == 0 {
      out.pointee = 3
      out += 1
    }
    return out
  }
}
