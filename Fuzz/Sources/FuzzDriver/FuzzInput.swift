// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Takes the fuzzer's bytes apart; zeros when they are used up.
public struct FuzzInput {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  public init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  public var isEmpty: Bool { position >= bytes.count }

  public mutating func byte() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  /// Mostly small, now and then at the ends of the range or below zero.
  public mutating func number() -> Int {
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

  /// Any number that a floating-point value can be, the odd ones more often.
  public mutating func real() -> Double {
    switch byte() {
    case 0..<90: return Double(byte()) / 16
    case 90..<120: return Double(Int(byte()) << 16 | Int(byte()) << 8 | Int(byte()))
    case 120..<140: return -Double(byte())
    case 140..<150: return .nan
    case 150..<160: return .infinity
    case 160..<165: return -.infinity
    case 165..<180: return 1e-14
    case 180..<190: return 1e-300
    case 190..<200: return 1e30
    case 200..<210: return .greatestFiniteMagnitude
    case 210..<220: return Double(Int.max)
    case 220..<230: return Double(Int32.max) + Double(byte()) - 2
    default:
      var bits: UInt64 = 0
      for _ in 0..<8 { bits = bits << 8 | UInt64(byte()) }
      return Double(bitPattern: bits)
    }
  }

  /// A piece whose length, up to 65535, comes before it.
  public mutating func piece() -> Data {
    let count = Int(byte()) << 8 | Int(byte())
    let end = min(bytes.count, position + count)
    defer { position = end }
    return position < end ? Data(bytes[position..<end]) : Data()
  }

  public mutating func rest() -> Data {
    defer { position = bytes.count }
    return position < bytes.count ? Data(bytes[position...]) : Data()
  }
}
