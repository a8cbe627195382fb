import Foundation

/// Takes the fuzzer's bytes apart; zeros when they are used up.
struct FuzzInput {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var isEmpty: Bool { position >= bytes.count }

  mutating func byte() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  /// Mostly small, now and then at the ends of the range or below zero.
  mutating func number() -> Int {
    switch byte() {
    case 0..<200: return Int(byte())
    case 200..<220: return Int(byte()) << 8 | Int(byte())
    case 220..<235: return -Int(byte())
    case 235..<240: return Int.max - Int(byte())
    case 240..<245: return Int.min + Int(byte())
    case 245..<250: return Int(Int32.max) - 2 + Int(byte())
    default: return Int(UInt32.max) - 2 + Int(byte())
    }
  }

  /// A piece whose length, up to 65535, comes before it.
  mutating func piece() -> Data {
    let count = Int(byte()) << 8 | Int(byte())
    let end = min(bytes.count, position + count)
    defer { position = end }
    return position < end ? Data(bytes[position..<end]) : Data()
  }

  mutating func rest() -> Data {
    defer { position = bytes.count }
    return position < bytes.count ? Data(bytes[position...]) : Data()
  }
}
