// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Splits the fuzzer's input into values. At its end, all values are zero or empty.
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

  /// A number that is usually small, and sometimes negative or near a limit of its range.
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

  /// A floating-point number; special values are more frequent than others.
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

  /// A piece of bytes, preceded by its length as a 16-bit number.
  public mutating func piece() -> Data {
    let count = Int(byte()) << 8 | Int(byte())
    let end = min(bytes.count, position + count)
    defer { position = end }
    return position < end ? Data(bytes[position..<end]) : Data()
  }

  /// The remaining bytes.
  public mutating func rest() -> Data {
    defer { position = bytes.count }
    return position < bytes.count ? Data(bytes[position...]) : Data()
  }
}
